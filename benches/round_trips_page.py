"""Makes docs/round-trips.md of docs/round-trips.json, as `make ns2-grid` does.

Standard library only.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import mean
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "docs/round-trips.json"
PAGE = ROOT / "docs/round-trips.md"
INTRODUCTION = """\
# Flows with different round trips, beside ns-2

Five flows of the same sender share a link, and their round trips are 10 to 200 ms:
`scenarios/round-trips.toml` here, and the same path in ns-2.35. Goodput in Mbit/s, mean of {seeds} seeds,
with Jain's index of fairness. `make ns2-grid` runs both and makes this page.

| sender | | {flows} | sum | Jain |
| --- | --- |{rules}
"""
REMARKS = """\

Packets are ns-2's, of 1040 bytes, and every one is acknowledged; `westwood`, `cubic` and `hybla` are ns-2's
senders with Linux's controllers of 2007, beside today's. ns-2's Vegas has loss timers of its own and keeps
3/4 of its window; which of these makes its flows differ was not looked into. A flow's goodput is what was
acknowledged after the warm-up: where a hole was open then, the sum can exceed the link's rate.

The shared link delays each packet by up to 0.2 ms at random, and ns-2's senders wait as long. Without that,
packets come to a full queue in the same order again and again, and chance gives one flow most of the link,
in both simulators: with CUBIC and seed 1, 36 Mbit/s to the flow of 100 ms here, and 41 Mbit/s to that of
20 ms in ns-2.
"""

Row = dict[str, Any]


def page(results: dict[str, Any]) -> str:
    flows, rows = results["flows"], results["rows"]
    head = INTRODUCTION.format(
        seeds=len(rows[0]["airtcp"]),
        flows=" | ".join(f"{name.removeprefix('rtt')} ms" for name in flows),
        rules=" ---: |" * (len(flows) + 2),
    )
    return head + "".join(f"{line}\n" for row in rows for line in _lines(row)) + REMARKS


def _lines(row: Row) -> Iterator[str]:
    for name, simulator in (("airtcp", "airtcp"), ("ns2", "ns-2")):
        runs: Sequence[Sequence[int]] = row[name]
        means = [mean(flow) / 1e3 for flow in zip(*runs, strict=True)]
        cells = [*(f"{mbps:.1f}" for mbps in (*means, sum(means))), f"{mean(map(jain, runs)):.2f}"]
        yield f"| {row['sender'] if name == 'airtcp' else ''} | {simulator} | {' | '.join(cells)} |"


def jain(shares: Sequence[float]) -> float:
    """1 if all have the same; 1/n if one has everything."""
    return sum(shares) ** 2 / (len(shares) * sum(share**2 for share in shares))


def write() -> str:
    """Writes the page, and returns it."""
    made = page(json.loads(RESULTS.read_text(encoding="utf-8")))
    PAGE.write_text(made, encoding="utf-8")
    return made


if __name__ == "__main__":
    write()
