"""The five papers' ideas on the wireless links of today, whose link layers repair most losses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any, Literal, TypedDict

from airtcp._engine import version
from airtcp.facts.airtime import share
from airtcp.facts.records import Run
from airtcp.facts.stats import CONFIDENCE, estimate
from airtcp.facts.summary import goodput_bps, mean_rtt, measured
from airtcp.results.document import plain, schema_of
from airtcp_studies.air.airs import AIRS, IDEAS, QUEUES, Air, Idea, schemes
from airtcp_studies.air.judge import LEAST_DELAY, LEAST_GOODPUT, Verdict, judge
from airtcp_studies.frame.context import Case, Context, Runs
from airtcp_studies.frame.document import Value

SEEDS = 20
REFERENCE = "cubic"
"""The scheme under which a link is described: today's default."""
QUICK_DURATION = "6s"


class AirCell(TypedDict):
    """One idea on one link. The differences are shares of what the scheme without it has, seed by seed.

    `queue` is in front of the radio; the scenario's own if it is empty.
    """

    idea: str
    scheme: str
    base: str
    queue: str
    of_paper: bool
    goodput_bps: Value
    goodput: Value | None
    delay: Value | None
    rtt_p95_ms: float | None
    lost_queue: float
    timeouts: float
    timeouts_spurious: float
    verdict: Verdict


class AirLink(TypedDict):
    """One link; `scenario` is its text, as `airtcp compare` reads it.

    What CUBIC meets there describes it: shares are of its data packets, `retried` is of all frames.
    """

    name: str
    about: str
    scenario: str
    duration_s: float
    goodput_bps: Value
    rtt_p50_ms: float | None
    rtt_p95_ms: float | None
    lost_radio: float
    lost_outage: float
    lost_queue: float
    retried: float | None
    ideas: list[AirCell]


class AirOut(TypedDict):
    """The results of `airtcp paper air`."""

    format: Literal[1]
    airtcp: str
    confidence: float
    seeds: int
    quick: bool
    least_goodput: float
    least_delay: float
    links: list[AirLink]


def air(ctx: Context) -> AirOut:
    """Runs everything. Raises ScenarioError and KeyboardInterrupt like `Context.sweep`."""
    found = ctx.sweep({(each.name, queue): _case(each, queue, ctx) for each in AIRS for queue in QUEUES})
    document: AirOut = {
        "format": 1,
        "airtcp": version(),
        "confidence": CONFIDENCE,
        "seeds": ctx.forced_seeds or ctx.seeds,
        "quick": ctx.quick,
        "least_goodput": LEAST_GOODPUT,
        "least_delay": LEAST_DELAY,
        "links": [_link(each, {queue: found[each.name, queue] for queue in QUEUES}) for each in AIRS],
    }
    return plain(document)  # type: ignore[no-any-return]


def air_schema() -> dict[str, Any]:
    return schema_of(AirOut)


def _case(each: Air, queue: str, ctx: Context) -> Case:
    sets = {**each.with_queue(queue), **ctx.pick({}, quick={"duration": QUICK_DURATION})}
    return Case(each.text(), schemes(queue), sets)


def _link(each: Air, found: Mapping[str, Runs]) -> AirLink:
    runs = found[""].of(REFERENCE)
    return {
        "name": each.name,
        "about": each.about,
        "scenario": each.text(),
        "duration_s": runs[0]["duration_s"],
        "goodput_bps": plain(estimate([goodput_bps(run) for run in runs])),
        "rtt_p50_ms": mean_rtt(runs, "rtt_p50_ms"),
        "rtt_p95_ms": mean_rtt(runs, "rtt_p95_ms"),
        "lost_radio": _of_data(runs, "losses_corruption"),
        "lost_outage": _of_data(runs, "losses_outage"),
        "lost_queue": _of_data(runs, "losses_congestion"),
        "retried": _retried(runs),
        "ideas": [_cell(idea, found[idea.queue]) for idea in IDEAS],
    }


def _cell(idea: Idea, found: Runs) -> AirCell:
    runs = found.of(idea.scheme)
    judged = judge(runs, found.of(idea.base))
    return {
        "idea": idea.name,
        "scheme": idea.scheme,
        "base": idea.base,
        "queue": idea.queue,
        "of_paper": idea.of_paper,
        "goodput_bps": plain(estimate([goodput_bps(run) for run in runs])),
        "goodput": plain(judged.goodput),
        "delay": plain(judged.delay),
        "rtt_p95_ms": mean_rtt(runs, "rtt_p95_ms"),
        "lost_queue": _of_data(runs, "losses_congestion"),
        "timeouts": fmean(_total(run, "timeouts") for run in runs),
        "timeouts_spurious": fmean(_total(run, "timeouts_spurious") for run in runs),
        "verdict": judged.verdict,
    }


def _of_data(runs: Sequence[Run], key: str) -> float:
    sent = sum(_total(run, "data_packets_sent") for run in runs)
    return sum(_total(run, key) for run in runs) / sent


def _total(run: Run, key: str) -> int:
    return sum(flow[key] for flow in measured(run))  # type: ignore[literal-required]


def _retried(runs: Sequence[Run]) -> float | None:
    """Returns the share of the frames on the air that are repetitions; None without a shared medium."""
    links = [link for run in runs for link in run["links"] if "retries" in link]
    return share(sum(link["retries"] for link in links), sum(link["frames_sent"] for link in links))
