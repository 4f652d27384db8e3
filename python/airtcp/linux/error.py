"""The error of this host, in a module of its own: every command imports it, and should not load the rest."""


class LinuxError(Exception):
    """This host cannot run scenarios on its kernel: says why, and the cure."""
