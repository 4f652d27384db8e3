"""What every result can do alike: figures of every size and format, pages, files; and what it refuses."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

import pytest
from matplotlib.figure import Figure

import airtcp
from airtcp.facts.series import write_frame
from airtcp.results.shown import USUAL_FORMATS, Format, Shown
from airtcp.results.side_by_side import SideBySide
from airtcp.showing.figures import figures_of
from airtcp.showing.report.figure import Heat
from airtcp.showing.report.sweep import _scheme_map
from airtcp.sweep.panels import panels

SCHEMES = ["reno", "cubic:beta=0.7:profile=bsd-1998:timestamps=true:rto.min=1s"]
BER = {"wireless.loss.ber": ["1e-7", "1e-5"]}
DELAY = {"wireless.delay": ["5ms", "40ms"]}
QUEUE = {"wireless.queue.discipline": ["droptail", "codel"]}
SIZES = [None, (1.0, 1.0), (3.0, 2.0), (12.0, 4.0), (4.0, 12.0)]
METHODS = ("plot", "save_figures", "report", "save")


def swept(**options: object) -> airtcp.SweepResult:
    return airtcp.sweep(None, schemes=SCHEMES, seeds=2, duration="1s", **options)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def results() -> dict[str, Shown]:
    compared = airtcp.compare(schemes=SCHEMES, seeds=2, duration="3s")
    return {
        "comparison": compared,
        "run": airtcp.run(scheme=SCHEMES[1], duration="3s"),
        "side by side": SideBySide(compared, compared),
        "curves": swept(vary=BER),
        "names": swept(vary=QUEUE),
        "map": swept(vary=BER | DELAY),
        "maps": swept(vary=BER | DELAY | QUEUE),
        "sample": swept(vary={"wireless.loss.ber": "1e-7..1e-5", "wireless.delay": "5ms..40ms"}, lhs=4),
        "overview": swept(
            vary={"wireless.loss.ber": "1e-7..1e-5", "wireless.delay": "5ms..40ms"} | QUEUE, lhs=4
        ),
    }


KINDS = ("comparison", "run", "side by side", "curves", "names", "map", "maps", "sample", "overview")


def test_every_result_is_tested() -> None:
    public = [getattr(airtcp, name) for name in airtcp.__all__]
    shown = {kind for kind in public if inspect.isclass(kind) and issubclass(kind, Shown)}
    assert {kind.__name__ for kind in shown} == {"Comparison", "RunResult", "SideBySide", "SweepResult"}


@pytest.mark.parametrize("method", METHODS)
def test_methods_have_the_same_options(method: str) -> None:
    kinds = Shown.__subclasses__()
    assert len(kinds) == 4
    for kind in kinds:
        options = inspect.signature(getattr(kind, method)).parameters
        assert {"self", "formats"} <= set(options) or method in ("plot", "report")
        if "formats" in options:
            assert options["formats"].default == USUAL_FORMATS
    signatures = {str(inspect.signature(getattr(kind, method))) for kind in kinds}
    # A run's record has no place for a command.
    assert len(signatures) == (2 if method == "save" else 1)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", SIZES)
def test_every_figure_is_drawn_in_every_size(
    results: dict[str, Shown], kind: str, size: tuple[float, float] | None
) -> None:
    found = results[kind]
    for name in figures_of(found):
        drawn = found.plot(name, size=size)
        drawn.draw_without_rendering()
        if size:
            assert tuple(drawn.get_size_inches()) == size


def drawn_or_refused(found: Shown, name: str, options: Mapping[str, Any]) -> Figure | None:
    """None if the figure says that the option does not apply."""
    try:
        return found.plot(name, **options)
    except ValueError as error:
        said = str(error)
    assert re.search("over time|omit `ax`", said), (name, options)
    return None


@pytest.mark.parametrize("kind", KINDS)
def test_every_option_of_a_figure_applies_or_is_refused(results: dict[str, Shown], kind: str) -> None:
    found = results[kind]
    for name in figures_of(found):
        axes = Figure().subplots()
        for options in ({"time": (0, 1)}, {"ax": axes}, {"schemes": [SCHEMES[1]]}):
            drawn = drawn_or_refused(found, name, options)
            if drawn:
                drawn.draw_without_rendering()
                assert "ax" not in options or drawn is axes.figure
        with pytest.raises(ValueError, match="no scheme `vegas` in this figure; there are: "):
            found.plot(name, schemes=["vegas"])
    with pytest.raises(ValueError, match="there is no figure `nonsense`; there are: "):
        found.plot("nonsense")


@pytest.mark.parametrize("kind", KINDS)
def test_every_format_is_written_and_others_are_refused(
    results: dict[str, Shown], kind: str, tmp_path: Path
) -> None:
    found = results[kind]
    wanted: Sequence[Format]
    for wanted in ([], get_args(Format)):
        folder = tmp_path / "-".join(["figures", *wanted])
        paths = found.save_figures(folder, wanted)
        assert {path.suffix[1:] for path in paths} == set(wanted)
        assert sorted(paths) == sorted(path for path in folder.rglob("*.*"))
    for wrong, said in ((["jpg"], "jpg"), ("pdf", "pdf"), ([3], "3")):
        with pytest.raises(ValueError, match=f'unknown "{said}"; give a list of png, svg, pdf'):
            found.save_figures(tmp_path / "not", wrong)  # type: ignore[arg-type]
    assert not (tmp_path / "not").exists()
    saved = found.save(tmp_path / "all", formats=["pdf"])  # type: ignore[attr-defined]
    assert all(path.exists() for path in saved)
    assert {path.suffix for path in saved} <= {".json", ".parquet", ".pdf"}


@pytest.mark.parametrize("kind", KINDS)
def test_a_report_is_a_page_whatever_its_name_promises(
    results: dict[str, Shown], kind: str, tmp_path: Path
) -> None:
    found = results[kind]
    assert found.report(tmp_path / "r.HTML").read_text().startswith("<!DOCTYPE html>")
    for name in ("r.pdf", "r", "r.html.zip"):
        with pytest.raises(ValueError, match=r"a report is an HTML page; name a file ending in \.html"):
            found.report(tmp_path / name)
        assert not (tmp_path / name).exists()
    assert repr(found)
    assert found._repr_html_().startswith("<div>")


@pytest.mark.parametrize("size", [(0, 3), (3, 0.5), (1000, 2), (3,), (1, 2, 3), (float("nan"), 3)])
def test_a_size_that_is_none_is_refused(results: dict[str, Shown], size: tuple[float, float]) -> None:
    for kind in KINDS:
        with pytest.raises(ValueError, match="give width and height in inches"):
            results[kind].plot(size=size)


def test_other_files_are_what_their_names_promise(results: dict[str, Shown], tmp_path: Path) -> None:
    found = results["run"]
    assert isinstance(found, airtcp.RunResult)
    write_frame(found.series, tmp_path / "series.CSV")
    assert (tmp_path / "series.CSV").read_text().startswith("time_s,")
    with pytest.raises(ValueError, match=r"name a file ending in \.parquet or \.csv"):
        write_frame(found.series, tmp_path / "series.json")
    with pytest.raises(ValueError, match=r"name a file ending in \.pcapng"):
        airtcp.run(duration="1s", pcap=tmp_path / "p.pcap")


def test_heat_maps_of_a_sweep_have_one_scale(results: dict[str, Shown], tmp_path: Path) -> None:
    found = results["map"]
    assert isinstance(found, airtcp.SweepResult)
    (panel,) = panels(found.plan)
    marks = [mark for scheme in SCHEMES for mark in _scheme_map(found, scheme, panel).marks]
    heats = [mark for mark in marks if isinstance(mark, Heat)]
    assert len(heats) == len(SCHEMES)
    highest = max(cell or 0.0 for heat in heats for row in heat.z for cell in row)
    assert {heat.ends for heat in heats} == {(0.0, highest)}
    assert {heat.z_label for heat in heats} == {"goodput [Mbit/s]"}
    scales = {image.get_clim() for axes in found.plot("schemes").axes for image in axes.get_images()}
    assert [low for low, _ in scales] == [0.0]
    assert [high for _, high in scales] == pytest.approx([highest])
    page = found.report(tmp_path / "r.html").read_text()
    (data,) = re.findall(r'id="report-data">(.*?)</script>', page, re.DOTALL)
    shown = [mark for figure in json.loads(data)["figures"].values() for mark in figure["marks"]]
    drawn = [mark["ends"] for mark in shown if mark["kind"] == "heat" and "winners" not in mark]
    assert drawn == [[0, pytest.approx(highest, rel=1e-4)]] * len(SCHEMES)
