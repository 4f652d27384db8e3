"""Prints the table of docs/guide/circuits.md on repaired data (`fec=auto`): what it gives, and its cost.

.venv/bin/python scripts/repairs_table.py
"""

from __future__ import annotations

from statistics import fmean

import airtcp

PATHS = ((0.01, 50), (0.05, 50), (0.15, 100))
"""Share of packets lost each way, and one-way delay in ms."""
SCHEMES = {
    "without": "bbr+decoupling:tunnel_delay=0s:tunnel_queue=100",
    "`fec=3`": "bbr+decoupling:tunnel_delay=0s:tunnel_queue=100:fec=3",
    "`fec=auto`": "bbr+decoupling:tunnel_delay=0s:tunnel_queue=100:fec=auto",
}
FETCHES = 'traffic = { kind = "poisson", interval = "2s", size = "10kB", exponential = false }'
SEEDS = 5


def scenario(loss: float, delay_ms: int, traffic: str, seconds: int) -> airtcp.Scenario:
    return airtcp.Scenario.parse(
        f"""
duration = "{seconds}s"
seeds = {SEEDS}
schemes = {list(SCHEMES.values())}
[[link]]
name = "wireless"
rate = "20Mbit/s"
delay = "{delay_ms}ms"
loss = {{ packet = {loss} }}
queue = {{ packets = 200 }}
[[flow]]
name = "user"
{traffic}
"""
    )


def cost(runs: list[airtcp.Record]) -> float:
    """Bytes on the link, the way of the data, for a byte delivered."""
    sent = sum(run["links"][0]["bytes_sent"] for run in runs)
    return sent / sum(flow["bytes_received"] for run in runs for flow in run["flows"])


def by_scheme(found: airtcp.Comparison) -> list[list[airtcp.Record]]:
    return [[run for run in found.runs if run["scheme"] == scheme] for scheme in SCHEMES.values()]


def main() -> None:
    for loss, delay_ms in PATHS:
        bulk = by_scheme(airtcp.compare(scenario(loss, delay_ms, "", 60)))
        fetches = by_scheme(airtcp.compare(scenario(loss, delay_ms, FETCHES, 220)))
        for name, bulk_runs, fetch_runs in zip(SCHEMES, bulk, fetches, strict=True):
            goodput = fmean(run["goodput_bps"] for run in bulk_runs) / 1e6
            times = [time for run in fetch_runs for time in run["flows"][0]["completion_times_s"]]
            print(
                f"| {loss:.0%}, {2 * delay_ms} ms | {name} | {goodput:.1f} ({cost(bulk_runs):.2f}) "
                f"| {100 * fmean(times):.0f} ({cost(fetch_runs):.2f}) |"
            )


if __name__ == "__main__":
    main()
