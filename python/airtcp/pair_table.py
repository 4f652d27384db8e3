"""Simulator and kernel in one line a scheme."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from airtcp.agreement import Pair
from airtcp.summary import SchemeSummary
from airtcp.table import NONE, Column, interval, milliseconds, percent
from airtcp.units import rate_scale


def pair_columns(pairs: Sequence[Pair]) -> list[Column[Pair]]:
    """What both have of these schemes. `sim / Linux`: the simulator's value, then the kernel's."""
    scale, unit = rate_scale([row.goodput.mean for pair in pairs for row in (pair.sim, pair.linux)])
    found = [
        Column[Pair]("simulator", unit, 1, lambda pair: interval(pair.sim.goodput.scaled(1 / scale))),
        Column[Pair]("Linux", unit, 1, lambda pair: interval(pair.linux.goodput.scaled(1 / scale))),
        Column[Pair]("Linux / sim", "ratio", 0, _ratio),
        Column[Pair]("resent %", _ORDER, 3, _both(lambda row: percent(row.retransmitted, 2))),
        Column[Pair]("timeouts a run", _ORDER, 5, _both(lambda row: f"{row.timeouts:.1f}")),
        Column[Pair]("RTT p50 ms", _ORDER, 2, _both(lambda row: milliseconds(row.rtt_p50_ms))),
        Column[Pair]("RTT p95 ms", _ORDER, 4, _both(lambda row: milliseconds(row.rtt_p95_ms))),
    ]
    if any(pair.sim.completion or pair.linux.completion for pair in pairs):
        found.insert(2, Column("completion s", _ORDER, 1, _both(_completion)))
    if any(pair.sim.jain is not None for pair in pairs):
        found.append(
            Column("Jain", _ORDER, 6, _both(lambda row: NONE if row.jain is None else f"{row.jain:.3f}"))
        )
    return found


_ORDER = "sim / Linux"


def _both(cell: Callable[[SchemeSummary], str]) -> Callable[[Pair], str]:
    return lambda pair: f"{cell(pair.sim)} / {cell(pair.linux)}"


def _ratio(pair: Pair) -> str:
    return NONE if pair.ratio is None else interval(pair.ratio, digits=2)


def _completion(row: SchemeSummary) -> str:
    return NONE if row.completion is None else interval(row.completion)
