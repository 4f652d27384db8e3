"""The report of a sweep."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from airtcp.facts.numbers import interval, percent
from airtcp.facts.stats import CONFIDENCE
from airtcp.facts.units import rate_scale
from airtcp.showing.report.blocks import Block, Section, Table, Text
from airtcp.showing.report.facts import assumed, repeat_section
from airtcp.showing.report.figure import Axis, Band, Dots, Figure, Heat, Line, Mark, Part
from airtcp.showing.report.page import Page
from airtcp.sweep.panels import Panel, panels, shown, values_of
from airtcp.sweep.plan import Axis as Key
from airtcp.sweep.plan import Point
from airtcp.sweep.result import SweepResult
from airtcp.sweep.summary import GOODPUT, Judged

MAX_ROWS = 300
"""Limit on the points in a table; the data have all."""
CELL_PX = 34
INTERVALS = "intervals"


def sweep_page(found: SweepResult, command: str | None = None) -> Page:
    """`command` repeats the sweep. Raises ValueError if nothing has run."""
    if not found.judged.estimates:
        raise ValueError("nothing to report: no run has finished")
    schemes = list(found.plan.schemes)
    blocks: list[Block] = [
        Section("Summary", list(_summary(found))),
        *assumed(found.fitted),
        Section("Who is best where", list(_best(found)), schemes=schemes),
    ]
    maps = panels(found.plan)
    if len(maps) == 1:
        each = [_scheme_map(found, scheme, maps[0]) for scheme in schemes]
        blocks.append(Section("What each scheme reaches", each))
    blocks += [
        Section("The points", [_points(found)], folded=True),
        repeat_section(found.scenario, command),
    ]
    name = found.scenario.name or "a scenario"
    keys = ", ".join(f"{axis.name} = {axis.spec}" for axis in found.plan.axes)
    return Page(
        title=f"{name}: a sweep",
        subtitle=f"{keys}; {found.plan.size}",
        summary=found.verdict or f"{schemes[0]} at {len(found.plan.points)} points.",
        blocks=blocks,
    )


def _summary(found: SweepResult) -> Iterator[Block]:
    if found.interrupted:
        yield Text(f"Interrupted: {found.frame.height} of {found.plan.runs} runs.", "warning")
    failed = found.frame["error"].count()
    if failed:
        yield Text(f"{failed} of {found.frame.height} runs failed: {found.errors[0]}", "warning")
    yield Table(
        "Standing of the schemes over all points. Of the best: share of the best scheme's value.",
        ["scheme", "best alone\npoints", "tied for the best\npoints", "of the best, mean\n%", "at worst\n%"],
        [
            [row.scheme, str(row.wins), str(row.ties), percent(row.mean_share), percent(row.worst_share)]
            for row in found.judged.standings
        ],
    )


def _points(found: SweepResult) -> Table:
    plan, summary = found.plan, found.judged
    known = [point for point in plan.points if point.number in summary.judged]
    listed = known[:MAX_ROWS]
    cut = f" The first {MAX_ROWS} of {len(known)}." if len(listed) < len(known) else ""
    scale, unit = _unit(found)
    rows = []
    for point in listed:
        judged = summary.judged[point.number]
        reached = summary.estimates[point.number, judged.best].scaled(1 / scale)
        values = [value.text for value in point.values]
        rows.append(
            [str(point.number), *values, ", ".join(judged.leaders), interval(reached), _ahead(judged)]
        )
    return Table(
        f"The best {summary.goal.name} at each point; several schemes mean a tie.{cut}",
        [
            "point",
            *(axis.name for axis in plan.axes),
            "best",
            f"{summary.goal.name}\n{unit}",
            "lead over the next\n%",
        ],
        rows,
        left=[len(plan.axes) + 1],
    )


def _best(found: SweepResult) -> Iterator[Block]:
    maps = panels(found.plan)
    if len(found.plan.axes) == 1:
        yield _curves(found, 0)
    elif maps:
        yield _best_map(found, maps)
    else:
        if len(found.plan.axes) == 2:
            yield _sample(found)
        for place in range(len(found.plan.axes)):
            yield _curves(found, place)


def _curves(found: SweepResult, place: int) -> Figure:
    """Draws every scheme over one key, as a line if that is the only key."""
    plan, summary, key = found.plan, found.judged, found.plan.axes[place]
    scale, unit = _unit(found)
    marks, bands = list[Mark](), list[Mark]()
    ordered = sorted(plan.points, key=lambda point: _order(found, place, point))
    for scheme in plan.schemes:
        known = [point for point in ordered if (point.number, scheme) in summary.estimates]
        x = [_place(key, point, place) for point in known]
        here = [summary.estimates[point.number, scheme].scaled(1 / scale) for point in known]
        means = [each.mean for each in here]
        if len(plan.axes) == 1 and key.is_number:
            marks.append(Line(scheme, x, means, scheme=scheme))
            low, high = ([getattr(each, side) or each.mean for each in here] for side in ("low", "high"))
            bands.append(Band(scheme, x, low, scheme=scheme, high=high, part=INTERVALS))
        else:
            notes = [
                f"{plan.describe(point)}: {interval(each)}" for point, each in zip(known, here, strict=True)
            ]
            marks.append(Dots(scheme, x, means, scheme=scheme, notes=notes))
    if summary.goal == GOODPUT and len(plan.axes) == 1 and key.is_number:
        bounds = [summary.bound_bps.get(point.number, 0.0) / scale for point in ordered]
        marks.append(Line("bound", [_place(key, point, place) for point in ordered], bounds, dash="dash"))
    runs = len(plan.seeds)
    means_of = f"Mean of {runs} runs and its {percent(CONFIDENCE, 0)} % interval. " if runs > 1 else ""
    others = "The other keys vary too; each dot is a point of the sweep." if len(plan.axes) > 1 else ""
    return Figure(
        f"Over {key.name}",
        f"{means_of}{others}",
        f"{summary.goal.name} of each scheme over {key.name}. {found.verdict}",
        Axis(key.label, log=_is_log(found, place), categories=not key.is_number),
        Axis(f"{summary.goal.name} [{unit}]", from_zero=True),
        # Lines are drawn over all bands.
        [*bands, *marks],
        parts=[Part(INTERVALS)] if bands else [],
    )


def _best_map(found: SweepResult, maps: Sequence[Panel]) -> Figure:
    plan, summary = found.plan, found.judged
    across, up = ([shown(plan.axes[axis], value) for value in values_of(plan, axis)] for axis in (0, 1))
    # The page puts the first category of a vertical axis at the top.
    up.reverse()
    titles = [panel.title for panel in maps] if len(maps) > 1 else []
    marks = []
    for panel in maps:
        cells = [[summary.judged.get(number) for number in row] for row in reversed(panel.points)]
        marks.append(
            Heat(
                f"best {summary.goal.name}",
                across,
                up,
                panel=panel.title if titles else None,
                z=[[_margin(cell) for cell in row] for row in cells],
                z_label="lead over the next, %",
                texts=[[_text(cell) for cell in row] for row in cells],
                winners=[["" if cell is None else cell.best for cell in row] for row in cells],
                unsure=[[cell is not None and bool(cell.tied) for cell in row] for row in cells],
            )
        )
    return Figure(
        f"The best {summary.goal.name}",
        "Each cell is coloured by the scheme that leads there and shows its lead over the next. Pale, with a "
        "question mark: no statistically clear winner.",
        found.verdict,
        Axis(plan.axes[0].label, categories=True),
        Axis(plan.axes[1].label, categories=True),
        marks,
        panels=titles,
        height=110 + CELL_PX * len(up),
    )


def _scheme_map(found: SweepResult, scheme: str, panel: Panel) -> Figure:
    plan, summary = found.plan, found.judged
    scale, unit = _unit(found)
    across, up = ([shown(plan.axes[axis], value) for value in values_of(plan, axis)] for axis in (0, 1))
    # The page puts the first category of a vertical axis at the top.
    up.reverse()
    known = [[summary.estimates.get((number, scheme)) for number in row] for row in reversed(panel.points)]
    z = [[None if cell is None else cell.mean / scale for cell in row] for row in known]
    # All schemes' maps have one scale.
    highest = max(each.mean for each in summary.estimates.values()) / scale
    return Figure(
        scheme,
        "",
        f"{summary.goal.name} of {scheme} over {plan.axes[0].name} and {plan.axes[1].name}.",
        Axis(plan.axes[0].label, categories=True),
        Axis(plan.axes[1].label, categories=True),
        [Heat(scheme, across, up, z=z, z_label=f"{summary.goal.name} [{unit}]", ends=(0.0, highest or 1.0))],
        height=110 + CELL_PX * len(up),
    )


def _sample(found: SweepResult) -> Figure:
    plan, summary = found.plan, found.judged
    marks = list[Mark]()
    for scheme in plan.schemes:
        led = [
            p for p in plan.points if p.number in summary.judged and summary.judged[p.number].best == scheme
        ]
        x, y = ([_place(plan.axes[axis], point, axis) for point in led] for axis in (0, 1))
        notes = [f"{plan.describe(p)}: {_text(summary.judged[p.number])}" for p in led]
        marks.append(Dots(scheme, x, y, scheme=scheme, notes=notes))
    return Figure(
        f"The best {summary.goal.name}",
        "Each dot is a point, coloured by its best scheme, or by the first of a tie.",
        found.verdict,
        Axis(plan.axes[0].label, log=_is_log(found, 0), categories=not plan.axes[0].is_number),
        Axis(plan.axes[1].label, log=_is_log(found, 1), categories=not plan.axes[1].is_number),
        marks,
    )


def _unit(found: SweepResult) -> tuple[float, str]:
    if found.judged.goal != GOODPUT:
        return 1.0, "s"
    return rate_scale([each.mean for each in found.judged.estimates.values()])


def _order(found: SweepResult, place: int, point: Point) -> float:
    number = point.values[place].number
    return number if found.plan.axes[place].is_number and number is not None else point.number


def _place(key: Key, point: Point, place: int) -> float | str:
    value = point.values[place]
    if key.unit is None or value.number is None:
        return value.text
    return value.number / key.unit.size


def _is_log(found: SweepResult, place: int) -> bool:
    numbers = [point.values[place].number or 0.0 for point in found.plan.points]
    return found.plan.axes[place].logarithmic and min(numbers) > 0


def _margin(judged: Judged | None) -> float | None:
    return None if judged is None or judged.margin is None else 100 * judged.margin.mean


def _ahead(judged: Judged) -> str:
    return "–" if judged.margin is None else interval(judged.margin.scaled(100), digits=1)


def _text(judged: Judged | None) -> str:
    if judged is None:
        return ""
    lead = judged.best if judged.margin is None else f"{judged.best} +{100 * judged.margin.mean:.0f} %"
    return f"{lead} ?" if judged.tied else lead
