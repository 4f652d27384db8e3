"""Shows simulator and kernel in one line per scheme."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from airtcp.facts.numbers import NONE, interval, milliseconds, percent
from airtcp.facts.summary import SchemeSummary
from airtcp.facts.units import rate_scale
from airtcp.results.side_by_side import PairRow
from airtcp.showing.comparison_table import Column


def pair_columns(rows: Sequence[PairRow]) -> list[Column[PairRow]]:
    """Returns what both have of these schemes. `sim / Linux` is the simulator's value, then the kernel's."""
    there = [side for row in rows for side in (row.sim, row.linux) if side]
    scale, unit = rate_scale([side.goodput.mean for side in there])

    def goodput(side: SchemeSummary | None) -> str:
        return NONE if side is None else interval(side.goodput.scaled(1 / scale))

    found = [
        Column[PairRow]("simulator", unit, 1, lambda row: goodput(row.sim)),
        Column[PairRow]("Linux", unit, 1, lambda row: goodput(row.linux)),
        Column[PairRow]("Linux / sim", "ratio", 0, _ratio),
        Column[PairRow]("resent %", _ORDER, 3, _both(lambda side: percent(side.retransmitted, 2))),
        Column[PairRow]("timeouts per run", _ORDER, 5, _both(lambda side: f"{side.timeouts:.1f}")),
        Column[PairRow]("RTT p50 ms", _ORDER, 2, _both(lambda side: milliseconds(side.rtt_p50_ms))),
        Column[PairRow]("RTT p95 ms", _ORDER, 4, _both(lambda side: milliseconds(side.rtt_p95_ms))),
    ]
    if any(side.completion for side in there):
        found.insert(2, Column("completion s", _ORDER, 1, _both(_completion)))
    if any(side.jain is not None for side in there):
        found.append(
            Column("Jain", _ORDER, 6, _both(lambda side: NONE if side.jain is None else f"{side.jain:.3f}"))
        )
    return found


_ORDER = "sim / Linux"


def _both(cell: Callable[[SchemeSummary], str]) -> Callable[[PairRow], str]:
    def each(side: SchemeSummary | None) -> str:
        return NONE if side is None else cell(side)

    return lambda row: f"{each(row.sim)} / {each(row.linux)}"


def _ratio(row: PairRow) -> str:
    return NONE if row.ratio is None else interval(row.ratio, digits=2)


def _completion(side: SchemeSummary) -> str:
    return NONE if side.completion is None else interval(side.completion)
