"""The playground in a real browser: drawn, operable, quiet, and with the numbers of `airtcp compare`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from browser import chromium, opened
from page import built_page

import airtcp
from airtcp import Scenario
from airtcp.showing.palette import looks

SHORT = {"duration": 8, "seeds": 3}
COMPARED = "html[data-compared]"
INK = """(canvas) => {
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  const seen = new Set();
  for (let at = 0; at < data.length; at += 4) {
    if (data[at + 3]) seen.add((data[at] << 16) | (data[at + 1] << 8) | data[at + 2]);
  }
  return seen.size;
}"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    built_page()
    with chromium() as started:
        yield started


def with_state(**state: object) -> str:
    """The script that puts this state into the address before the page reads it."""
    return f"if (!location.hash) location.hash = {json.dumps(quote(json.dumps({**SHORT, **state})))};"


def goodputs(page: Any) -> dict[str, float]:
    page.wait_for_selector(COMPARED, timeout=30_000)
    rows = page.locator("#goodputs .row").all()
    return {row.get_attribute("data-scheme"): float(row.get_attribute("data-goodput")) for row in rows}


def compared(changes: dict[str, Any], schemes: list[str]) -> dict[str, float]:
    found = airtcp.compare(
        Scenario.built_in().vary(changes), schemes, SHORT["seeds"], duration="8s", series=False
    )
    return {summary.scheme: summary.goodput.mean for summary in found.summaries}


def test_numbers_are_those_of_compare_also_after_a_drag_that_cancels(browser: Any) -> None:
    with opened(browser, built_page(), before=with_state()) as watched:
        page = watched.page
        assert goodputs(page) == compared({}, ["reno", "bbr"])
        # A drag: each move plans anew, and only the last plan is carried out.
        page.evaluate(
            """() => {
              delete document.documentElement.dataset.compared;
              const slider = document.getElementById("ber");
              for (const value of [-6.5, -6.2, -5.5, -5]) {
                slider.value = value;
                slider.dispatchEvent(new Event("input"));
              }
            }"""
        )
        assert goodputs(page) == compared({"wireless.loss.ber": 1e-5}, ["reno", "bbr"])
        assert "Reno uses" in page.inner_text("#verdict")


@pytest.mark.parametrize("width", [1400, 390])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_nothing_is_blank_and_nothing_is_cut_off(browser: Any, width: int, theme: str) -> None:
    options = {"viewport": {"width": width, "height": 850}, "color_scheme": theme}
    with opened(
        browser, built_page(), before=with_state(sets={"cross": "cubic"}, t=1.0), **options
    ) as watched:
        page = watched.page
        watched.need_frames()
        goodputs(page)
        assert page.evaluate("document.documentElement.dataset.theme") == theme
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        for canvas in page.locator("canvas").all():
            canvas.scroll_into_view_if_needed()
            page.wait_for_function("c => c.closest('.lane') || c.dataset.drawn", arg=canvas.element_handle())
            assert canvas.evaluate(INK) > 5, canvas.get_attribute("aria-label")
            assert canvas.get_attribute("aria-label")
        assert page.locator("#capacity .row").count() == 2
        assert page.locator("#phase polyline").count() == 2
        page.wait_for_function(
            "document.querySelectorAll('.map button[data-painted]').length === 36", timeout=30_000
        )


def test_time_plays_steps_and_jumps_to_losses_by_keyboard(browser: Any) -> None:
    with opened(browser, built_page(), before=with_state(t=2.0)) as watched:
        page = watched.page
        watched.need_frames()

        def clock() -> float:
            watched.need_frames()
            return float(page.inner_text("#clock").split()[0])

        assert clock() == pytest.approx(2.0)
        page.keyboard.press(".")
        stepped = clock()
        assert 2.0 < stepped < 2.06
        page.keyboard.press("n")
        at_loss = clock()
        assert at_loss > stepped
        page.keyboard.press("Space")
        page.wait_for_timeout(300)
        page.keyboard.press("Space")
        assert clock() > at_loss
        page.focus("[data-figure=window] canvas")
        page.keyboard.press("+")
        assert page.is_enabled("#whole")
        page.keyboard.press("Home")
        assert page.is_disabled("#whole")


def test_schemes_have_the_colours_that_they_have_in_every_figure(browser: Any) -> None:
    schemes = ["cubic", "concord", "reno+decoupling", "tahoe", "gbn"]
    with opened(browser, built_page(), before=with_state(schemes=schemes, seeds=1)) as watched:
        goodputs(watched.page)
        rows = watched.page.locator("#goodputs .track").all()
        drawn = [row.evaluate("row => row.style.getPropertyValue('--own')") for row in rows]
        assert drawn == [look.colour for look in looks(schemes).values()]


def test_the_address_holds_the_state_and_exports_repeat_it(browser: Any) -> None:
    sets = {"ber": 3e-6, "rtt": 80, "queue": 30, "discipline": "codel", "jitter": 5, "cross": "cubic"}
    with opened(browser, built_page(), before=with_state(sets=sets, schemes=["cubic", "concord"])) as watched:
        page = watched.page
        found = goodputs(page)
        page.click("#as-toml")
        toml = page.inner_text("#exported")
        again = airtcp.compare(Scenario.parse(toml), ["cubic", "concord"], SHORT["seeds"], series=False)
        assert {summary.scheme: summary.goodput.mean for summary in again.summaries} == found
        page.click("#as-python")
        made: dict[str, Any] = {}
        exec(page.inner_text("#exported").replace("print(found)", ""), made)
        assert {summary.scheme: summary.goodput.mean for summary in made["found"].summaries} == found
        page.click("#as-command")
        assert "--set wireless.loss.ber=0.000003" in page.inner_text("#exported")
        assert page.is_hidden("#needs-file")


def test_a_dropped_file_is_loaded_and_a_mistake_in_it_is_told(browser: Any) -> None:
    text = Scenario.built_in().vary({"name": "dropped", "duration": "4s"}).to_toml()
    with opened(browser, built_page(), before=with_state()) as watched:
        page = watched.page
        goodputs(page)
        page.set_input_files(
            "#file", {"name": "mine.toml", "mimeType": "text/plain", "buffer": text.encode()}
        )
        page.wait_for_function("document.getElementById('about').textContent.startsWith('dropped')")
        wrong = text.replace("delay =", "dely =")
        page.set_input_files(
            "#file", {"name": "wrong.toml", "mimeType": "text/plain", "buffer": wrong.encode()}
        )
        page.wait_for_selector("#error:not([hidden])")
        assert "did you mean `delay`" in page.inner_text("#error")
        page.click("#reset")
        page.wait_for_selector("#error", state="hidden")
        page.evaluate("document.getElementById('form').open = true")
        page.fill("#scheme-name", "renno")
        page.press("#scheme-name", "Enter")
        page.wait_for_selector("#error:not([hidden])")
        assert "reno" in page.inner_text("#error")
        ping = b"64 bytes from 10.0.0.1: icmp_seq=1 ttl=60 time=40 ms"
        page.set_input_files("#file", {"name": "ping.log", "mimeType": "text/plain", "buffer": ping})
        page.wait_for_function("document.getElementById('error').textContent.includes('airtcp fit ping.log')")


@pytest.mark.parametrize(
    ("state", "said"),
    [
        ({"schemes": ["renno"]}, "reno"),
        ({"schemes": ["reno", "renno", "bbr"]}, "reno"),
        ({"scene": 4, "schemes": ["reno:nonsense=1"]}, "nonsense"),
        ({"file": {"name": "x.toml", "text": "nonsense = ["}}, "scenario"),
        ({"sets": {"ber": "x", "rate": -5}}, "rate = -5"),
        ({"seeds": -5}, "seeds = -5"),
        ({"duration": "1h", "lanes": 3, "window": [3], "unheard": 1}, "unheard = 1"),
    ],
)
def test_a_wrong_address_is_told_and_the_page_works(browser: Any, state: dict[str, Any], said: str) -> None:
    with opened(browser, built_page(), before=with_state(**state)) as watched:
        page = watched.page
        assert len(goodputs(page)) == 2
        assert said in page.inner_text("#error")
        assert " uses " in page.inner_text("#verdict")
        assert page.evaluate("document.documentElement.dataset.stale") is None
        page.evaluate("delete document.documentElement.dataset.compared")
        page.evaluate("document.getElementById('form').open = true")
        page.check("#schemes input[value=vegas]")
        assert "vegas" in goodputs(page)
        assert page.is_hidden("#error")


def test_what_is_refused_changes_nothing(browser: Any) -> None:
    with opened(browser, built_page(), before=with_state()) as watched:
        page = watched.page
        before = goodputs(page)
        page.evaluate("document.getElementById('form').open = true")
        for field, value, said in (
            ("#seeds", "-5", "Seeds: a whole number from 1 to 30"),
            ("#seeds", "2.5", "Seeds: a whole number from 1 to 30"),
            ("[name=rate]", "-5", "Rate: a number from 0.01 to 10000 Mbit/s"),
            ("[name=queue]", "0.5", "Queue: a whole number from 1 to 100000 packets"),
        ):
            old = page.input_value(field)
            page.fill(field, value)
            page.press(field, "Tab")
            assert page.inner_text("#error") == said
            assert page.input_value(field) == old
        assert goodputs(page) == before


def test_results_of_another_state_are_marked_or_gone(browser: Any) -> None:
    """The new runs are held back, so that the page stays between the two states."""
    hold = """(({ prototype }, post) => {
      prototype.postMessage = function (...all) { if (!window.held) post.apply(this, all); };
    })(Worker, Worker.prototype.postMessage);"""
    before = with_state() + hold
    with opened(browser, built_page(), before=before) as watched:
        page = watched.page
        goodputs(page)
        page.click("#as-toml")
        page.evaluate("window.held = true")
        page.evaluate("document.getElementById('ber').dispatchEvent(new Event('input'))")
        assert page.get_attribute("html", "data-stale") == "faded"
        assert page.get_attribute("#main", "aria-busy") == "true"
        assert float(page.evaluate("getComputedStyle(document.getElementById('verdict')).opacity")) < 0.5
        assert page.is_hidden("#export-box")
        assert page.is_disabled("#as-command")
        page.locator("#scenes button").nth(3).click()
        assert page.inner_text("#verdict") == "Simulating …"
        assert page.is_hidden("#lanes")
        assert page.is_hidden("#goodputs")


def test_losses_that_are_no_bit_errors_are_told(browser: Any) -> None:
    with opened(browser, built_page(), before=with_state(scene=6)) as watched:
        assert watched.page.inner_text("#ber-told") == "none"
        assert "single packets (2 %) on “wireless”" in watched.page.inner_text("#other-losses")


def test_one_sees_who_has_the_air(browser: Any) -> None:
    state = with_state(scene=9, schemes=["cubic"], window=[1, 1.02])
    with opened(browser, built_page(), before=state) as watched:
        page = watched.page
        page.wait_for_selector(COMPARED, timeout=30_000)
        assert "“air” is free for" in page.inner_text("#verdict")
        canvas = page.locator("[data-figure=air-air-cubic] canvas")
        shares = canvas.get_attribute("aria-label").partition("Share of the time: ")[2].split(", ")
        assert [share.split()[0] for share in shares] == ["access-point", "laptop", "phone"]
        # The phone's frames take seven times as long as the laptop's, and it sends as many.
        laptop, phone = (float(share.split()[1]) for share in shares[1:])
        assert 4 < phone / laptop < 10
        canvas.scroll_into_view_if_needed()
        page.wait_for_selector("[data-figure=air-air-cubic] canvas[data-drawn]")
        assert canvas.evaluate(INK) > 3


def test_every_scene_runs(browser: Any) -> None:
    with opened(browser, built_page(), before=with_state()) as watched:
        page = watched.page
        buttons = page.locator("#scenes button")
        assert buttons.count() == 9
        for place in range(9):
            page.evaluate("delete document.documentElement.dataset.ready")
            page.evaluate(
                f'location.hash = encodeURIComponent(\'{{"scene":{place + 1},"duration":4,"seeds":1}}\')'
            )
            page.wait_for_selector("html[data-ready]", timeout=30_000)
            assert page.is_hidden("#error"), page.inner_text("#error")
            assert page.inner_text("#scene-says").count(".") >= 3
            assert buttons.nth(place).get_attribute("aria-pressed") == "true"
        # What belongs to RED alone must not stand in the way of another discipline.
        buttons.nth(3).click()
        page.wait_for_function("document.getElementById('about').textContent.includes('RED')")
        page.evaluate("document.getElementById('form').open = true")
        page.select_option("[name=discipline]", "droptail")
        page.wait_for_function("document.getElementById('about').textContent.includes('DropTail')")
        assert page.is_hidden("#error")
        page.click("#reset")
        page.wait_for_selector("#scene", state="hidden")
        buttons.nth(6).click()
        page.wait_for_selector("#phase polyline", timeout=30_000)


def test_a_network_has_room_and_takes_another_flow(browser: Any) -> None:
    text = (Path(__file__).parents[3] / "scenarios/dumbbell.toml").read_text()
    short = text.replace('duration = "20s"', 'duration = "2s"').replace('warmup = "4s"', "")
    state = with_state(file={"name": "dumbbell.toml", "text": short}, seeds=1, duration=2)
    with opened(browser, built_page(), before=state) as watched:
        page = watched.page
        assert set(goodputs(page)) == {"reno", "bbr"}
        assert "round trip 24 ms" in page.inner_text("#about")
        assert page.locator(".lane canvas").first.bounding_box()["height"] == 52 + 6 * 30
    beside = with_state(
        file={"name": "dumbbell.toml", "text": short}, sets={"cross": "cubic"}, seeds=1, duration=2
    )
    with opened(browser, built_page(), before=beside) as watched:
        assert set(goodputs(watched.page)) == {"reno", "bbr"}
        assert watched.page.locator("#error").is_hidden()


def test_a_reader_who_wants_no_motion_gets_none(browser: Any) -> None:
    with opened(browser, built_page(), before=with_state(), reduced_motion="reduce") as watched:
        before = watched.page.inner_text("#clock")
        watched.page.wait_for_timeout(300)
        assert watched.page.inner_text("#clock") == before
