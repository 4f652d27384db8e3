"""Changes this host as advice says, checks the result, and undoes it.

`parts.py` takes a scheme apart into what each place on the path needs, for any platform: this host
(`here.py`), or a router whose setup is written as a script (`openwrt.py`). `plan.py` chooses this host's
steps; each can look, do, check and undo (`steps/`). `journal.py` writes the previous state to disk before
each change; `applying.py` does the steps and undoes them.

`persistence.py` adds what keeps all of it after a reboot, whatever holds already; `boot.py` reads on the
disk what a boot will find. A step's `undo` works however far `do` got, and keeps what someone else has
changed since. The journal's directory is locked, and each program that a step starts inherits the lock, so
an undo after a kill waits for it.
"""

from airtcp.apply.applying import apply, check_nothing_is_applied, undo
from airtcp.apply.errors import ApplyError
from airtcp.apply.host import Host
from airtcp.apply.journal import journal
from airtcp.apply.openwrt import openwrt_script
from airtcp.apply.plan import Plan, make_plan
from airtcp.apply.wanted import ROLES, Site, Wanted

__all__ = [
    "ROLES",
    "ApplyError",
    "Host",
    "Plan",
    "Site",
    "Wanted",
    "apply",
    "check_nothing_is_applied",
    "journal",
    "make_plan",
    "openwrt_script",
    "undo",
]
