"""Measures what each part of Concord is good for, by leaving it out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from airtcp.facts.numbers import interval
from airtcp_studies.concord.gates import OURS, RIVAL, cubic_keeps, jain, mbps
from airtcp_studies.concord.paths import FOUR, HOST, WIRED, alone, path, ready_made, uniform
from airtcp_studies.frame.context import Runs

PARTS: Mapping[str, str] = {
    "all of it": OURS,
    "every loss is congestion": f"{OURS}:explain=0",
    "never competes": f"{OURS}:compete=0",
    "unsuccessful yields are not undone": f"{OURS}:doubt=0",
    "no check whether losses vanish": f"{OURS}:look=0",
    "round-trip variation not counted": f"{OURS}:variation=0",
}
"""The part left out, and the scheme without it."""
COMPOSED: Mapping[str, str] = {
    "end to end: cubic": "cubic",
    "end to end: bbr": "bbr",
    "end to end: concord": OURS,
    "as a circuit's control: cubic": "cubic+decoupling",
    "as a circuit's control: bbr": "bbr+decoupling",
    "as a circuit's control: concord": f"{OURS}+decoupling",
    "on the proxy's wireless side: cubic": "cubic+split",
    "on the proxy's wireless side: bbr": "cubic+split:congestion_control=bbr",
    "on the proxy's wireless side: concord": f"cubic+split:congestion_control={OURS}",
}
"""The place of the controller, and the scheme."""


@dataclass(frozen=True)
class Measure:
    """A column of the table."""

    title: str
    scenario: str
    needs_cubic: bool
    cell: Callable[[Runs, str], str]

    def schemes(self, rows: Mapping[str, str]) -> list[str]:
        return [*rows.values(), *(["cubic"] if self.needs_cubic else [])]


def measures() -> list[Measure]:
    leo = ready_made().get("leo-satellite")
    return [
        _goodput("BER 1e-5, 100 ms [Mbit/s]", alone(path(100, loss="ber = 1e-5"))),
        _goodput("jitter 40 ms [Mbit/s]", alone(path(50, jitter=uniform(40)))),
        *([_goodput("leo-satellite [Mbit/s]", leo)] if leo else []),
        _keeps("CUBIC keeps, 20 ms, 25 packets [%]", path(20, "packets = 25", jitter=HOST)),
        _keeps("CUBIC keeps, 100 ms, 83 packets [%]", path(100, "packets = 83", jitter=HOST)),
        Measure("Jain of four, 8 packets", path(50, "packets = 8", jitter=HOST) + FOUR, False, _jain),
        _lost("lost, 100 ms, 2 packets [%]", alone(path(100, "packets = 2", jitter=HOST))),
    ]


def composed_measures() -> list[Measure]:
    return [
        _goodput(f"BER {ber}, {rtt} ms [Mbit/s]", alone(WIRED + path(rtt, loss=f"ber = {ber}", profile="")))
        for ber in ("2e-6", "1e-5")
        for rtt in (10, 100)
    ]


def _goodput(title: str, scenario: str) -> Measure:
    return Measure(title, scenario, False, lambda runs, scheme: interval(mbps(runs, scheme)))


def _keeps(title: str, scenario: str) -> Measure:
    def cell(runs: Runs, scheme: str) -> str:
        return interval(cubic_keeps(runs, scheme).scaled(100), digits=0)

    return Measure(title, alone(scenario) + RIVAL, True, cell)


def _jain(runs: Runs, scheme: str) -> str:
    return interval(jain(runs, scheme), digits=3)


def _lost(title: str, scenario: str) -> Measure:
    def cell(runs: Runs, scheme: str) -> str:
        lost = sum(runs.total(scheme, lambda flow: flow["losses_congestion"]))
        return f"{100 * lost / sum(runs.total(scheme, lambda flow: flow['data_packets_sent'])):.1f}"

    return Measure(title, scenario, False, cell)
