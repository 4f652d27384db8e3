"""Determines whether two hosts share a clock, and how far their clocks may differ."""

from __future__ import annotations

import ctypes
import hashlib
import sys
from pathlib import Path

from airtcp.measure.wire import MACHINE_BYTES, UNKNOWN_ERROR

_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
_UNSYNCHRONISED = 0x40
"""STA_UNSYNC of linux/timex.h."""


class _Timex(ctypes.Structure):
    """The beginning of `struct timex` as adjtimex(2) has it; the rest is padding."""

    _fields_ = [
        ("modes", ctypes.c_uint),
        ("offset", ctypes.c_long),
        ("freq", ctypes.c_long),
        ("maxerror", ctypes.c_long),
        ("esterror", ctypes.c_long),
        ("status", ctypes.c_int),
        ("rest", ctypes.c_char * 256),
    ]


def machine() -> bytes:
    """Returns a digest equal for processes on one running kernel, and so on one clock. Random if
    unavailable."""
    try:
        boot = _BOOT_ID.read_bytes()
    except OSError:
        boot = str(id(_Timex)).encode()
    return hashlib.sha256(b"airtcp clock" + boot).digest()[:MACHINE_BYTES]


def error_us() -> int:
    """Returns this host's maximum clock error; UNKNOWN_ERROR if nothing synchronises it."""
    if sys.platform != "linux":
        return UNKNOWN_ERROR
    state = _Timex()
    try:
        if ctypes.CDLL(None, use_errno=True).adjtimex(ctypes.byref(state)) < 0:
            return UNKNOWN_ERROR
    except (OSError, AttributeError):
        return UNKNOWN_ERROR
    if state.status & _UNSYNCHRONISED:
        return UNKNOWN_ERROR
    return min(max(int(state.maxerror), 1), UNKNOWN_ERROR - 1)


def between_ms(own: int, other: int, *, is_one_machine: bool) -> float | None:
    """Returns how far two clocks may differ; 0 for one clock, None if unknown."""
    if is_one_machine:
        return 0.0
    return None if UNKNOWN_ERROR in (own, other) else (own + other) / 1e3
