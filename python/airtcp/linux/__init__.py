"""Scenarios on this host's kernel, through `airtcpd`: the same path models, real TCP, real time."""

from airtcp.linux.airtcpd import LinuxError
from airtcp.linux.forms import LeftOut, forms
from airtcp.linux.host import Host
from airtcp.linux.runs import Job, KernelRun, run_all

__all__ = ["Host", "Job", "KernelRun", "LeftOut", "LinuxError", "forms", "run_all"]
