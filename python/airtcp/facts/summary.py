"""Summarises many runs of a scheme as one line of the table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Literal

from airtcp.facts.records import Flow, Run
from airtcp.facts.scheme import is_split
from airtcp.facts.stats import Estimate, estimate, paired_difference, relative_gain


@dataclass(frozen=True)
class Objective:
    """The measure by which schemes are judged."""

    name: Literal["goodput", "completion time"]
    higher_is_better: bool
    of: Callable[[Run], float | None]


@dataclass(frozen=True)
class SchemeSummary:
    """One scheme over its seeds. Counts are means per run; rates in bit/s, times in seconds."""

    scheme: str
    seeds: tuple[int, ...]
    goodput: Estimate
    share_of_bound: float | None
    gain: Estimate | None
    retransmitted: float
    timeouts: float
    spurious_timeouts: float
    rtt_p50_ms: float | None
    rtt_p95_ms: float | None
    jain: float | None
    completion: Estimate | None
    completion_p95_s: float | None


def measured(run: Run) -> list[Flow]:
    return [flow for flow in run["flows"] if flow["measured"]]


def goodput_bps(run: Run) -> float:
    """Returns the goodput of all measured flows together."""
    return run["goodput_bps"]


def completion_times_s(run: Run) -> list[float]:
    return [time for flow in measured(run) for time in flow["completion_times_s"]]


def mean_completion_s(run: Run) -> float | None:
    times = completion_times_s(run)
    return fmean(times) if times else None


GOODPUT = Objective("goodput", True, goodput_bps)
COMPLETION = Objective("completion time", False, mean_completion_s)


def objective(runs: Sequence[Run]) -> Objective:
    """Chooses completion times if every run has finished transfers, else goodput."""
    return COMPLETION if runs and all(completion_times_s(run) for run in runs) else GOODPUT


def paired_values(
    runs: Sequence[Run], base: Sequence[Run], goal: Objective
) -> tuple[list[float], list[float]]:
    """Returns the objective of both schemes on the seeds that both have run."""
    values = {run["seed"]: goal.of(run) for run in runs}
    others = {run["seed"]: goal.of(run) for run in base}
    pairs = [
        (value, other)
        for seed in sorted(values.keys() & others.keys())
        if (value := values[seed]) is not None and (other := others[seed]) is not None
    ]
    return [value for value, _ in pairs], [other for _, other in pairs]


def summarise(runs: Sequence[Run], base: Sequence[Run], goal: Objective) -> SchemeSummary:
    """Summarises one scheme's `runs`; the gain is over the runs of `base`, the first scheme."""
    goodput = estimate([goodput_bps(run) for run in runs])
    first = runs[0]["scheme"] == base[0]["scheme"] if base else True
    times = sorted(time for run in runs for time in completion_times_s(run))
    means = [mean for run in runs if (mean := mean_completion_s(run)) is not None]
    return SchemeSummary(
        scheme=runs[0]["scheme"],
        seeds=tuple(run["seed"] for run in runs),
        goodput=goodput,
        share_of_bound=_share_of_bound(runs),
        gain=None if first else relative_gain(*paired_values(runs, base, goal)),
        retransmitted=fmean(_retransmitted(run) for run in runs),
        timeouts=fmean(_total(run, "timeouts") for run in runs),
        spurious_timeouts=fmean(_total(run, "timeouts_spurious") for run in runs),
        rtt_p50_ms=mean_rtt(runs, "rtt_p50_ms"),
        rtt_p95_ms=mean_rtt(runs, "rtt_p95_ms"),
        jain=_mean([run["jain_index"] if len(measured(run)) > 1 else None for run in runs]),
        completion=estimate(means) if means else None,
        completion_p95_s=percentile(times, 0.95),
    )


def summarise_all(runs: Sequence[Run]) -> list[SchemeSummary]:
    """Returns one summary per scheme, in order of first appearance."""
    by_scheme = group(runs)
    base = next(iter(by_scheme.values()), [])
    goal = objective(runs)
    return [summarise(of_scheme, base, goal) for of_scheme in by_scheme.values()]


def group(runs: Sequence[Run]) -> dict[str, list[Run]]:
    by_scheme: dict[str, list[Run]] = {}
    for run in runs:
        by_scheme.setdefault(run["scheme"], []).append(run)
    return by_scheme


def difference(runs: Sequence[Run], base: Sequence[Run], goal: Objective) -> Estimate:
    """Returns how much better `runs` do than `base`, seed by seed, in the objective's unit."""
    values, others = paired_values(runs, base, goal)
    return paired_difference(values, others) if goal.higher_is_better else paired_difference(others, values)


def mean_rtt(runs: Sequence[Run], key: str) -> float | None:
    """Returns the mean over flows and runs, weighted by their samples; None behind a proxy."""
    # Behind a proxy the sender measures round trips to the proxy, which would mislead beside the others.
    own = [run for run in runs if not is_split(run["scheme"])]
    flows = [flow for run in own for flow in measured(run) if flow["rtt_samples"]]
    samples = sum(flow["rtt_samples"] for flow in flows)
    weighted: float = sum(flow[key] * flow["rtt_samples"] for flow in flows)  # type: ignore[literal-required]
    return weighted / samples if samples else None


def percentile(ordered: Sequence[float], p: float) -> float | None:
    """Returns the nearest-rank percentile of `ordered` values."""
    return ordered[min(len(ordered) - 1, int(p * len(ordered)))] if ordered else None


def _share_of_bound(runs: Sequence[Run]) -> float | None:
    return _mean([goodput_bps(run) / run["bound_bps"] if run["bound_bps"] else None for run in runs])


def _retransmitted(run: Run) -> float:
    sent = _total(run, "data_packets_sent")
    return _total(run, "retransmissions") / sent if sent else 0.0


def _total(run: Run, key: str) -> int:
    return sum(flow[key] for flow in measured(run))  # type: ignore[literal-required]


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fmean(known) if known else None
