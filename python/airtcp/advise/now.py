"""The congestion control that this host uses now: what advice and trials compare with unless told."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from airtcp.advise.deployment import CONGESTION_CONTROLS, KERNELS

KEY = "net.ipv4.tcp_congestion_control"
SYSCTL = Path("/proc/sys") / KEY.replace(".", "/")
ASSUMED = "cubic"
"""The default of Linux, Windows and Apple's systems (RFC 9438 §1)."""


@dataclass(frozen=True)
class InUse:
    """A scheme, and why it is taken for the one in use."""

    scheme: str
    why: str


def in_use(sysctl: Path = SYSCTL) -> InUse:
    """Returns what this host's new connections use, as far as the simulator has it."""
    try:
        kernels = sysctl.read_text(encoding="utf-8").strip()
    except OSError:
        return InUse(ASSUMED, f"assumed, since this host has no {KEY}")
    scheme = scheme_of(kernels)
    if scheme is None:
        return InUse(ASSUMED, f"assumed, since airtcp has no model of this host's {kernels} ({KEY})")
    return InUse(scheme, f"which this host uses ({KEY})")


def scheme_of(kernels: str) -> str | None:
    """Returns our name of a congestion control of the kernel; None if it is none of those here."""
    ours = {kernel: name for name, kernel in KERNELS.items()}
    name = ours.get(kernels, kernels.replace("_", "-"))
    return name if name in CONGESTION_CONTROLS else None
