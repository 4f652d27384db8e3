"""Runs everything that an advice needs, in an order that keeps partial results useful."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from airtcp._engine import Scenario, time_in_seconds
from airtcp.advise.air import by_airtime
from airtcp.advise.asked import Traffic
from airtcp.advise.bench import Bench, Trial
from airtcp.advise.beside import Beside
from airtcp.advise.buffers import Buffers
from airtcp.advise.candidates import WINDOW_BDPS, Candidate, first_round, second_round
from airtcp.advise.choice import choose, contenders
from airtcp.advise.deployment import Place
from airtcp.advise.gateway import passes_gateway
from airtcp.advise.race import Effort, Race, decide, run_lacking, screen
from airtcp.advise.sensitivity import SHORTEST_S, Around, affordable
from airtcp.advise.surroundings import Point, changes, with_latency
from airtcp.advise.surroundings import grid as grid_of
from airtcp.advise.tunnel import is_worth_trying
from airtcp.facts.records import Run
from airtcp.facts.scenario import Document, document, is_recorded
from airtcp.fit.findings import Reading
from airtcp.running.cost import MOST_S, PACKET_BITS, CostError, bound_bps, expected_s, run_events, time_text

PILOT_EVENTS = 10_000_000
"""Limit on the events of the first run."""
LEAST_WINDOW_BYTES = 65_536
WEB_BYTES = 100_000
"""Mean size of a page's larger parts; sizes are exponential."""
WEB_LOAD = 0.3
"""Share of the link's capacity that web traffic offers, so that transfers rarely overlap."""
RANKING, BESIDE, AROUND = 0.45, 0.15, 0.4
"""Shares of the events that each part may use."""
ENDS = 0.1
"""Additional share, for the ends of a measured loss interval."""
READ_OTHERWISE = 0.2
"""Additional share, used twice, for other readings of a measurement."""

MOST_ROUNDS = 3
"""Rounds of further seeds, after which the candidates that the answer names may still have changed."""
PILOT_S = 1.0
SHORTEST_RTTS = 50
TOO_COSTLY = 4
"""If a part would exceed its events this many times, runs get shorter than `SHORTEST_S` or the part is left
out."""

WORTH_SHORTENING = 0.5
"""A run is shortened only to less than this share of its duration; otherwise the loss of precision outweighs
the saving."""


@dataclass(frozen=True)
class Question:
    """The question to answer."""

    scenario: Scenario
    controlled: frozenset[Place]
    now: str
    traffic: Traffic | None
    effort: Effort
    keep_duration: bool
    """Never shorten runs, whatever they cost."""
    rate_unknown: bool
    own: tuple[str, ...] = ()
    """Names of the asker's own congestion controls."""
    readings: tuple[Reading, ...] = ()
    """Other possible meanings of the measurement."""
    loss_between: tuple[float, float] | None = None
    """Interval of the measured loss."""


class Inquiry:
    """All runs of one question. The results are available after `run`, even if it was interrupted."""

    def __init__(self, question: Question, bench: Bench) -> None:
        self.question = question
        self.bench = bench
        self.now = first_round(question.now, frozenset(), 0)[0]
        self.scenario = _entered_by_seed(question.scenario)
        self.path: Document = document(self.scenario)
        self.race = Race(self.scenario, self.now)
        self.beside = Beside()
        self.around: Around | None = None
        self.read: dict[Reading, Race] = {}
        """Races under other readings of the measurement."""
        self.ends: list[Race] = []
        """The current and the recommended scheme at either end of the loss interval."""
        self.fair: Race | None = None
        """The recommended scheme where stations are served by airtime."""
        self.packets_per_s = 0.0
        self.buffers: Buffers | None = None
        self.shortest_s = SHORTEST_S
        self._around_is_dear = False

    def run(self) -> None:
        """Raises KeyboardInterrupt, ScenarioError."""
        pilot = self._pilot()
        self._prepare(pilot)
        self._rank(pilot)
        if self.race.nothing_arrived:
            return
        self._run_beside()
        self._complete_seeds()
        self._run_ends()
        self._run_by_airtime()
        self._read_otherwise()
        self._run_around()

    def _pilot(self) -> Run:
        """Runs the current scheme once, to learn what the path carries and what runs cost.

        Raises CostError if even the cheapest inquiry would take too long.
        """
        runs: list[Run] = []
        cost = run_events(self.scenario, bound_bps(self.scenario))
        share = PILOT_EVENTS / cost if cost else 1.0
        # Unless the asker insists, no run is longer than the effort allows.
        short = shortened(self.scenario, share, PILOT_S) if share < 1 else self.scenario
        bulk = with_traffic(short, {"kind": "unlimited"})
        self.bench.run({None: Trial(bulk, [self.now], 1)}, lambda _, __, run: runs.append(run))
        return runs[0]

    def _prepare(self, pilot: Run) -> None:
        """Prepares the scenario to run: its traffic, and a duration within the effort."""
        question = self.question
        self.packets_per_s = pilot["bound_bps"] / PACKET_BITS
        self.buffers = Buffers.of(
            self.now.scheme,
            self.scenario.profile,
            pilot["bound_bps"],
            least_rtt_s(pilot),
            sum(flow["measured"] for flow in pilot["flows"]),
        )
        if question.traffic:
            self.scenario = with_traffic(self.scenario, traffic(question.traffic, pilot))
        duration_s = self.scenario.duration_s
        cost = max(
            pilot["events"] * duration_s / pilot["duration_s"], run_events(self.scenario, pilot["bound_bps"])
        )
        expected = cost * question.effort.screening * len(self._first(pilot))
        share = RANKING * question.effort.events / expected
        if share <= WORTH_SHORTENING and not question.keep_duration:
            if share * duration_s < SHORTEST_S / TOO_COSTLY:
                self.shortest_s = max(SHORTEST_RTTS * least_rtt_s(pilot), PILOT_S)
            self.scenario = shortened(self.scenario, share, self.shortest_s)
        self._check_cost(expected * self.scenario.duration_s / duration_s / RANKING)
        self.path = with_latency(document(self.scenario), pilot)
        self.race.scenario = self.scenario

    def _check_cost(self, events: float) -> None:
        time_s = expected_s(events, None)
        if time_s > MOST_S:
            what = f"runs of {self.scenario.duration_s:g} s at {self.packets_per_s:.2g} packets a second"
            cure = (
                "give a shorter --duration" if self.question.keep_duration else "give a lower rate by --set"
            )
            raise CostError(f"{what} would take about {time_text(time_s)} here; {cure}")

    def _first(self, pilot: Run) -> list[Candidate]:
        window = max(LEAST_WINDOW_BYTES, WINDOW_BDPS * pilot["bound_bps"] * least_rtt_s(pilot) / 8)
        buffers = self.buffers
        send_buffer = buffers.wanted if buffers and buffers.sender_limits else None
        found = first_round(
            self.question.now, self._controlled, round(window), self.question.own, send_buffer
        )
        return [c for c in found if c.tunnel is None or is_worth_trying(self.path, c.tunnel)]

    @property
    def _controlled(self) -> frozenset[Place]:
        """The places under control, without the gateway if some flow does not pass it."""
        controlled = self.question.controlled
        return controlled if passes_gateway(self.path) else controlled - {"gateway"}

    def notes(self) -> Iterator[str]:
        """Yields notes on how the answer was found."""
        if self._controlled != self.question.controlled:
            yield "Not every flow passes the gateway, so nothing was tried there."
        if self._around_is_dear:
            yield "Similar paths were not tried: runs at this rate cost too much."
        if self.shortest_s < SHORTEST_S:
            yield "To limit their cost, runs are so short that startup has a large influence."
        if self.question.traffic == "web" and self.race.goal.name == "goodput":
            yield "Some runs finished no transfer, so schemes are judged by goodput: use a longer --duration."

    def _rank(self, pilot: Run) -> None:
        effort, races = self.question.effort, {None: self.race}
        screen(races, self._first(pilot), effort.screening, self.bench)
        # Deployable candidates come first; of the others only whether they are better matters.
        self._decide(Race.open_deployable)
        screen(races, second_round(self.question.now, self.race.ranked), effort.screening, self.bench)
        self._decide(Race.open_deployable)
        # Whether to change anything is not left to few seeds.
        self._decide(Race.open_against_now, effort.against_now)
        self._decide(Race.open)

    def _decide(self, undecided: Callable[[Race], list[Candidate]], most: int | None = None) -> None:
        """Decides with a third of the ranking's events."""
        effort = self.question.effort
        until = self.bench.events + round(RANKING / 3 * effort.events)
        decide({None: self.race}, undecided, effort.screening, most or effort.most, self.bench, until)

    def _run_beside(self) -> None:
        effort = self.question.effort
        wanted = self.race.ranked
        events = {name: 2 * cost for name, cost in self._events().items()}
        must = [self.now, *contenders(self.race)]
        chosen, share = affordable(wanted, must, events, BESIDE * effort.events, effort.beside)
        self.beside.run(self._affordable(share), chosen, effort.beside, self.bench)

    def _complete_seeds(self) -> None:
        """Runs all seeds of the current scheme for each candidate that the answer names, until the names are
        stable."""
        for _ in range(MOST_ROUNDS):
            chosen = choose(self.race, self.beside)
            names = chosen.named if chosen else ()
            named = [candidate for candidate in self.race.candidates if candidate.name in names]
            if not run_lacking({None: self.race}, named, len(self.race.runs[self.now.name]), self.bench):
                return

    def _run_ends(self) -> None:
        """Runs the ends of the loss interval: gains follow the loss, known only as precisely as it was
        measured."""
        chosen, between = choose(self.race, self.beside), self.question.loss_between
        if between is None or chosen is None or chosen.keep_now:
            return
        both = [self.now, self.race.named(chosen.use)]
        events, runs = self._events(), len(between) * self.question.effort.screening
        cost = runs * sum(events[candidate.name] for candidate in both)
        scenario = self._affordable(ENDS * self.question.effort.events / cost if cost else 1.0)
        for loss in between:
            race = Race(scenario.vary(changes(Point(loss=loss), self.path)), self.now)
            screen({None: race}, both, self.question.effort.screening, self.bench)
            self.ends.append(race)

    def _run_by_airtime(self) -> None:
        """Runs the recommended scheme where nodes serve their stations by airtime, if they do not already."""
        chosen, scenario = choose(self.race, self.beside), by_airtime(self.scenario)
        if chosen and scenario:
            self.fair = Race(scenario, self.now)
            screen(
                {None: self.fair}, [self.race.named(chosen.use)], self.question.effort.screening, self.bench
            )

    def _read_otherwise(self) -> None:
        """Races all deployable candidates again: one that is behind under one reading may be best under
        another."""
        effort, readings = self.question.effort, self.question.readings
        if not readings:
            return
        wanted = [c for c in self.race.ranked if c.deployable or c == self.now]
        runs = len(readings) * effort.screening
        cost = runs * sum(self._events()[candidate.name] for candidate in wanted)
        scenario = self._affordable(READ_OTHERWISE * effort.events / cost if cost else 1.0)
        self.read = {each: Race(scenario.vary(dict(each.keys)), self.now) for each in readings}
        screen(self.read, wanted, effort.screening, self.bench)
        until = self.bench.events + round(READ_OTHERWISE * effort.events)
        decide(self.read, Race.open_deployable, effort.screening, effort.most, self.bench, until)

    def _run_around(self) -> None:
        effort, race = self.question.effort, self.race
        grid = grid_of(self.path, rate_unknown=self.question.rate_unknown, packets_per_s=self.packets_per_s)
        chosen = choose(race, self.beside)
        use = race.named(chosen.use) if chosen else self.now
        wanted = [candidate for candidate in race.ranked if candidate.deployable]
        budget = AROUND * effort.events
        until = self.bench.events + round(budget)
        runs = len(grid.points()) * effort.around
        # Half of the events run all of them; the other half decides what is then open.
        must = [self.now, use, *self._best_otherwise()]
        tried, share = affordable(wanted, must, self._events(), budget / 2, runs)
        if share < self.shortest_s / self.scenario.duration_s / TOO_COSTLY:
            self._around_is_dear = True
            return
        scenario = self._affordable(share)
        races = {
            point: Race(scenario.vary(changes(point, self.path)), self.now)
            for point in grid.points()
            if not point.is_the_path
        }
        self.around = Around(grid, races)
        screen(races, tried, effort.around, self.bench)
        decide(races, lambda race: race.open_between(use), effort.around, effort.most, self.bench, until)

    def _best_otherwise(self) -> list[Candidate]:
        """Returns what other readings would recommend: near the path it may be best too."""
        chosen = [choose(race, Beside()) for race in self.read.values()]
        names = {found.use for found in chosen if found}
        return [candidate for candidate in self.race.candidates if candidate.name in names]

    def _affordable(self, share: float) -> Scenario:
        return (
            self.scenario
            if self.question.keep_duration or share >= 1
            else shortened(self.scenario, share, self.shortest_s)
        )

    def _events(self) -> dict[str, float]:
        return {name: fmean(run["events"] for run in runs) for name, runs in self.race.runs.items()}


def _entered_by_seed(scenario: Scenario) -> Scenario:
    """Makes each seed enter a recording elsewhere; otherwise all seeds would give the same run."""
    return scenario.vary(enter_recordings="by-seed") if is_recorded(document(scenario)) else scenario


def least_rtt_s(run: Run) -> float:
    return min((flow["rtt_min_ms"] or 0.0 for flow in run["flows"] if flow["measured"]), default=0.0) / 1000


def shortened(scenario: Scenario, share: float, shortest_s: float) -> Scenario:
    """Returns the scenario with a share of its duration: whole seconds from one up, at least `shortest_s`
    with all flows."""
    path = document(scenario)
    wanted_s = share * scenario.duration_s
    wanted_s = round(wanted_s) if wanted_s > 1 else round(wanted_s, 2)
    duration_s = min(scenario.duration_s, max(_last_start_s(path) + shortest_s, wanted_s))
    warmup_s = time_in_seconds(path["warmup"]) * duration_s / scenario.duration_s
    return scenario.vary({"duration": f"{duration_s:g}s", "warmup": f"{round(warmup_s * 1000)}ms"})


def _last_start_s(path: Document) -> float:
    ends: list[float] = [
        time_in_seconds(flow["start"]) + (flow["count"] - 1) * time_in_seconds(flow["stagger"])
        for flow in path["flow"]
    ]
    return max(ends)


def with_traffic(scenario: Scenario, kind: dict[str, Any]) -> Scenario:
    """Gives every measured flow this traffic."""
    flows = [{**flow, "traffic": kind} if flow["measure"] else flow for flow in document(scenario)["flow"]]
    return scenario.vary({"flow": flows})


def traffic(wanted: Traffic, pilot: Run) -> dict[str, Any]:
    """Returns the traffic of the measured flows, on a path with the pilot's goodput."""
    if wanted == "bulk":
        return {"kind": "unlimited"}
    interval_s = 8 * WEB_BYTES / (WEB_LOAD * max(pilot["bound_bps"], 1.0))
    return {
        "kind": "poisson",
        "size": f"{WEB_BYTES}B",
        "interval": f"{max(1, round(1000 * interval_s))}ms",
        "exponential": True,
    }
