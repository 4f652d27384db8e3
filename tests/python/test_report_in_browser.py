"""The report in a real browser: drawn, operable by mouse and keyboard, readable, silent on the network."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from browser import Watched, chromium, opened
from conftest import Cli

import airtcp
from airtcp.showing.report import Axis, Bars, Figure, Heat, Page, Section

NASTY = "</script><img src=x onerror=alert(1)>&amp;<b>"
SCENARIO = f"""
name = '{NASTY}'
description = "A lossy link whose names are not to be trusted"
duration = "4s"
seeds = 2
schemes = ["reno", "cubic", "bbr"]
[[link]]
name = "wireless"
rate = "10Mbit/s"
delay = "20ms"
loss = {{ packet = 0.02 }}
"""
SCHEMES = ["reno", "cubic", "bbr"]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as started:
        yield started


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = airtcp.compare(airtcp.Scenario.parse(SCENARIO))
    return found.report(tmp_path_factory.mktemp("report") / "report.html", "airtcp compare x.toml")


@pytest.fixture(scope="module")
def page(browser: Any, report: Path) -> Iterator[Watched]:
    """One page for many tests, as loading takes longest: each leaves it as it was."""
    with opened(browser, report) as watched:
        yield watched


LARGEST_SHAPE = """(figure) => {
  const shapes = [...figure.querySelectorAll(".scatterlayer path, .barlayer path")];
  return Math.max(...shapes.map((path) => path.getBBox().width));
}"""


def test_every_figure_is_drawn_and_not_empty(page: Watched) -> None:
    figures = page.figures()
    assert len(figures) == 7
    for figure in figures:
        largest = figure.evaluate(LARGEST_SHAPE)
        assert largest > 50, figure.get_attribute("id")
        assert figure.locator(".plot").get_attribute("aria-label")


def drawn_schemes(page: Watched) -> list[set[str]]:
    """Of each figure, the schemes whose traces it has."""
    names = page.page.evaluate(
        "[...document.querySelectorAll('.plot')].map((plot) => plot.data.map((trace) => trace.name))"
    )
    return [{name.split(",")[0] for name in of_figure} for of_figure in names]


@pytest.mark.parametrize("way", ["mouse", "Enter", "Space"])
def test_a_schemes_button_hides_and_shows_it_in_all_figures(page: Watched, way: str) -> None:
    figures = page.figures()
    button = page.page.locator("button[data-scheme=cubic]")

    def press() -> None:
        if way == "mouse":
            button.click()
        else:
            button.focus()
            page.page.keyboard.press(way)

    assert drawn_schemes(page) == [set(SCHEMES)] * len(figures)
    press()
    assert button.get_attribute("aria-pressed") == "false"
    assert drawn_schemes(page) == [{"reno", "bbr"}] * len(figures)
    press()
    assert button.get_attribute("aria-pressed") == "true"
    assert drawn_schemes(page) == [set(SCHEMES)] * len(figures)


FOCUSED = """() => {
  const at = document.activeElement;
  return [at.tagName, at.textContent.slice(0, 40), getComputedStyle(at).outlineStyle];
}"""


def test_everything_can_be_reached_by_keyboard_and_shows_where_it_is(browser: Any, report: Path) -> None:
    style = "element => getComputedStyle(element)"
    with opened(browser, report, reduced_motion="reduce") as page:
        tab_through(page)
        # Who wants less motion gets none.
        assert page.page.locator("button").first.evaluate(f"{style}.transitionDuration") == "0s"
        assert page.page.locator("html").evaluate(f"{style}.scrollBehavior") == "auto"


def tab_through(page: Watched) -> None:
    keyboard = page.page.keyboard
    keyboard.press("Tab")
    assert page.page.evaluate("document.activeElement.className") == "skip"
    keyboard.press("Enter")
    assert page.page.evaluate("document.activeElement.id") == "content"
    reached = set()
    for _ in range(75):
        keyboard.press("Tab")
        name, text, outline = page.page.evaluate(FOCUSED)
        reached.add(text)
        assert outline != "none" or name == "BODY", text
    assert {*SCHEMES, "None", "Reset", "Data", "Copy"} <= {text.strip() for text in reached}


def test_zooming_by_keyboard_takes_all_figures_over_time_along(page: Watched) -> None:
    page.figures()
    ranges = "[...document.querySelectorAll('.plot')].map((plot) => plot.layout.xaxis.range)"
    before = page.page.evaluate(ranges)
    page.page.get_by_label("Zoom in").nth(1).focus()
    page.page.keyboard.press("Enter")
    after = page.page.evaluate(ranges)
    assert before.count([0, 4]) == after.count([1, 3]) == 5
    page.page.get_by_label("Show everything").nth(1).click()
    assert page.page.evaluate(ranges) == before


def test_parts_of_a_figure_have_buttons(page: Watched) -> None:
    (figure,) = (each for each in page.figures() if "Sequence" in each.inner_text())
    names = "plot => plot.data.map((trace) => trace.name)"
    plot = figure.locator(".plot")
    assert "bbr, lost: corruption" in plot.evaluate(names)
    figure.get_by_role("button", name="lost: corruption").click()
    assert "bbr, lost: corruption" not in plot.evaluate(names)
    assert "bbr, retransmission" in plot.evaluate(names)
    figure.get_by_role("button", name="lost: corruption").click()


CONTRASTS = """() => {
  const numbers = (text) => (text.match(/[\\d.]+/g) || []).map(Number);
  const light = (rgb) => {
    const linear = (p) => (p <= 0.03928 ? p / 12.92 : ((p + 0.055) / 1.055) ** 2.4);
    const [r, g, b] = rgb.map((part) => linear(part / 255));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const colour = numbers(getComputedStyle(at).backgroundColor);
      if (colour.length === 3 || colour[3] > 0) return colour.slice(0, 3);
    }
    return [255, 255, 255];
  };
  const poor = [];
  for (const element of document.querySelectorAll("body *")) {
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
    const unseen = ["SCRIPT", "STYLE", "NOSCRIPT"].includes(element.tagName);
    if (!own || unseen || !element.getClientRects().length) continue;
    const style = getComputedStyle(element);
    const ink = numbers(element instanceof SVGElement ? style.fill : style.color).slice(0, 3);
    const [a, b] = [light(ink), light(ground(element))].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < 4.5) poor.push(`${element.tagName} ${element.textContent.slice(0, 30)} ${ratio.toFixed(2)}`);
  }
  return poor;
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_from_its_ground_in_both_themes(browser: Any, report: Path, scheme: str) -> None:
    """WCAG 2.2, success criterion 1.4.3: 4.5:1."""
    with opened(browser, report, color_scheme=scheme) as page:
        page.figures()
        page.page.locator("button[data-scheme=bbr]").click()
        assert page.page.evaluate("document.documentElement.dataset.theme") == scheme
        assert page.page.evaluate(CONTRASTS) == []


def test_the_theme_follows_the_system_until_the_reader_chooses(page: Watched) -> None:
    page.figures()
    ink = "document.querySelector('.plot').layout.font.color"
    light = page.page.evaluate(ink)
    page.page.emulate_media(color_scheme="dark")
    page.page.wait_for_selector("html[data-theme=dark]")
    assert page.page.evaluate(ink) != light
    page.page.get_by_role("button", name="Dark").click()
    assert page.page.evaluate("document.documentElement.dataset.theme") == "light"
    assert page.page.evaluate(ink) == light
    page.page.emulate_media(color_scheme="light")
    assert page.page.evaluate("document.documentElement.dataset.theme") == "light"


def test_a_phone_shows_it_without_scrolling_sideways(browser: Any, report: Path) -> None:
    phone = {"width": 390, "height": 844}
    with opened(browser, report, viewport=phone, is_mobile=True, has_touch=True) as page:
        page.figures()
        page.page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
        page.page.locator(".data table").last.wait_for()
        assert page.page.evaluate("document.documentElement.scrollWidth") <= 390


def test_a_figures_data_is_a_table_and_a_csv(page: Watched) -> None:
    (figure,) = (each for each in page.figures() if "Sequence" in each.inner_text())
    figure.get_by_text("Data", exact=True).click()
    figure.locator("table").wait_for()
    with page.page.expect_download() as download:
        figure.get_by_role("button", name="Save as CSV").click()
    rows = list(csv.reader(Path(download.value.path()).read_text(encoding="utf-8").splitlines()))
    assert rows[0] == ["scheme", "series", "time [s]", "acknowledged [MB]", "note"]
    assert {row[0] for row in rows[1:]} == set(SCHEMES)
    assert len(rows) > 500
    assert figure.locator("tbody tr").count() == 200
    assert f"of {len(rows) - 1} rows" in figure.inner_text()


def test_names_are_text_wherever_they_come_from(page: Watched) -> None:
    page.figures()
    assert page.page.locator("h1").inner_text() == NASTY
    assert page.page.locator("img").count() == 0
    assert NASTY in page.page.locator("details.source code").last.text_content()


def test_a_browser_that_cannot_unpack_says_so_and_shows_the_rest(browser: Any, report: Path) -> None:
    with opened(browser, report, before="delete window.DecompressionStream") as page:
        assert "cannot be drawn in this browser" in page.page.get_by_role("alert").inner_text()
        assert page.page.locator("table").first.is_visible()


def test_it_prints_in_full_and_without_buttons(page: Watched) -> None:
    page.page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    page.page.emulate_media(media="print")
    assert page.page.locator("figure[data-drawn]").count() == 7
    assert page.page.locator("button:visible").count() == 0
    page.page.emulate_media(media="screen")
    page.page.evaluate("window.dispatchEvent(new Event('afterprint'))")


def test_a_papers_figures_of_every_kind(browser: Any, cli: Cli) -> None:
    """Sweeps with what the paper states, panels over time, grouped bars."""
    cli.ok("paper", "D3", "P1", "--quick", "--report", "paper.html")
    with opened(browser, cli.directory / "paper.html") as page:
        assert len(page.figures()) == 5
        for figure in page.figures():
            assert figure.locator(".plot .point, .plot .js-line").count() >= 4
        assert "rows agree" in page.page.locator(".verdict").inner_text()
        assert page.page.locator("caption", has_text="D3: the paper's values beside ours").count() == 1
        assert page.page.get_by_role("heading", name="What the paper leaves open").count() == 2


def test_maps_and_categories(browser: Any, tmp_path: Path) -> None:
    texts = [["reno", NASTY], ["reno", "reno"]]
    heat = Heat(
        "best", ["0.1 %", "1 %"], ["10 ms", NASTY], z=[[1, 2], [3, None]], z_label="Mbit/s", texts=texts
    )
    won = Heat(
        "best", ["0.1 %", "1 %"], ["a", "b"], z=[[1, 2], [3, 4]], texts=texts, winners=[["reno", NASTY]] * 2
    )
    bars = [Bars(name, [name], [3.0], scheme=name, errors=[0.5]) for name in ("reno", NASTY)]
    loss, delay = Axis("loss", categories=True), Axis("delay", categories=True)
    figures = [
        Figure("Map", "Goodput.", "alt", loss, delay, [heat]),
        Figure("Winners", "Who.", "alt", loss, delay, [won]),
        Figure("Bars", "How much.", "alt", Axis("", categories=True), Axis("Mbit/s", from_zero=True), bars),
    ]
    path = Page("Maps", "All.", [Section("Figures", figures, schemes=["reno", NASTY])]).write(
        tmp_path / "maps.html"
    )
    with opened(browser, path) as page:
        page.figures()
        assert page.page.locator(".heatmaplayer image").count() == 2
        assert page.page.locator(".barlayer .point").count() == 2
        assert (
            page.page.locator(".xaxislayer-above, .yaxislayer-above").get_by_text(NASTY, exact=True).count()
            >= 1
        )


LONG = "reno:profile=bsd-1998:timestamps=true:rto.min=1s+decoupling:error_control=paper:tunnel_queue=50"


@pytest.mark.parametrize("width", [1100, 390])
def test_figures_have_room_beside_long_names(browser: Any, tmp_path: Path, width: int) -> None:
    found = airtcp.compare(airtcp.Scenario.parse(SCENARIO), schemes=[LONG, "bbr", f"{LONG}:tunnel_delay=0s"])
    report = found.report(tmp_path / "report.html")
    with opened(browser, report, viewport={"width": width, "height": 800}) as watched:
        for figure in watched.figures():
            areas = figure.evaluate(
                "f => [...f.querySelectorAll('.plotbg rect, .bglayer .bg')].map(r => r.getBBox().width)"
            )
            assert not areas or min(areas) > 0.3 * width / 2
            edge = figure.evaluate("f => f.querySelector('.plot').getBoundingClientRect().right")
            inside = figure.evaluate(
                "f => Math.max(0, ...[...f.querySelectorAll('.annotation-text, .ytick text')]"
                ".map(text => text.getBoundingClientRect().right))"
            )
            assert inside <= edge + 4, figure.get_attribute("id")
        names = watched.page.locator("#at-goodput .ytick text, #at-goodput .yaxislayer-above text").all()
        rows = [name.bounding_box() for name in names]
        assert all(a["y"] + a["height"] <= b["y"] + 4 for a, b in pairwise(rows))


def test_heat_maps_of_a_sweep_share_their_scale(browser: Any, tmp_path: Path) -> None:
    vary = {"wireless.loss.packet": ["0", "5%"], "wireless.delay": ["5ms", "40ms"]}
    found = airtcp.sweep(None, vary, schemes=["reno", "bbr"], seeds=1, duration="1s")
    with opened(browser, found.report(tmp_path / "report.html")) as watched:
        watched.figures()
        scales = watched.page.evaluate(
            "[...document.querySelectorAll('.plot')].flatMap(p => p.data)"
            ".filter(t => t.type === 'heatmap' && t.showscale !== false).map(t => [t.zmin, t.zmax])"
        )
        assert len(scales) == 2
        assert scales[0] == scales[1]
