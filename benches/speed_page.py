"""Makes docs/speed.md of out/bench.json, as `make bench` does, or of another file that is given.

Standard library only.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "out/bench.json"
PAGE = ROOT / "docs/speed.md"

Results = dict[str, Any]
"""What `run.py` has written."""


def page(results: Results) -> str:
    """Returns the page. What was not measured has a dash or is left out."""
    machine = results["machine"]
    parts = [
        "# Speed",
        "What a delivered data packet costs, as `make bench` has measured it at revision "
        f"{results['revision']} on {machine['cores']} cores ({machine['cpu']}). Nanoseconds of CPU time are "
        "of a quiet machine; on a busy one they are two or three times as many, ns-2's, too. Instructions "
        "are the same on any such machine. "
        "`benches/speed_page.py` makes this page.",
        "## Beside ns-2",
        "NewReno over one link, in airtcp and in an equivalent script of ns-2.35.",
        *_table(
            ("flows", "airtcp, ns", "instructions", "ns-2, ns", "instructions"),
            (
                (row["workload"]["name"], *_cost(row["airtcp"]), *_cost(row["ns2"]))
                for row in results["costs"]
            ),
        ),
        "## Schemes, and what a packet can pass through",
        "In profile `linux`, over 100 Mbit/s and 20 ms.",
        *_table(
            ("workload", "ns", "instructions"),
            ((row["workload"]["name"], *_cost(row["airtcp"])) for row in results["others"]),
        ),
        *_growth(results.get("growth", [])),
        *_memory(results.get("peak_kib", {})),
    ]
    return "\n\n".join(parts) + "\n"


def _growth(rows: list[Results]) -> Iterator[str]:
    if not rows:
        return
    rates = sorted({row["rate_mbps"] for row in rows})
    names = dict.fromkeys(row["workload"]["name"] for row in rows)
    yield "## With the rate"
    yield "Instructions for a packet where windows grow with the rate of the link."
    found = {(row["workload"]["name"], row["rate_mbps"]): row["airtcp"]["instructions"] for row in rows}
    cells = ((name, *(_number(found.get((name, rate))) for rate in rates)) for name in names)
    yield from _table(("workload", *(f"{rate} Mbit/s" for rate in rates)), cells)


def _memory(peaks: dict[str, int]) -> Iterator[str]:
    if not peaks:
        return
    yield "## Memory"
    yield (
        f"Eight flows take {peaks['after_10_s'] / 1024:.1f} MiB after 10 s of simulated time, and "
        f"{peaks['after_100_s'] / 1024:.1f} MiB after 100 s."
    )
    crowds = (
        (name.removeprefix("of_"), _number(kib)) for name, kib in peaks.items() if name.startswith("of_")
    )
    yield from _table(("workload", "peak, KiB"), crowds)


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    lines = [head, ("---", *("---:" for _ in head[1:])), *rows]
    yield "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cost(cost: Results) -> tuple[str, str]:
    return _number(cost["ns"]), _number(cost["instructions"])


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:,.0f}".replace(",", " ")


def main(arguments: list[str]) -> None:
    results = json.loads(Path(arguments[0] if arguments else RESULTS).read_text(encoding="utf-8"))
    PAGE.write_text(page(results), encoding="utf-8")
    print(f"Written to {PAGE.relative_to(ROOT)}")


if __name__ == "__main__":
    main(sys.argv[1:])
