"""The table of all results."""

from __future__ import annotations

from statistics import fmean

from links import LINKS
from measuring import Result
from ways import WAYS


def table(results: list[Result]) -> str:
    """Bulk in Mbit/s (all fetches one after the other; eight at once: in seconds), means over the repeats."""
    links = [link for link in LINKS if any(result.link == link for result in results)]
    rows = ["| way | " + " | ".join(links) + " |", "| --- |" + " ---: |" * len(links)]
    for way, rival in WAYS.items():
        cells = [cell([each for each in results if (each.link, each.way) == (link, way)]) for link in links]
        if any(cells):
            rows.append(f"| {rival.says} | " + " | ".join(cells) + " |")
    return "\n".join(rows) + "\n"


def cell(results: list[Result]) -> str:
    if not results:
        return ""
    bulk = fmean(result.bulk_mbps for result in results)
    alone = [result.fetches_s for result in results if result.fetches_s is not None]
    crowd = [result.crowd_s for result in results if result.crowd_s is not None]
    return f"{bulk:.1f} ({fmean(alone):.1f}; {fmean(crowd):.1f})" if alone and crowd else f"{bulk:.1f}"
