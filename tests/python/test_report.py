"""The report without a browser: the same bytes, only text from others, nothing left out in silence."""

from __future__ import annotations

import json
import re
from html import escape
from pathlib import Path

import polars as pl
import pytest
from conftest import SHORT, Cli, runs_of
from hypothesis import given, settings
from hypothesis import strategies as st

import airtcp
from airtcp.facts.failure import Failure
from airtcp.showing.report import Axis, Block, Facts, Figure, Line, List, Page, Section, Source, Table, Text
from airtcp.showing.report.comparison import comparison_page
from airtcp.showing.report.curve import CURVE_POINTS, cumulative, thinned
from airtcp.showing.report.events import MOST_MARKS, Marks

FOREIGN = "</script></style><script>alert(1)</script><img src='https://example.org/x'>\u2028\"&"


def everything(text: str) -> Page:
    """A page with `text` in all its places."""
    figure = Figure(
        text,
        text,
        text,
        Axis(text),
        Axis(text),
        [Line(text, [0, 1], [1, 2], scheme=text, part=text, panel=text)],
    )
    blocks: list[Block] = [
        Text(text, "warning"),
        List([text, (text, text)]),
        Facts({text: text}),
        Table(text, [text, f"{text}\n{text}"], [[text, text]]),
        Source(text, text, text),
        figure,
    ]
    return Page(text, text, [Section(text, blocks, schemes=[text])], subtitle=text)


def test_text_from_others_is_never_markup() -> None:
    html = everything(FOREIGN).html()
    assert "<img" not in html
    assert "alert(1)</script>" not in html
    assert html.count("</script>") == 3
    assert html.count("</style>") == 1
    data = re.search(r'id="report-data">(.*?)</script>', html, re.DOTALL)
    assert data is not None
    (figure,) = json.loads(data[1])["figures"].values()
    assert figure["title"] == figure["marks"][0]["name"] == FOREIGN


def test_a_page_names_no_place_to_fetch_from() -> None:
    """What the script of Plotly could ask for, the page's policy refuses."""
    html = everything("plain").html()
    without_library = re.sub(r'id="plotly">[^<]*<', "", html)
    addresses = set(re.findall(r"https?://[^\s\"'<>)]+", without_library))
    assert addresses <= {"http://www.w3.org/2000/svg"}
    assert "default-src 'none'" in html


def test_the_same_comparison_gives_the_same_page(cli: Cli) -> None:
    for name in ("a.html", "b.html"):
        said = cli.ok("compare", *SHORT, "--report", name)
        assert f"report: {name}" in said
    first, second = ((cli.directory / name).read_bytes() for name in ("a.html", "b.html"))
    assert first == second
    assert len(first) < 10_000_000


def test_a_report_that_cannot_be_written_is_the_users_to_mend(cli: Cli) -> None:
    done = cli("compare", *SHORT, "--report", "nowhere/report.html")
    assert done.returncode == 2
    assert "cannot write nowhere/report.html" in done.stderr
    assert Path(cli.directory, "airtcp-out").exists(), "the results are kept"


def events(kind: str, cause: str, count: int) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "time_s": [float(place) for place in range(count)],
            "flow": ["flow"] * count,
            "kind": [kind] * count,
            "cause": [cause] * count,
            "offset_bytes": list(range(count)),
            "count": [1] * count,
        }
    )


def test_marks_that_are_left_out_are_counted_in_the_caption() -> None:
    marks = Marks()
    marks.add("reno", events("timeout", "", 3), 1.0)
    marks.add("reno", events("loss", "corruption", MOST_MARKS), 1.0)
    assert "All events are in the data." in marks.said()
    marks.add("bbr", events("loss", "overflow", 2 * MOST_MARKS + 1), 1.0)
    assert f"bbr, lost: congestion: {len(marks.dots[-1].x)} of {2 * MOST_MARKS + 1}" in marks.said()
    assert len(marks.dots[-1].x) <= MOST_MARKS
    assert "reno" not in marks.said().partition("Too many")[2]


@settings(max_examples=25)
@given(st.integers(1, 4 * CURVE_POINTS), st.integers(0, 10**9))
def test_thinning_keeps_order_and_extremes(points: int, seed: int) -> None:
    values = [float((seed * 31 + place * place * 7919) % 1009) for place in range(points)]
    times, short = thinned(list(map(float, range(points))), values)
    assert len(times) <= max(CURVE_POINTS, 2)
    assert times == sorted(times)
    assert (min(values), max(values)) == (min(filter_known(short)), max(filter_known(short)))


def filter_known(values: list[float | None]) -> list[float]:
    return [value for value in values if value is not None]


def test_thinning_keeps_gaps() -> None:
    points = 2 * CURVE_POINTS
    times, values = thinned(list(map(float, range(points))), [None] * points)
    assert set(values) == {None}
    assert times


def test_a_distribution_goes_from_zero_to_one() -> None:
    assert cumulative([1.0, 2.0, 4.0], [1, 2, 1]) == ([1.0, 1.0, 2.0, 4.0], [0.0, 0.25, 0.75, 1.0])


def test_nothing_to_report() -> None:
    found = airtcp.Comparison(airtcp.Scenario.built_in(), [], {}, interrupted=True)
    with pytest.raises(ValueError, match="nothing to report"):
        found.report("report.html")


def test_what_failed_is_said_with_its_text_and_the_others_are_shown() -> None:
    runs = runs_of(reno=[1.0, 2.0], cubic=[2.0, 3.0])
    text = "rules.py:7: on_ack: ack.acked_bytes <huge> / 0\nZeroDivisionError: float division by zero"
    failures = [Failure("broken", seed, text) for seed in (1, 2)]
    found = airtcp.Comparison(airtcp.Scenario.built_in(), runs, {}, interrupted=True, failures=failures)
    html = comparison_page(found).html()
    assert html.count("<summary>Failures") == 1
    assert "ack.acked_bytes &lt;huge&gt; / 0" in html
    assert all(escape(note) in html for note in found.notes)
    assert len(found.notes) == 3, "verdict, interruption, failure"
    assert "2.50 ± " in html
