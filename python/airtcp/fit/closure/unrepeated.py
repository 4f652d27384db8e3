"""Says why no transfer was repeated on the fitted path."""

from __future__ import annotations

from collections.abc import Sequence

from airtcp.fit.evidence import shown
from airtcp.fit.measurement import Measurement, Transfer


def why_unrepeated(measurements: Sequence[Measurement]) -> str:
    """Returns the reason in a sentence: that of the first file with a transfer, or that there is none."""
    reasons = [f"{shown(each.source.name)} {reason}" for each in measurements if (reason := _reason(each))]
    why = reasons[0] if reasons else "no file has one"
    return f"No measured transfer was repeated on the fitted path: {why}."


def _reason(measured: Measurement) -> str:
    """Returns what is missing, after the file's name; nothing if there is no transfer."""
    if measured.transfer is not None:
        return _of_transfer(measured.transfer)
    if measured.offered:
        return "is of UDP, whose sender does not answer to the path"
    if any(not each.is_capacity for each in measured.throughput):
        return "says what a transfer reached, not when it did what"
    return ""


def _of_transfer(transfer: Transfer) -> str:
    if transfer.direction != "forward":
        return "is of a transfer against the direction that is fitted"
    if transfer.course is None:
        return "does not say when its transfer did what, or it paused"
    if transfer.arrived is None:
        return "does not say how much arrived"
    return "has a transfer that is too short, too long or too large to be repeated"
