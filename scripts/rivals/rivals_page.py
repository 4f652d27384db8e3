"""The page of all results, docs/rivals.md, made of docs/rivals.json."""

from __future__ import annotations

from statistics import fmean

from links import LINKS, scenario
from measuring import Record, Result
from ways import WAYS

HEAD = """\
# What operators of lossy links can pick

The same emulated links, one way after the other, between a client, two gateways and a server in network
namespaces, as root:

    python3 scripts/rivals.py --airtcpd FILE --record docs/rivals.json --page docs/rivals.md

Linux {kernel}, revision {revision}, {repeats} of each. The server sends: in bulk, in Mbit/s over
{bulk:.0f} s; in parentheses, seconds for {fetches} answers of 10 kB, a connection each: one after the other;
eight at once.
"""

TAIL = """
The kernel's own congestion controls run at the server, proxies at the gateway on the server's side or at
both. Nothing was set but what the table names. kcptun, hysteria and UDPspeeder are missing: the machine that
made the page could not get them.

The links, in both directions alike; the queue holds what the link carries in a round trip:

"""


def page(record: Record) -> str:
    results = record.results
    head = HEAD.format(
        kernel=record.kernel,
        revision=record.revision,
        repeats=repeats(results),
        bulk=record.bulk_s,
        fetches=record.fetches,
    )
    names = [link for link in LINKS if any(result.link == link for result in results)]
    links = "".join(f"- {name}: `{'; '.join(scenario(name).split(chr(10))[2:-1])}`\n" for name in names)
    return head + "\n" + table(results) + TAIL + links


def repeats(results: list[Result]) -> str:
    fewest = min(count(results, link, way) for link in LINKS for way in WAYS if count(results, link, way))
    return "one run" if fewest == 1 else f"the mean of {fewest} runs"


def count(results: list[Result], link: str, way: str) -> int:
    return sum((each.link, each.way) == (link, way) for each in results)


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
