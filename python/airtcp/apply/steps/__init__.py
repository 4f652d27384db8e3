"""The kinds of changes to a host. Each step can look, do, check and undo."""

from __future__ import annotations

from airtcp.apply.steps.airtcpd import Filter, LoadedControl, Timer
from airtcp.apply.steps.clamp import MssClamp
from airtcp.apply.steps.file import File
from airtcp.apply.steps.mount import BpfFileSystem
from airtcp.apply.steps.qdisc import Qdisc
from airtcp.apply.steps.service import Service
from airtcp.apply.steps.step import State, Step
from airtcp.apply.steps.sysctl import DefaultControl, Module, Sysctl
from airtcp.apply.steps.unit import Unit

__all__ = [
    "KINDS",
    "BpfFileSystem",
    "DefaultControl",
    "File",
    "Filter",
    "LoadedControl",
    "Module",
    "MssClamp",
    "Qdisc",
    "Service",
    "State",
    "Step",
    "Sysctl",
    "Timer",
    "Unit",
]

KINDS: dict[str, type[Step]] = {
    kind.KIND: kind
    for kind in (
        BpfFileSystem,
        DefaultControl,
        File,
        Filter,
        LoadedControl,
        Module,
        MssClamp,
        Qdisc,
        Service,
        Sysctl,
        Timer,
        Unit,
    )
}
"""By the kind's name in the journal."""
