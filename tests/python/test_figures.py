"""Figures: a scheme's look, and what `plot` and `save_figures` draw."""

from __future__ import annotations

from pathlib import Path
from statistics import stdev

import numpy as np
import pytest
from matplotlib.figure import Figure

import airtcp
from airtcp.facts.routes import shared_rate_bps
from airtcp.facts.scenario import document
from airtcp.facts.stats import Estimate, estimate, student_t_quantile, values_to_decide
from airtcp.results.comparison import Comparison
from airtcp.showing.palette import LIGHT, OWN, PLACES, looks, places
from airtcp.showing.report.over_time import ABOVE, goodput_figure, runs_of

SCHEMES = ["bbr", "reno", "hybla"]


@pytest.fixture(scope="module")
def found() -> Comparison:
    return airtcp.compare(schemes=SCHEMES, seeds=2, duration="20s")


def test_a_scheme_has_its_colour_whatever_it_is_drawn_with() -> None:
    alone = looks(["bbr"])["bbr"]
    assert looks(["reno", "cubic", "bbr"])["bbr"] == looks(["mine:a=1", "cubic+split", "bbr"])["bbr"] == alone
    assert looks(["cubic+split"])["cubic+split"] == looks(["reno", "cubic+split", "bbr"])["cubic+split"]


def test_no_two_schemes_of_a_figure_look_alike() -> None:
    many = [*OWN, *(f"cubic:beta=0.{number}" for number in range(PLACES - len(OWN)))]
    assert len(set(places(many).values())) == PLACES
    seven = looks(["a", "b", "c", "d", "e", "f", "reno"])
    assert {look.colour for look in seven.values()} == set(LIGHT)


def _line_colours(drawn: Figure) -> list[str]:
    lines = [line for axes in drawn.axes for line in axes.lines]
    return [str(line.get_color()) for line in lines if np.size(line.get_xdata()) > 20]


def test_every_figure_of_a_comparison_has_the_schemes_colours(found: Comparison) -> None:
    own = {look.colour for look in looks(SCHEMES).values()}
    for name in ("sequence", "rtt-distribution", "goodput-over-time"):
        drawn = _line_colours(found.plot(name))
        assert own <= set(drawn), name
    assert set(_line_colours(found.plot("queue"))) == own


def test_schemes_time_and_size_are_what_was_asked_for(found: Comparison) -> None:
    drawn = found.plot("cwnd", schemes=["bbr"], time=(5, 8), size=(4, 2))
    (panel,) = drawn.axes
    assert panel.get_xlim() == (5, 8)
    assert tuple(drawn.get_size_inches()) == (4, 2)
    whole, part = found.plot("queue", schemes=["reno"]), found.plot("queue", schemes=["reno"], time=(10, 12))
    assert part.axes[0].get_ylim()[1] < whole.axes[0].get_ylim()[1]
    with pytest.raises(ValueError, match="no scheme `cubic` in this figure; there are: bbr, hybla, reno"):
        found.plot("cwnd", schemes=["cubic"])
    with pytest.raises(ValueError, match="over time"):
        found.plot("goodput", time=(0, 1))


def test_a_figure_goes_into_axes_of_ones_own(found: Comparison) -> None:
    mine = Figure()
    left, right = mine.subplots(1, 2)
    assert found.plot("sequence", ax=left) is mine
    found.plot("rtt-distribution", ax=right)
    assert left.get_xlabel() == "time [s]"
    assert right.lines
    with pytest.raises(ValueError, match="omit `ax`"):
        found.plot("cwnd", ax=left)


def test_a_figure_names_scenario_and_seed(found: Comparison) -> None:
    assert "lossy wireless link, seed 1" in {text.get_text() for text in found.plot("sequence").texts}


def test_losses_and_retransmissions_are_marked_in_the_sequence(found: Comparison) -> None:
    (legend,) = [axes.get_legend() for axes in found.plot("sequence").axes]
    assert legend is not None
    labels = {text.get_text() for text in legend.get_texts()}
    assert {*SCHEMES, "retransmission", "lost: corruption"} <= labels


def test_the_winners_bar_does_not_hide_its_interval(found: Comparison) -> None:
    (axes,) = found.plot("goodput").axes
    intervals = [each for each in axes.collections if each.get_path_effects()]
    assert len(intervals) == len(SCHEMES)
    assert all(each.get_zorder() > 3 for each in intervals)


def test_what_exceeds_the_links_rate_is_explained(found: Comparison) -> None:
    assert shared_rate_bps(document(found.scenario)) == 10e6
    runs = runs_of(found.first_series, 1, found.scenario)
    assert runs is not None
    figure = goodput_figure(runs)
    tops = [max(y for y in mark.y if isinstance(y, float)) for mark in figure.marks if mark.scheme]
    (rule,) = [mark for mark in figure.marks if not mark.scheme]
    assert list(rule.y) == [10.0]
    assert (ABOVE in figure.caption) == (max(tops) > 10)


def test_files_in_the_formats_that_were_asked_for(found: Comparison, tmp_path: Path) -> None:
    paths = found.save_figures(tmp_path, ["pdf"])
    assert {path.suffix for path in paths} == {".pdf"}
    assert all(b"/FontFile2" in path.read_bytes() for path in paths), "TrueType, inside the file"
    again = found.save_figures(tmp_path / "again", ["pdf"])
    assert [path.read_bytes() for path in paths] == [path.read_bytes() for path in again]


def test_how_many_seeds_decide() -> None:
    values = [0.5, 1.5, -0.2, 1.0]
    open_one = estimate(values)
    assert open_one.includes(0)
    enough = values_to_decide(open_one, 100)
    assert enough is not None
    half_widths = {n: student_t_quantile(0.975, n - 1) * stdev(values) / n**0.5 for n in (enough - 1, enough)}
    assert half_widths[enough] < open_one.mean <= half_widths[enough - 1]
    assert values_to_decide(Estimate(0.001, 1.0, 5), 100) is None
    assert values_to_decide(Estimate(1.0, None, 1), 100) is None


def test_a_sweep_without_a_winner_names_none() -> None:
    loss = {"wireless.loss.ber": [1e-6, 2e-6]}
    swept = airtcp.sweep(None, loss, schemes=["reno", "reno:pacing=false"], seeds=2, duration="2s")
    assert swept.verdict.startswith("No scheme is clearly best in goodput at any of 2 points.")
    assert "0 of 2" not in swept.verdict


def test_a_comparison_samples_as_often_as_it_is_told_to() -> None:
    often, seldom = (
        airtcp.compare(schemes=["reno"], seeds=1, duration="2s", interval_s=interval_s)
        for interval_s in (0.0, 0.5)
    )
    assert often.series.height > 10 * seldom.series.height
    assert seldom.series["time_s"].to_list() == pytest.approx([0.5, 1.0, 1.5, 2.0])


def test_a_sweep_shows_its_progress(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("airtcp.running.progress.EVERY_S", -1.0)
    told: list[int] = []
    loss = {"wireless.loss.ber": [1e-6, 2e-6]}
    airtcp.sweep(
        None,
        loss,
        schemes=["reno"],
        seeds=2,
        duration="1s",
        progress=True,
        on_progress=lambda p: told.append(p.done),
    )
    assert told[-1] == 4
    assert "sweeping: 4 of 4 runs" in capsys.readouterr().err


def test_runs_stand_beside_each_other_on_common_axes(found: Comparison) -> None:
    lossless = airtcp.run(found.scenario.vary({"wireless.loss": {}}), "bbr")
    drawn = found.plot("cwnd", beside=[lossless])
    names = {text.get_text() for axes in drawn.axes for text in axes.texts}
    assert {*SCHEMES, "bbr (2)"} <= names
    first, *others = [axes for axes in drawn.axes if axes.get_visible()]
    assert all(axes.get_ylim() == first.get_ylim() for axes in others)
    with pytest.raises(ValueError, match="there is no figure `goodput`"):
        found.plot("goodput", beside=[lossless])
