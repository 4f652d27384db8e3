"""Puts the comparison into one sentence that calls a tie a tie."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from airtcp.facts.arrival import nothing_arrived
from airtcp.facts.records import Run
from airtcp.facts.stats import NEGLIGIBLE, Estimate, separates
from airtcp.facts.summary import Objective, difference, group, objective, summarise_all

STRETCH = (
    "The comparison holds only for this stretch of the recording;"
    ' enter_recordings = "by-seed" starts each seed at a different place.'
)
"""Said where all seeds meet the same of it, however they differ otherwise."""


@dataclass(frozen=True)
class Verdict:
    """The best scheme, and its statistical ties with this many seeds."""

    best: str
    """Empty if nothing arrived."""
    tied: tuple[str, ...]
    text: str


def verdict(runs: Sequence[Run], *, replays: bool = False) -> Verdict | None:
    """Returns None if there is nothing to compare. `replays`: whether the path replays a recording."""
    if empty := nothing_arrived(runs):
        return Verdict("", (), empty)
    by_scheme = group(runs)
    if len(by_scheme) < 2:
        return None
    goal = objective(runs)
    ranked = rank(by_scheme, goal)
    best = ranked[0]
    gaps = {other: difference(by_scheme[best], by_scheme[other], goal) for other in ranked[1:]}
    if any(gap.half_width is None for gap in gaps.values()):
        text = f"{best} has the best {goal.name}, but a single seed gives no interval; run more."
        return Verdict(best, (), text)
    leads = {other: (gap, _mean(by_scheme[other], goal)) for other, gap in gaps.items()}
    tied = tuple(other for other, (gap, base) in leads.items() if not separates(gap, base))
    text = _tie(best, tied, goal) if tied else f"{best} has the best {goal.name},"
    if not tied:
        text += f"{_ahead(*leads[ranked[1]], goal)} {ranked[1]}, the next best."
    text += _against_first(runs, best, tied) + _repeated(by_scheme, replays)
    return Verdict(best, tied, text + _in_repeated(best, {other: leads[other] for other in tied}, goal))


def rank(by_scheme: dict[str, list[Run]], goal: Objective) -> list[str]:
    """Returns the schemes from best to worst mean; equals keep their order."""

    def badness(scheme: str) -> float:
        mean = _mean(by_scheme[scheme], goal)
        return -mean if goal.higher_is_better else mean

    return sorted(by_scheme, key=badness)


def _mean(runs: Sequence[Run], goal: Objective) -> float:
    values = [value for run in runs if (value := goal.of(run)) is not None]
    return sum(values) / len(values)


def _tie(best: str, tied: Sequence[str], goal: Objective) -> str:
    names = listed([best, *tied])
    return f"No statistically clear winner in {goal.name}: {names} cannot be separated with these seeds."


def _ahead(gap: Estimate, base: float, goal: Objective) -> str:
    ahead = f" {percent(gap.scaled(1 / base))}" if base else ""
    return f"{ahead} {'above' if goal.higher_is_better else 'below'}"


def _in_repeated(best: str, tied: Mapping[str, tuple[Estimate, float]], goal: Objective) -> str:
    """Says how far the best is ahead of what it is tied with only because seeds repeat one run."""
    told = [
        f"{best} is{_ahead(Estimate(gap.mean, None, gap.n), base, goal)} {other}"
        for other, (gap, base) in tied.items()
        if gap.half_width == 0 and abs(gap.mean) >= NEGLIGIBLE * abs(base)
    ]
    return f" In them, {listed(told)}." if told else ""


def _against_first(runs: Sequence[Run], best: str, tied: Sequence[str]) -> str:
    """Compares the best with the first scheme, unless that has been said."""
    first, *rest = summarise_all(runs)
    if first.scheme in (best, *tied) or len(rest) < 2:
        return ""
    gain = next(summary.gain for summary in rest if summary.scheme == best)
    return f" Against {first.scheme}: {percent(gain, signed=True)}." if gain else ""


def _repeated(by_scheme: dict[str, list[Run]], replays: bool) -> str:
    """Explains identical runs, whose interval says nothing about chance."""
    alike = [scheme for scheme, runs in by_scheme.items() if _all_alike(runs)]
    if not alike:
        return f" {STRETCH}" if replays and max(map(len, by_scheme.values())) > 1 else ""
    names = "each scheme" if len(alike) == len(by_scheme) else listed(alike)
    return f" All runs of {names} are identical: {repeated_runs(replays)}"


def repeated_runs(replays: bool) -> str:
    """Explains why runs with different seeds are identical, as the end of a sentence, and gives a remedy."""
    text = (
        "almost nothing on this path is random, so the seeds repeat the same run; ± 0 does not mean"
        " certainty."
    )
    return f"{text} {STRETCH}" if replays else text


def _all_alike(runs: Sequence[Run]) -> bool:
    def course(run: Run) -> Mapping[str, object]:
        # A run that records time series has more events: its samples.
        return {key: value for key, value in run.items() if key not in ("seed", "events")}

    return len(runs) > 1 and all(course(run) == course(runs[0]) for run in runs[1:])


def percent(share: Estimate, signed: bool = False) -> str:
    """Formats a share and its interval in percent: `12.3 % ± 0.4`."""
    mean = f"{100 * share.mean:{'+' if signed else ''}.1f} %"
    return mean if share.half_width is None else f"{mean} ± {100 * share.half_width:.1f}"


def listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
