"""Figures have room for axes and texts, whatever the names, their number and the size."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from conftest import runs_of
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from airtcp.facts.summary import summarise_all
from airtcp.showing.figures.draw import drawing
from airtcp.showing.figures.layout import AXES_SHARE
from airtcp.showing.figures.style import style
from airtcp.showing.report.figure import Axis, Line, Part
from airtcp.showing.report.figure import Figure as Data
from airtcp.showing.report.over_runs import goodput_bars

LONG = (
    "reno:profile=bsd-1998:timestamps=true+decoupling:error_control=paper:tunnel_queue=50:tunnel_delay=0s:"
    "loss_reports=false"
)
SLACK_PX = 2.0

schemes = st.lists(
    st.text(st.sampled_from("abcwmi019-_:+=. @/"), min_size=1, max_size=200),
    min_size=1,
    max_size=24,
    unique=True,
)
# A figure takes long to draw, and a smaller one that fails teaches no more.
once = [Phase.explicit, Phase.reuse, Phase.generate]
contexts = st.text(st.characters(codec="latin-1", exclude_categories=["C"]), max_size=120)
sizes = st.tuples(st.floats(1, 20), st.floats(1, 20))


def bars(names: list[str]) -> Data:
    runs = runs_of(**{name: [1.0, 1.2] for name in names})
    return goodput_bars(summarise_all(runs), runs, names[:1])


def curves(names: list[str]) -> Data:
    marks = [Line(name, [0, 1, 2], [1, 2, 1], scheme=name) for name in names]
    return Data("Curves", "", "", Axis("time [s]", time=True), Axis("MB"), marks)


def panels(names: list[str]) -> Data:
    marks = [
        Line(name, [0, 1, 2], [1, 2, 1], scheme=name, panel=name, part=part)
        for name in names
        for part in ("cwnd", "ssthresh")
    ]
    parts = [Part("cwnd", "line"), Part("ssthresh", "dash")]
    return Data(
        "Panels", "", "", Axis("time [s]", time=True), Axis("kB"), marks, parts, panels=names, height=120
    )


KINDS = {"bars": bars, "curves": curves, "panels": panels}


def drawn(data: Data, context: str = "", **options: Any) -> Figure:
    with style():
        return drawing(data, context, **options)


def boxes(found: Figure, *, names: bool = False) -> list[tuple[str, Any]]:
    """Texts of the figure, with `names` those of its rows too, and the boxes that they take, in pixels."""
    canvas: Any = FigureCanvasAgg(found)
    renderer = canvas.get_renderer()
    canvas.draw()
    texts = list(found.texts)
    for axes in found.axes:
        if axes.get_visible():
            legend = axes.get_legend()
            texts += legend.get_texts() if legend else []
            texts += [
                *axes.texts,
                axes.xaxis.label,
                axes.yaxis.label,
                *(legend.get_texts() if legend else []),
            ]
    if names:
        texts += found.axes[0].get_yticklabels()
    shown = [text for text in texts if text.get_text() and text.get_visible()]
    return [(text.get_text(), text.get_window_extent(renderer)) for text in shown]


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=12, phases=once)
@given(names=schemes, context=contexts)
def test_every_text_is_inside_and_the_axes_have_room(kind: str, names: list[str], context: str) -> None:
    found = drawn(KINDS[kind](names), context)
    width, height = found.bbox.width, found.bbox.height
    for text, box in boxes(found, names=kind == "bars"):
        assert box.x0 >= -SLACK_PX, text
        assert box.x1 <= width + SLACK_PX, text
        assert box.y0 >= -SLACK_PX, text
        assert box.y1 <= height + SLACK_PX, text
    for axes in found.axes:
        place = axes.get_position()
        assert place.width * width > 100
        assert place.height * height > 50


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=25, phases=once)
@given(names=schemes, size=sizes)
def test_any_size_can_be_drawn(kind: str, names: list[str], size: tuple[float, float]) -> None:
    found = drawn(KINDS[kind](names), "a scenario", size=size)
    assert tuple(found.get_size_inches()) == pytest.approx(size)
    inner = [axes.get_position() for axes in found.axes if axes.get_visible()]
    assert all(box.width > 0 and box.height > 0 for box in inner)
    across = max(box.x1 for box in inner) - min(box.x0 for box in inner)
    up = max(box.y1 for box in inner) - min(box.y0 for box in inner)
    assert min(across, up) >= AXES_SHARE - 1e-6


@settings(max_examples=12, phases=once)
@given(names=schemes)
def test_names_of_rows_do_not_meet(names: list[str]) -> None:
    found = drawn(bars(names))
    (axes,) = found.axes
    canvas: Any = FigureCanvasAgg(found)
    canvas.draw()
    rows = [label.get_window_extent(canvas.get_renderer()) for label in axes.get_yticklabels()]
    assert all(upper.y0 >= lower.y1 - SLACK_PX for upper, lower in pairwise(rows))


def test_a_long_name_is_whole() -> None:
    (axes,) = drawn(bars(["reno", LONG])).axes
    assert [label.get_text().replace("\n", "") for label in axes.get_yticklabels()] == ["reno", LONG]


def test_dollars_in_a_scenarios_name_are_no_formula() -> None:
    found = drawn(curves(["reno"]), r"from $5_{ to $10^")
    assert any(text.startswith("from") for text, _ in boxes(found))
