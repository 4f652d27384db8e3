"""Runs every scheme on every paper's link and on present-day links, which none of the papers does.

Each scheme runs alone, then beside one Reno and beside one CUBIC flow, all with today's stack (profile
`linux`): two columns differ only in the link, two rows only in the scheme.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypedDict

import airtcp
from airtcp._engine import schemes, version
from airtcp.facts.competition import COMPETITOR, competitor_bps, kept
from airtcp.facts.scheme import Scheme
from airtcp.facts.stats import CONFIDENCE, Estimate
from airtcp.facts.summary import summarise_all
from airtcp.results.document import plain, schema_of
from airtcp_studies.frame.context import Case, Context, Runs
from airtcp_studies.frame.document import Value
from airtcp_studies.frame.find import links

FLOW = "download"
BASE = "reno"
COMPETITORS = ("reno", "cubic")
COMPOSITIONS = (
    "rto-m:m=12+gbn+split",
    "westwood-vt+packet-control",
    "cubic+decoupling",
    "cubic+snoop",
    "cubic+eln",
    "cubic+split",
    "bbr+split",
)
"""Paper 003's way to deploy its methods; a sender and a filter that help each other; and the parts of the
path that help today's sender."""

READY_MADE = ("3g", "lte", "geo-satellite", "wifi")
AS_PROPOSED = {"rto-m": "rto-m:m=12"}
"""Replaces the bare name: the middle of what paper 003 finds best (§V: 10 to 15); the default is its lower
end."""
SEEDS = 3
DURATION = "120s"


class Cell(TypedDict):
    """One scheme on one link. Counts are means per run.

    `reno_keeps` and `cubic_keeps` are the goodput of a competing flow of that kind beside the scheme, over
    its goodput beside another flow of its kind: 1 is as fair as to its own kind. If a proxy splits the
    connection, timeouts are those between sender and proxy; RTTs and spurious timeouts are left out.
    """

    scheme: str
    goodput_bps: Value
    share_of_bound: float | None
    rtt_p95_ms: float | None
    timeouts: float
    timeouts_spurious: float | None
    reno_keeps: Value
    cubic_keeps: Value


class CrossLink(TypedDict):
    """All schemes on one link. `scenario` is its text, as `airtcp compare` reads it."""

    name: str
    scenario: str
    schemes: list[Cell]


class Cross(TypedDict):
    """The results of `airtcp paper cross`."""

    format: Literal[1]
    airtcp: str
    confidence: float
    duration: str
    seeds: int
    quick: bool
    links: list[CrossLink]


@dataclass(frozen=True)
class Plan:
    """Which schemes to compare on which links."""

    paths: Mapping[str, str]
    """Scenario text by the link's name."""
    schemes: Sequence[str]
    duration: str = DURATION


def all_paths() -> dict[str, str]:
    """Returns the papers' links, and the present-day access networks among the ready-made scenarios.

    The latter are in the source tree, and are left out without one.
    """
    folder = Path(airtcp.__file__).resolve().parents[2] / "scenarios"
    files = {name: folder / f"{name}.toml" for name in READY_MADE}
    today = {name: file.read_text(encoding="utf-8") for name, file in files.items() if file.exists()}
    return {name: _one_flow(text) for name, text in {**links(), **today}.items()}


def all_schemes() -> list[str]:
    """Returns every name in the catalogue, the base first, then the combinations."""
    names = [AS_PROPOSED.get(scheme["name"], scheme["name"]) for scheme in schemes()]
    return [BASE, *(name for name in names if name != BASE), *COMPOSITIONS]


def cross(plan: Plan, ctx: Context) -> Cross:
    """Runs everything. Raises ScenarioError and KeyboardInterrupt like `Context.sweep`."""
    sets = {"duration": plan.duration, "profile": "linux"}
    names = list(dict.fromkeys([*COMPETITORS, *plan.schemes]))
    found = ctx.sweep(
        {
            (path, rival): Case(_beside(text, rival), names, sets)
            for path, text in plan.paths.items()
            for rival in (None, *COMPETITORS)
        }
    )
    return {
        "format": 1,
        "airtcp": version(),
        "confidence": CONFIDENCE,
        "duration": plan.duration,
        "seeds": ctx.forced_seeds or ctx.seeds,
        "quick": ctx.quick,
        "links": [
            _link(
                path,
                text,
                plan.schemes,
                found[path, None],
                {rival: found[path, rival] for rival in COMPETITORS},
            )
            for path, text in plan.paths.items()
        ],
    }


def cross_schema() -> dict[str, Any]:
    return schema_of(Cross)


def _link(name: str, text: str, wanted: Sequence[str], alone: Runs, beside: Mapping[str, Runs]) -> CrossLink:
    by_scheme = {summary.scheme: summary for summary in summarise_all(alone.found.runs)}
    cells = [
        {
            "scheme": scheme,
            "goodput_bps": by_scheme[scheme].goodput,
            "share_of_bound": by_scheme[scheme].share_of_bound,
            "rtt_p95_ms": by_scheme[scheme].rtt_p95_ms,
            "timeouts": by_scheme[scheme].timeouts,
            "timeouts_spurious": None if Scheme(scheme).is_split else by_scheme[scheme].spurious_timeouts,
            **{f"{rival}_keeps": _kept(runs, scheme, rival) for rival, runs in beside.items()},
        }
        for scheme in wanted
    ]
    document: CrossLink = {"name": name, "scenario": text, "schemes": plain(cells)}
    return document


def _kept(beside: Runs, scheme: str, rival: str) -> Estimate:
    found = kept(beside.values(scheme, competitor_bps), beside.values(rival, competitor_bps))
    return Estimate(math.nan, None, 0) if found is None else found


def _one_flow(scenario: str) -> str:
    """Writes out its flow, so that another can be added."""
    return scenario if "[[flow]]" in scenario else f'{scenario}\n[[flow]]\nname = "{FLOW}"\n'


def _beside(scenario: str, rival: str | None) -> str:
    if rival is None:
        return scenario
    return f'{scenario}\n[[flow]]\nname = "{COMPETITOR}"\nscheme = "{rival}"\nmeasure = false\n'
