"""`advise`, and how it assembles its answer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import get_args

from airtcp._engine import Scenario, version
from airtcp.advise.advice import Advice, Cell, Needs, Recommendation, Row, UnderReading
from airtcp.advise.air import Air, air_of
from airtcp.advise.asked import Control, Traffic, check_now, controls_of, places
from airtcp.advise.bench import Bench
from airtcp.advise.beside import Beside
from airtcp.advise.candidates import Candidate
from airtcp.advise.choice import choose, gain, is_better, rtt_p95_ms
from airtcp.advise.deployment import AIRTCP
from airtcp.advise.gateway import wireless
from airtcp.advise.inquiry import Inquiry, Question
from airtcp.advise.race import FULL, QUICK, Effort, Race
from airtcp.advise.standing import MARGIN, Standing
from airtcp.advise.surroundings import Grid, Point, loss_of
from airtcp.advise.words import paragraphs
from airtcp.asking.given import ScenarioLike, scenario_of
from airtcp.control import CongestionControl
from airtcp.facts.routes import base_rtts_s
from airtcp.facts.scenario import document
from airtcp.facts.stats import CONFIDENCE, Estimate, estimate
from airtcp.facts.summary import summarise
from airtcp.fit import Fit
from airtcp.fit.closure.closing import NOT_CLOSED
from airtcp.fit.findings import Unknown
from airtcp.fit.left_open import left_open
from airtcp.running.watching import Silent, Watcher

NOW = "cubic"
RATES = ("rate", "capacity in the forward direction")
"""Names under which a fit reports an unknown rate."""


def advise(
    path: ScenarioLike | Fit | None = None,
    *,
    control: Control | Sequence[Control] = (),
    now: str = NOW,
    traffic: Traffic | None = None,
    quick: bool = False,
    seeds: int | None = None,
    keep_duration: bool = False,
    written: Scenario | None = None,
    controllers: Sequence[type[CongestionControl]] = (),
    command: str = "",
    jobs: int | None = None,
    watcher: Watcher | None = None,
) -> Advice:
    """Recommend a scheme for a path: a scenario or its file, a measurement's file, or a fit.

    The scenario's list of schemes is ignored.

    `control` says what the asker can change, one place or several; empty means everything. `now` is the
    scheme in use. `traffic` replaces what the measured flows carry. `seeds` is the most that a contender
    runs; with `keep_duration`, runs are never shortened to save time. `written` is the scenario as it was
    fitted to a measurement, if the asker has changed it since: the answer repeats what the measurement
    left open and the change has not settled; if that includes the rate, other rates are tried.
    `controllers` are congestion controls in Python that compete too.

    The same arguments give the same answer, whatever the machine and `jobs`. On KeyboardInterrupt the
    answer contains what was finished, and `interrupted` is set. Raises ScenarioError if `now` is no
    scheme, and ValueError for an unknown `control` or `traffic` or a `now` that includes a queue.
    """
    controls = controls_of(control)
    if traffic not in (None, *get_args(Traffic)):
        raise ValueError(f"traffic {traffic!r}: one of {', '.join(get_args(Traffic))}")
    scenario = path.scenario if isinstance(path, Fit) else scenario_of(path)
    if controllers:
        scenario = scenario.vary(schemes=list(controllers))
    check_now(now, scenario)
    unknown, loss_between = _left_open(scenario, written or scenario)
    question = Question(
        scenario,
        places(controls),
        now,
        traffic,
        _effort(quick, seeds),
        keep_duration,
        rate_unknown=any(each.quantity in RATES for each in unknown),
        own=tuple(each.name for each in controllers),
        readings=tuple(reading for each in unknown for reading in each.readings if reading.keys),
        loss_between=loss_between,
    )
    inquiry = Inquiry(question, Bench(jobs, watcher or Silent()))
    interrupted = False
    try:
        # No forecast on a path that does not explain its own measurement can be trusted.
        if not any(each.quantity == NOT_CLOSED for each in unknown):
            inquiry.run()
    except KeyboardInterrupt:
        interrupted = True
    advice = _advice(inquiry, controls, unknown, command, interrupted, quick)
    return replace(advice, text=tuple(paragraphs(advice)))


def _left_open(
    scenario: Scenario, written: Scenario
) -> tuple[tuple[Unknown, ...], tuple[float, float] | None]:
    """Returns what the measurement left open and was not set since, and the interval of the loss."""
    asked, own = document(scenario), document(written)
    found, link, before = left_open(asked), wireless(asked), wireless(own)
    if found is None:
        return (), None
    said = [
        key
        for key in ("rate", "loss")
        if link.get(key) != before.get(key) or link["reverse"].get(key) != before["reverse"].get(key)
    ]
    unknown = tuple(
        each
        for each in found.unknown
        if not (each.quantity in RATES and "rate" in said)
        and not (each.readings and "loss" in said)
        and not (each.quantity == NOT_CLOSED and said)
    )
    return unknown, None if "loss" in said else found.loss


def _effort(quick: bool, seeds: int | None) -> Effort:
    effort = QUICK if quick else FULL
    return (
        effort
        if seeds is None
        else replace(effort, screening=min(effort.screening, seeds), most=seeds, against_now=seeds)
    )


def _advice(
    inquiry: Inquiry,
    control: tuple[str, ...],
    unknown: Sequence[Unknown],
    command: str,
    interrupted: bool,
    quick: bool,
) -> Advice:
    path = inquiry.path
    return Advice(
        format=1,
        airtcp=version(),
        command=command,
        interrupted=interrupted,
        quick=quick,
        confidence=CONFIDENCE,
        margin=MARGIN,
        objective=inquiry.race.goal.name,
        traffic=inquiry.question.traffic,
        control=control,
        now=inquiry.now.name,
        duration_s=inquiry.scenario.duration_s,
        shortened_from_s=_shortened_from_s(inquiry),
        seed=inquiry.scenario.seed,
        loss=loss_of(wireless(path)),
        base_rtts_s=base_rtts_s(path),
        unknown=tuple(each.text for each in unknown),
        rate_assumed=next((each.text for each in unknown if each.quantity in RATES), None),
        readings=tuple(_readings(inquiry, unknown)),
        notes=tuple(inquiry.notes()),
        scenario=document(inquiry.scenario),
        scenario_toml=inquiry.scenario.to_toml(),
        recommendation=choose(inquiry.race, inquiry.beside),
        air=_air(inquiry),
        buffers=inquiry.buffers.first() if inquiry.buffers else None,
        nothing_arrived=inquiry.race.nothing_arrived if inquiry.race.runs else None,
        not_closed=next((each.text for each in unknown if each.quantity == NOT_CLOSED), None),
        loss_between=inquiry.question.loss_between,
        gain_between=_gain_between(inquiry),
        text=(),
        rows=tuple(_rows(inquiry)),
        around=tuple(_cells(inquiry)),
    )


def _air(inquiry: Inquiry) -> Air | None:
    chosen = choose(inquiry.race, inquiry.beside)
    return air_of(inquiry.race, inquiry.race.named(chosen.use), inquiry.fair) if chosen else None


def _gain_between(inquiry: Inquiry) -> tuple[float, float] | None:
    """Returns the hull of the gain's intervals on the path itself and at both ends of the loss interval."""
    chosen = choose(inquiry.race, inquiry.beside)
    if chosen is None or chosen.gain is None or not inquiry.ends:
        return None
    use = inquiry.race.named(chosen.use)
    gains = [chosen.gain, *(found for race in inquiry.ends if (found := gain(race, use)) is not None)]
    widths = [each.half_width or 0.0 for each in gains]
    ends = [(each.mean - width, each.mean + width) for each, width in zip(gains, widths, strict=True)]
    return min(low for low, _ in ends), max(high for _, high in ends)


def _readings(inquiry: Inquiry, unknown: Sequence[Unknown]) -> Iterator[UnderReading]:
    for each in unknown:
        for reading in each.readings:
            race = inquiry.read.get(reading) if reading.keys else inquiry.race
            chosen = choose(race, Beside()) if race else None
            if race and chosen and inquiry.read:
                # The assumed reading is judged like everywhere else.
                chosen = chosen if reading.keys else choose(race, inquiry.beside) or chosen
                yield UnderReading(
                    reading=reading.name,
                    stands_in=not reading.keys,
                    use=chosen.use,
                    keep_now=chosen.keep_now,
                    tied=chosen.tied,
                    reached=_reached(race, race.named(chosen.use)),
                    reached_now=_reached(race, race.now),
                    decides=each.remedy,
                )


def _shortened_from_s(inquiry: Inquiry) -> float | None:
    asked_s = inquiry.question.scenario.duration_s
    return asked_s if inquiry.scenario.duration_s < asked_s else None


def _rows(inquiry: Inquiry) -> list[Row]:
    race = inquiry.race
    return [_row(inquiry, race.named(standing.name), standing) for standing in race.standings()]


def _row(inquiry: Inquiry, candidate: Candidate, standing: Standing) -> Row:
    race = inquiry.race
    return Row(
        name=candidate.name,
        scheme=candidate.scheme,
        queue=candidate.queue,
        standing=standing.place,
        behind=standing.behind,
        gain=None if candidate == race.now else gain(race, candidate),
        better=is_better(race, candidate),
        reached=_reached(race, candidate),
        rtt_p95_ms=rtt_p95_ms(race, candidate),
        summary=summarise(race.runs[candidate.name], race.runs[race.now.name], race.goal),
        share=inquiry.beside.share(candidate.name),
        needs=needs(candidate),
    )


def _reached(race: Race, candidate: Candidate) -> Estimate:
    values = [value for run in race.runs[candidate.name] if (value := race.goal.of(run)) is not None]
    return estimate(values).scaled(race.to_all_seeds(candidate.name, race.goal.of))


def needs(candidate: Candidate) -> Needs:
    facts = candidate.facts
    worst = list(AIRTCP)
    return Needs(
        places=tuple(sorted(candidate.places)),
        stage=candidate.stage,
        how=_each(fact.how for fact in facts if fact.stage != "default") or ("nothing to do",),
        airtcp=max((fact.airtcp for fact in facts), key=worst.index, default="not needed"),
        root=any(fact.root for fact in facts),
        headers=_each(fact.headers for fact in facts),
        encrypted=_each(fact.encrypted for fact in facts),
        cautions=_each(fact.caution for fact in facts),
        sources=_each(fact.source for fact in facts),
    )


def _each(texts: Iterable[str | None]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(text for text in texts if text))


def _cells(inquiry: Inquiry) -> list[Cell]:
    """Returns the cells, beginning with the path itself, which has more runs than its surroundings."""
    around, chosen = inquiry.around, choose(inquiry.race, inquiry.beside)
    if around is None or chosen is None:
        return []
    found = [
        _judged(around.grid, point, around.races[point], chosen.use)
        for point in around.grid.points()
        if not point.is_the_path
    ]
    return [_own(around.grid, inquiry.race, chosen), *(cell for cell in found if cell is not None)]


def _own(grid: Grid, race: Race, chosen: Recommendation) -> Cell:
    use = race.named(chosen.use)
    behind = None if chosen.keep_now else race.gap(use, race.now, CONFIDENCE)
    return _cell(grid, Point(), chosen.use, chosen.tied, behind, None)


def _judged(grid: Grid, point: Point, race: Race, recommended: str) -> Cell | None:
    found = race.standings()
    if not found:
        return None
    best = race.ranked[0]
    return _cell(
        grid,
        point,
        best.name,
        tuple(standing.name for standing in found if standing.place == "tied"),
        None if best == race.now else race.gap(best, race.now, CONFIDENCE),
        next((s.behind for s in found if s.name == recommended), None),
    )


def _cell(
    grid: Grid,
    point: Point,
    best: str,
    tied: tuple[str, ...],
    now_behind: Estimate | None,
    recommended_behind: Estimate | None,
) -> Cell:
    return Cell(
        loss=grid.own_loss if point.loss is None else point.loss,
        delay_factor=point.delay_factor,
        rate_factor=point.rate_factor,
        burst_packets=grid.own_burst if point.burst_packets is None else point.burst_packets,
        best=best,
        tied=tied,
        now_behind=now_behind,
        recommended_behind=recommended_behind,
    )
