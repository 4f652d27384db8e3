"""What reports of comparisons and of single runs both say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean

from airtcp._engine import Scenario, version
from airtcp.facts.assumption import Assumption
from airtcp.facts.numbers import percent
from airtcp.facts.records import Flow, Run
from airtcp.facts.scenario import seeds_of
from airtcp.facts.summary import group, measured
from airtcp.linux.host import Host
from airtcp.showing.report.blocks import Block, Facts, List, Section, Source, Table, Text


def repeat_section(
    scenario: Scenario,
    command: str | None,
    chosen: Mapping[str, str] | None = None,
    *,
    in_real_time: bool = False,
) -> Section:
    """All that it takes to get the same numbers; `chosen`: seeds and schemes, if not the scenario's.

    `in_real_time`: it ran on a kernel, where they come out nearly the same.
    """
    facts = {
        "airtcp": version(),
        **(chosen or _all_of(scenario)),
        "time": f"{scenario.duration_s:g} s a run",
        "profile": scenario.profile,
    }
    blocks: list[Block] = [Facts(facts)]
    if command:
        blocks.append(Source("The command", command, "command.txt", folded=False))
    blocks.append(Source("The scenario, with every default written out", scenario.to_toml(), "scenario.toml"))
    blocks.append(Text(_IN_REAL_TIME if in_real_time else _SAME, "quiet"))
    return Section("Reproduce", blocks)


_SAME = "The same scenario and seed give the same bytes, on any machine."
_IN_REAL_TIME = (
    "In the simulator, the same scenario and seed give the same bytes on any machine. On a kernel they do "
    "not: the emulator draws the same losses and delays for the n-th packet, but when packets come is up to "
    "kernel and clock, so that results differ a little from run to run."
)


def host_section(host: Host | None) -> list[Section]:
    """The machine on whose kernel it ran; nothing of a simulator."""
    if host is None:
        return []
    facts = {
        "kernel": f"Linux {host.kernel}",
        "airtcpd": host.airtcpd,
        "packets through the emulated path": f"{host.departures}",
        "of these late": f"{host.late} ({percent(host.late_share, 3)} %)",
        "lateness": f"{host.late_mean_us:.3g} µs on average, {host.late_max_us / 1000:.3g} ms at most",
        "lost by the machine itself": f"{host.lost}",
    }
    return [Section("The machine", [Facts(facts)])]


_BEFORE = "So it was fitted, before any --set changed it: the scenario at the end is what has run."


def assumed(fitted: Sequence[Assumption] | None) -> list[Block]:
    """What the answer rests on, where nobody has measured it."""
    items = [(each.what[:1].upper() + each.what[1:], each.text) for each in fitted or ()]
    return (
        [Section("What the measurement does not say", [List(items), Text(_BEFORE, "quiet")])] if items else []
    )


def _all_of(scenario: Scenario) -> dict[str, str]:
    seeds = seeds_of(scenario)
    said = f"{seeds[0]} to {seeds[-1]}" if len(seeds) > 1 else str(seeds[0])
    return {"seeds": said, "schemes": ", ".join(scenario.schemes)}


_TRUTHS: tuple[tuple[str, str], ...] = (
    ("data packets\nsent", "data_packets_sent"),
    ("lost to\ncorruption", "losses_corruption"),
    ("lost to\ncongestion", "losses_congestion"),
    ("lost to\noutages", "losses_outage"),
    ("packets\nresent", "retransmissions"),
    ("of these\nin vain", "retransmissions_spurious"),
    ("fast\nretransmits", "fast_retransmits"),
    ("cwnd\nreductions", "cwnd_reductions"),
    ("timeouts\n", "timeouts"),
    ("of these\nspurious", "timeouts_spurious"),
)


def truth_table(runs: Sequence[Run], *, on_linux: bool = False) -> Table:
    """What only a simulator knows, or who emulates the path: which losses were what."""
    by_scheme = group(runs)

    def mean(of_scheme: Sequence[Run], key: str) -> float:
        return fmean(sum(_count(flow, key) for flow in measured(run)) for run in of_scheme)

    means = {scheme: [mean(runs, key) for _, key in _TRUTHS] for scheme, runs in by_scheme.items()}
    shown = [place for place in range(len(_TRUTHS)) if any(row[place] for row in means.values())]
    return Table(
        "What happened to the measured flows, mean a run: "
        + (
            "losses as the emulator made them, the rest as the kernel counted it."
            if on_linux
            else "the simulator knows which losses were what."
        ),
        ["scheme", *(_TRUTHS[place][0] for place in shown)],
        [[scheme, *(_mean(row[place]) for place in shown)] for scheme, row in means.items()],
    )


def _count(flow: Flow, key: str) -> int:
    return flow[key]  # type: ignore[literal-required, no-any-return]


def _mean(value: float) -> str:
    return f"{value:.0f}" if value >= 100 or value == int(value) else f"{value:.1f}"
