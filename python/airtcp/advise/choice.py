"""What is recommended, given where everything stands."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from airtcp.advise.advice import Recommendation
from airtcp.advise.beside import Beside, Share
from airtcp.advise.candidates import EFFORTS, Candidate
from airtcp.advise.race import Race
from airtcp.advise.standing import MARGIN, gap, is_behind, standings
from airtcp.stats import Estimate, relative_gain
from airtcp.summary import paired_values

SWIFT = 0.6
"""Of the recommended one's round trips at the 95th percentile: what is below is worth a word."""

Shares = Callable[[str], Share | None]


def choose(race: Race, beside: Beside) -> Recommendation | None:
    """None before two candidates have run."""
    if len(race.runs) < 2 or race.now.name not in race.runs:
        return None
    deployable = [c for c in race.ranked if c.deployable or c == race.now]
    group = contenders(race)
    keep = race.now in group
    chosen = race.now if keep else min(group, key=lambda c: _cost(c, race, group[0], beside.share))
    return Recommendation(
        use=chosen.name,
        keep_now=keep,
        gain=None if keep else gain(race, chosen),
        tied=tuple(c.name for c in group if c != chosen),
        not_deployable=_not_deployable(race, chosen),
        gentler=_gentler(race, deployable, chosen, beside.share),
        swifter=_swifter(race, group, chosen),
    )


def contenders(race: Race) -> list[Candidate]:
    """The best of those that can be had, and all that cannot be told from it, from best to worst."""
    run = [c for c in race.candidates if c.name in race.runs]
    deployable = [c for c in run if c.deployable or c == race.now]
    found = standings({c.name: race.runs[c.name] for c in deployable}, race.goal, race.now.name)
    by_name = {candidate.name: candidate for candidate in deployable}
    return [by_name[standing.name] for standing in found if standing.place != "behind"]


def gain(race: Race, candidate: Candidate) -> Estimate | None:
    """Against what is there now, as a share of it: above zero is better, whatever the objective."""
    values, base = paired_values(race.runs[candidate.name], race.runs[race.now.name], race.goal)
    found = relative_gain(values, base)
    return found if found is None or race.goal.higher_is_better else found.scaled(-1)


def rtt_p95_ms(race: Race, candidate: Candidate) -> float | None:
    runs = race.runs[candidate.name]
    found = [f["rtt_p95_ms"] for run in runs for f in run["flows"] if f["measured"] and f["rtt_samples"]]
    known = [value for value in found if value is not None]
    return sum(known) / len(known) if known else None


def _cost(candidate: Candidate, race: Race, best: Candidate, share: Shares) -> tuple[bool, bool, int]:
    """What is as good comes first, then what does no harm, then what takes least effort."""
    behind = gap(race.runs[best.name], race.runs[candidate.name], race.goal).mean
    found = share(candidate.name)
    harmless = found is not None and found.word == "harmless"
    return (behind > MARGIN, not harmless, EFFORTS.index(candidate.stage))


def _not_deployable(race: Race, chosen: Candidate) -> str | None:
    best = race.ranked[0]
    if best.deployable or not is_behind(gap(race.runs[best.name], race.runs[chosen.name], race.goal)):
        return None
    return best.name


def _gentler(race: Race, deployable: Sequence[Candidate], chosen: Candidate, share: Shares) -> str | None:
    """Better than what is there now, and harmless."""
    of_chosen = share(chosen.name)
    if of_chosen is None or of_chosen.word == "harmless":
        return None
    for candidate in deployable:
        found, better = share(candidate.name), gain(race, candidate)
        harmless = found is not None and found.word == "harmless"
        if candidate != race.now and harmless and better and (better.low or 0.0) > MARGIN:
            return candidate.name
    return None


def _swifter(race: Race, group: Sequence[Candidate], chosen: Candidate) -> str | None:
    own = rtt_p95_ms(race, chosen)
    found = {c: rtt for c in group if not c.is_split and (rtt := rtt_p95_ms(race, c)) is not None}
    if own is None or chosen.is_split or not found:
        return None
    swiftest = min(found, key=lambda c: found[c])
    return swiftest.name if found[swiftest] < SWIFT * own else None
