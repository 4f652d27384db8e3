"""What can go wrong with this host, by itself: every command needs it, and should not wait for the rest."""


class LinuxError(Exception):
    """This host cannot run scenarios on its kernel: says why, and the cure."""
