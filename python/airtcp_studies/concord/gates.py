"""Concord's requirements, gate by gate: paths, schemes, and a judge of each path's runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from airtcp.facts.competition import COMPETITOR, competitor_bps, kept
from airtcp.facts.numbers import interval
from airtcp.facts.stats import Estimate, estimate
from airtcp.facts.summary import summarise_all
from airtcp_studies.concord.paths import FOUR, HOST, WEB, alone, path, ready_made, traces, uniform
from airtcp_studies.frame.context import Runs

OURS = "concord"
RIVAL = f'[[flow]]\nname = "{COMPETITOR}"\nscheme = "cubic"\nmeasure = false\n'
BERS = ("1e-6", "2e-6", "5e-6", "1e-5")
RTTS_MS = (10, 50, 100, 200)


@dataclass(frozen=True)
class Row:
    """The result of one path."""

    cells: Sequence[str]
    is_met: bool


@dataclass(frozen=True)
class Gate:
    """One requirement, checked on several paths."""

    name: str
    asked: str
    columns: Sequence[str]
    """Names of the cells after the path's name."""
    schemes: Sequence[str]
    paths: Mapping[str, str]
    """Scenario text by name."""
    judge: Callable[[Runs], Row]


def gates(trace_folder: Path | None) -> list[Gate]:
    """Returns all gates; capacity traces only if there are some."""
    found = [
        Gate(
            "Lossy links",
            "ahead of BBR, intervals apart; RTT p95 at most BBR's where that fills 90 % of the bound",
            ("concord", "bbr", "bbr3", "westwood-vt", "cubic", "RTT p95 concord / bbr [ms]"),
            (OURS, "bbr", "bbr3", "westwood-vt", "cubic"),
            {
                f"BER {ber}, {rtt} ms": alone(path(rtt, loss=f"ber = {ber}"))
                for ber in BERS
                for rtt in RTTS_MS
            },
            _ahead,
        ),
        Gate(
            "Lossy links, unseen",
            "the same on paths that were not tuned on",
            ("concord", "bbr", "RTT p95 concord / bbr [ms]"),
            (OURS, "bbr"),
            {
                f"{rate}, BER 3e-6, {rtt} ms": alone(
                    path(rtt, f"packets = {room}", rate=rate, loss="ber = 3e-6")
                )
                for rate, rtt, room in (
                    ("3Mbit/s", 30, 20),
                    ("3Mbit/s", 150, 40),
                    ("30Mbit/s", 30, 80),
                    ("30Mbit/s", 150, 300),
                )
            },
            _ahead,
        ),
        _beside(
            "Beside CUBIC",
            0.85,
            {
                f"{rtt} ms, {room} packets": path(rtt, f"packets = {room}", jitter=HOST)
                for rtt in (20, 50, 100)
                for room in (25, 50, 83, 332)
            },
        ),
        _beside(
            "Beside CUBIC, unseen",
            0.85,
            {
                f"{rate}, {rtt} ms, {room} packets": path(rtt, f"packets = {room}", rate=rate, jitter=HOST)
                for rate, rtt, room in (("3Mbit/s", 30, 30), ("30Mbit/s", 30, 60), ("30Mbit/s", 80, 150))
            },
        ),
        _beside("Beside CUBIC, shallow", 0.80, {"20 ms, 10 packets": path(20, "packets = 10", jitter=HOST)}),
        _beside(
            "Beside CUBIC, managed queues",
            0.75,
            {f"{name}, 50 ms": path(50, f'discipline = "{name}"', jitter=HOST) for name in ("codel", "red")},
        ),
        Gate(
            "Four of its own",
            "Jain's index at least 0.95 from a fifth of a BDP of buffer to four",
            ("Jain concord", "bbr", "bbr3", "cubic"),
            (OURS, "bbr", "bbr3", "cubic"),
            {
                f"50 ms, {room} packets": path(50, f"packets = {room}", jitter=HOST) + FOUR
                for room in (8, 20, 41, 82, 166)
            },
            _jain,
        ),
        Gate(
            "Access networks",
            "BBR's goodput, or 95 % of it at half of its queueing delay",
            ("concord", "bbr", "queueing p95 concord / bbr [ms]"),
            (OURS, "bbr"),
            ready_made(),
            _as_good_or_half_the_delay,
        ),
        Gate(
            "Loss and varying delay",
            "at least 85 % of the better of CUBIC and BBR",
            ("concord", "bbr", "cubic"),
            (OURS, "bbr", "cubic"),
            _nuisances(),
            _not_far_behind,
        ),
        Gate(
            "Web transfers beside it",
            "60 kB in the mean no later than beside CUBIC (intervals touch)",
            ("beside concord [ms]", "beside bbr", "beside cubic"),
            (OURS, "bbr", "cubic"),
            {f"{rtt} ms": alone(path(rtt, "packets = 83", jitter=HOST)) + WEB for rtt in (20, 50, 100)},
            _no_later,
        ),
        Gate(
            "Clean path",
            "CUBIC's goodput within 2 %, or more",
            ("concord", "cubic"),
            (OURS, "cubic"),
            {f"{rtt} ms": alone(path(rtt, jitter=HOST)) for rtt in (20, 50, 100)},
            _as_cubic,
        ),
    ]
    if trace_folder is not None:
        found.append(
            Gate(
                "Capacity traces",
                "90 % of BBR's goodput at half of its RTT p95",
                ("concord", "bbr", "RTT p95 concord / bbr [ms]"),
                (OURS, "bbr"),
                traces(trace_folder),
                _most_of_it_at_half_the_rtt,
            )
        )
    return found


def _nuisances() -> dict[str, str]:
    bursts = 'burst = { to_bad = 0.002, to_good = 0.1, bad_loss = 0.5, interval = "packet" }'
    wandering = 'distribution = "correlated", mean = "20ms", deviation = "10ms", autocorrelation = 0.99'
    return {
        **{f"loss {p} %": alone(path(50, loss=f'packet = "{p}%"')) for p in (1, 2, 5)},
        "bursts": alone(path(50, loss=bursts)),
        **{f"jitter {high} ms": alone(path(50, jitter=uniform(high))) for high in (2, 10, 40)},
        "jitter 40 ms, overtaking": alone(path(50, jitter='distribution = "uniform", high = "40ms"')),
        "correlated": alone(path(50, jitter=f"{wandering}, overtaking = false")),
    }


def _beside(name: str, least: float, paths: Mapping[str, str]) -> Gate:
    def judge(runs: Runs) -> Row:
        ours = cubic_keeps(runs, OURS)
        others = [cubic_keeps(runs, scheme) for scheme in ("bbr", "bbr3")]
        return Row(
            [f"{interval(found.scaled(100), digits=0)} %" for found in (ours, *others)], ours.mean >= least
        )

    return Gate(
        name,
        f"a CUBIC flow keeps {least:.0%} of what it has beside CUBIC, in the mean",
        ("beside concord", "beside bbr", "beside bbr3"),
        (OURS, "bbr", "bbr3", "cubic"),
        {key: alone(text) + RIVAL for key, text in paths.items()},
        judge,
    )


def mbps(runs: Runs, scheme: str) -> Estimate:
    return estimate(runs.goodput(scheme, "Mbit/s"))


def rtt_p95_ms(runs: Runs, scheme: str) -> float:
    (found,) = (row for row in summarise_all(runs.found.runs) if row.scheme == scheme)
    return found.rtt_p95_ms or 0.0


def cubic_keeps(runs: Runs, scheme: str) -> Estimate:
    found = kept(runs.values(scheme, competitor_bps), runs.values("cubic", competitor_bps))
    return Estimate(0.0, None, 0) if found is None else found


def jain(runs: Runs, scheme: str) -> Estimate:
    rates = [[flow["goodput_bps"] for flow in runs.flows(run)] for run in runs.of(scheme)]
    return estimate([sum(each) ** 2 / (len(each) * sum(bps * bps for bps in each)) for each in rates])


def _is_ahead(ours: Estimate, other: Estimate) -> bool:
    return ours.mean - (ours.half_width or 0.0) > other.mean + (other.half_width or 0.0)


def _goodputs(runs: Runs) -> list[str]:
    return [interval(mbps(runs, scheme)) for scheme in runs.schemes]


def _pair(runs: Runs, of: Callable[[Runs, str], float]) -> str:
    return " / ".join(f"{of(runs, scheme):.0f}" for scheme in (OURS, "bbr"))


def _ahead(runs: Runs) -> Row:
    (bbr,) = (row for row in summarise_all(runs.found.runs) if row.scheme == "bbr")
    is_full = (bbr.share_of_bound or 0.0) >= 0.9
    is_late = is_full and rtt_p95_ms(runs, OURS) > rtt_p95_ms(runs, "bbr")
    is_met = _is_ahead(mbps(runs, OURS), mbps(runs, "bbr")) and not is_late
    return Row([*_goodputs(runs), _pair(runs, rtt_p95_ms)], is_met)


def _jain(runs: Runs) -> Row:
    found = [jain(runs, scheme) for scheme in runs.schemes]
    return Row([interval(each, digits=3) for each in found], found[0].mean >= 0.95)


def _queueing_p95_ms(runs: Runs, scheme: str) -> float:
    """Returns the excess over the lowest RTT of any scheme there."""
    flows = [flow for name in runs.schemes for run in runs.of(name) for flow in runs.flows(run)]
    return rtt_p95_ms(runs, scheme) - min(flow["rtt_min_ms"] or 0.0 for flow in flows)


def _as_good_or_half_the_delay(runs: Runs) -> Row:
    share = mbps(runs, OURS).mean / mbps(runs, "bbr").mean
    is_half = _queueing_p95_ms(runs, OURS) <= 0.5 * _queueing_p95_ms(runs, "bbr")
    return Row([*_goodputs(runs), _pair(runs, _queueing_p95_ms)], share >= 1 or (share >= 0.95 and is_half))


def _most_of_it_at_half_the_rtt(runs: Runs) -> Row:
    is_fast = mbps(runs, OURS).mean >= 0.9 * mbps(runs, "bbr").mean
    is_half = rtt_p95_ms(runs, OURS) <= 0.5 * rtt_p95_ms(runs, "bbr")
    return Row([*_goodputs(runs), _pair(runs, rtt_p95_ms)], is_fast and is_half)


def _not_far_behind(runs: Runs) -> Row:
    best = max(mbps(runs, scheme).mean for scheme in ("bbr", "cubic"))
    return Row(_goodputs(runs), mbps(runs, OURS).mean >= 0.85 * best)


def _transfer_ms(runs: Runs, scheme: str) -> Estimate:
    times_s = [[t for flow in run["flows"] for t in flow["completion_times_s"]] for run in runs.of(scheme)]
    return estimate([1e3 * fmean(each) for each in times_s if each])


def _no_later(runs: Runs) -> Row:
    found = [_transfer_ms(runs, scheme) for scheme in runs.schemes]
    return Row([interval(each, digits=0) for each in found], not _is_ahead(found[0], found[2]))


def _as_cubic(runs: Runs) -> Row:
    return Row(_goodputs(runs), mbps(runs, OURS).mean >= 0.98 * mbps(runs, "cubic").mean)
