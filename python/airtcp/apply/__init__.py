"""Changes this host as advice says, checks the result, and undoes it.

`plan.py` turns what is wanted into steps (`parts.py` knows what each part of a scheme needs); each step can
look, do, check and undo (`steps/`). `journal.py` writes the previous state to disk before each change;
`applying.py` does the steps and undoes them.
"""

from airtcp.apply.applying import apply, check_nothing_is_applied, undo
from airtcp.apply.errors import ApplyError
from airtcp.apply.host import Host
from airtcp.apply.journal import journal
from airtcp.apply.openwrt import openwrt_script
from airtcp.apply.plan import Plan, make_plan
from airtcp.apply.wanted import ROLES, Wanted

__all__ = [
    "ROLES",
    "ApplyError",
    "Host",
    "Plan",
    "Wanted",
    "apply",
    "check_nothing_is_applied",
    "journal",
    "make_plan",
    "openwrt_script",
    "undo",
]
