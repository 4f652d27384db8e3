"""Chooses the recommendation from the results of a race."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from statistics import fmean

from airtcp.advise.advice import Alone, Recommendation
from airtcp.advise.beside import Beside, Share
from airtcp.advise.candidates import EFFORTS, Candidate
from airtcp.advise.deployment import Place
from airtcp.advise.race import Race
from airtcp.advise.standing import is_behind
from airtcp.facts.records import Run
from airtcp.facts.stats import Estimate, relative_gain
from airtcp.facts.summary import paired_values

TOLERANCE = 0.1
"""A candidate in a statistical tie with the best may be recommended if its mean is behind by no more."""
GIVEN_UP = 0.2
"""The share of the objective that may be given up for much lower delay."""
SWIFT = 0.6
"""A delay below this share of the recommended candidate's 95th-percentile RTT is worth mentioning."""
BLOATED = 2.0
"""A 95th-percentile RTT above this multiple of the lowest among equals shows a full queue."""

Shares = Callable[[str], Share | None]


def choose(race: Race, beside: Beside) -> Recommendation | None:
    """Returns the recommendation; None until two candidates have run, or if nothing arrives."""
    if len(race.runs) < 2 or race.now.name not in race.runs or race.nothing_arrived:
        return None
    deployable = [c for c in race.ranked if c.deployable or c == race.now]
    better = [c for c in deployable if is_better(race, c)]
    chosen = _least_change(race, better, beside.share) if better else race.now
    tied = [c for c in deployable if c != chosen and _is_tied(race, chosen, c)]
    return Recommendation(
        use=chosen.name,
        keep_now=chosen == race.now,
        gain=None if chosen == race.now else gain(race, chosen),
        tied=tuple(c.name for c in tied),
        not_deployable=_not_deployable(race, chosen),
        gentler=_gentler(race, deployable, chosen, beside.share),
        swifter=_swifter(race, deployable, chosen),
        alone=tuple(_alone(race, better, chosen, beside.share)),
    )


def _alone(race: Race, better: Sequence[Candidate], chosen: Candidate, share: Shares) -> Iterator[Alone]:
    """Yields the best choice for each place alone, if more than one is under control.

    Where the recommended candidate needs only that place, it is the choice.
    """
    controlled = {place for c in race.has_run for place in c.places}
    singles: tuple[Place, ...] = ("sender", "receiver", "gateway")
    for place in singles if len(controlled) > 1 else ():
        if place in controlled:
            own = [c for c in better if c.places <= {place}]
            use = chosen if chosen in own else _least_change(race, own, share) if own else None
            yield Alone(place, use.name if use else None)


def is_better(race: Race, candidate: Candidate) -> bool:
    """Returns whether it is surely better than the current scheme by more than the margin."""
    return candidate != race.now and is_behind(race.gap(candidate, race.now))


def contenders(race: Race) -> list[Candidate]:
    """Returns the deployable candidates that are not surely behind the best deployable one."""
    found = race.standings([c for c in race.has_run if c.deployable])
    names = {standing.name for standing in found if standing.place != "behind"}
    return [candidate for candidate in race.ranked if candidate.name in names]


def gain(race: Race, candidate: Candidate) -> Estimate | None:
    """Returns the gain over the current scheme, as a share; above zero is better, whatever the objective.

    None if it has not run all seeds of the current scheme: gains over different seeds are not comparable.
    """
    if len(race.runs[candidate.name]) < len(race.runs[race.now.name]):
        return None
    values, base = paired_values(race.runs[candidate.name], race.runs[race.now.name], race.goal)
    found = relative_gain(values, base)
    return found if found is None or race.goal.higher_is_better else found.scaled(-1)


def rtt_p95_ms(race: Race, candidate: Candidate) -> float | None:
    """Returns the sender's 95th-percentile RTT; None behind a proxy, where the sender's round trips end."""
    return None if candidate.is_split else race.mean(candidate.name, _rtt_p95_ms)


def _rtt_p95_ms(run: Run) -> float | None:
    known = [
        flow["rtt_p95_ms"]
        for flow in run["flows"]
        if flow["measured"] and flow["rtt_samples"] and flow["rtt_p95_ms"] is not None
    ]
    return fmean(known) if known else None


def _least_change(race: Race, better: Sequence[Candidate], share: Shares) -> Candidate:
    """Returns the smallest change among the best and its statistical ties.

    Among equal changes it prefers the harmless one, then the one with a short queue, then the better one.
    """
    best = better[0]
    group = [c for c in better if c == best or _alike(race, best, c)]
    known = [rtt for c in group if (rtt := rtt_p95_ms(race, c)) is not None]
    least_ms = min(known, default=0.0)

    def cost(candidate: Candidate) -> tuple[int, int, int, bool, bool]:
        found, rtt_ms = share(candidate.name), rtt_p95_ms(race, candidate)
        harmless = found is not None and found.word == "harmless"
        bloated = rtt_ms is not None and rtt_ms > BLOATED * least_ms
        return (*change(candidate), not harmless, bloated)

    return min(group, key=cost)


def change(candidate: Candidate) -> tuple[int, int, int]:
    """Returns the size of the change: places, parts, and the effort of the hardest part."""
    return len(candidate.places), len(candidate.facts), EFFORTS.index(candidate.stage)


def _is_tied(race: Race, one: Candidate, other: Candidate) -> bool:
    """Returns whether neither is surely better."""
    return not is_behind(race.gap(one, other)) and not is_behind(race.gap(other, one))


def _alike(race: Race, best: Candidate, other: Candidate) -> bool:
    """Returns whether neither is surely better and their means are close."""
    return abs(race.gap(best, other).mean) <= TOLERANCE and _is_tied(race, best, other)


def _not_deployable(race: Race, chosen: Candidate) -> str | None:
    best = race.ranked[0]
    return None if best.deployable or not is_behind(race.gap(best, chosen)) else best.name


def _gentler(race: Race, deployable: Sequence[Candidate], chosen: Candidate, share: Shares) -> str | None:
    """Returns the best harmless candidate above the current scheme, if the chosen one is not harmless."""
    of_chosen = share(chosen.name)
    if of_chosen is None or of_chosen.word == "harmless":
        return None

    def is_harmless(candidate: Candidate) -> bool:
        found = share(candidate.name)
        return found is not None and found.word == "harmless"

    return _smallest_change(race, [c for c in deployable if is_harmless(c) and is_better(race, c)])


def _swifter(race: Race, deployable: Sequence[Candidate], chosen: Candidate) -> str | None:
    """Returns a candidate that has much lower delay and gives up little."""
    own_ms = rtt_p95_ms(race, chosen)
    if own_ms is None:
        return None

    def is_swift(candidate: Candidate) -> bool:
        rtt_ms = rtt_p95_ms(race, candidate)
        return rtt_ms is not None and rtt_ms < SWIFT * own_ms

    swift = [c for c in deployable if is_swift(c) and race.gap(chosen, c).mean < GIVEN_UP]
    return _smallest_change(race, swift)


def _smallest_change(race: Race, ranked: Sequence[Candidate]) -> str | None:
    """Returns the smallest change among those that give up little against the first, then the better one."""
    near = [c for c in ranked if race.gap(ranked[0], c).mean < GIVEN_UP]
    return min(near, key=change).name if near else None
