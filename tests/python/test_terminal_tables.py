"""Tables on terminals of every width: no number is cut, and what has no room is named."""

from __future__ import annotations

import io
import re
from functools import cache
from pathlib import Path

import pytest
from conftest import Cli, runs_of
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

import airtcp
from airtcp.advise import table as advice_table
from airtcp.advise.advice import Advice
from airtcp.advise.ask import advise
from airtcp.cli import trial as trial_command
from airtcp.facts.stats import Estimate
from airtcp.facts.summary import SchemeSummary, summarise_all
from airtcp.measure.show import HEADINGS
from airtcp.results.side_by_side import PairRow
from airtcp.showing.comparison_table import cells, columns, headings
from airtcp.showing.pair_table import pair_columns
from airtcp.showing.table import Heading, fitted, print_fitted
from airtcp.showing.wrapping import wrapped
from airtcp.trial.blocks import trial_of

WIDTHS = (60, 80, 100, 120)
LOSSY_ETHERNET = Path(__file__).parents[2] / "scenarios/lossy-ethernet.toml"
LONG = (
    "reno:profile=bsd-1998:timestamps=true+decoupling:error_control=paper:tunnel_queue=50:tunnel_delay=0s:"
    "loss_reports=false"
)
LONG_SENDER = "reno:profile=bsd-1998:timestamps=true:rto.min=1s:rto.factor=10:pacing=false"
CUT = "…"

names = st.text(st.sampled_from("abyz09-_:+=,/ @.é漢$"), min_size=1, max_size=160)
numbers = st.floats(-1e6, 1e6).map(lambda value: f"{value:.2f} ± {abs(value) / 7:.2f}")


def printed(width: int, titles: list[Heading], rows: list[list[str]]) -> list[str]:
    console = Console(file=io.StringIO(), width=width, color_system=None, markup=False, emoji=False)
    print_fitted(console, titles, rows)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue().splitlines()


@given(
    st.integers(40, 170),
    st.lists(st.tuples(names, st.lists(numbers, min_size=5, max_size=5)), min_size=1, max_size=9),
    st.permutations(range(1, 5)),
)
def test_no_number_is_cut_at_any_width(
    width: int, given_rows: list[tuple[str, list[str]]], ranks: list[int]
) -> None:
    titles = [Heading("scheme\n", kind="words"), Heading("goodput\nMbit/s")]
    titles += [Heading(f"column {rank}\nwith a unit", rank) for rank in ranks]
    rows = [[name, *of_row] for name, of_row in given_rows]
    found = fitted(titles, rows, width)
    text = printed(width, titles, rows)
    assert all(cell_len(line) <= width for line in text)
    kept = [place for place, title in enumerate(titles) if title.said not in found.omitted]
    # The least important ones are left out, and each of them is named.
    assert [titles[place].rank for place in kept[:2]] == [0, 0]
    assert {titles[place].rank for place in kept[2:]} == set(range(1, len(kept) - 1))
    said = " ".join(line.strip() for line in text)
    assert all(title in said for title in found.omitted)
    shown = "".join(line.split("Omitted")[0] for line in text)
    assert CUT not in shown
    lines = "\n".join(text)
    for row in rows:
        assert all(row[place] in lines for place in kept[1:])


@given(names, st.integers(2, 60))
def test_a_broken_name_loses_nothing_but_spaces(name: str, width: int) -> None:
    lines = wrapped(name, width)
    assert "".join("".join(lines).split()) == "".join(name.split())
    assert all(cell_len(line) <= width for line in lines)


def test_a_name_is_broken_where_its_parts_meet() -> None:
    assert wrapped(LONG, 40) == [
        "reno:profile=bsd-1998:timestamps=true",
        "+decoupling:error_control=paper:",
        "tunnel_queue=50:tunnel_delay=0s:",
        "loss_reports=false",
    ]


@pytest.mark.parametrize("width", [1, 5, 12])
def test_even_where_nothing_fits_no_number_is_cut(width: int) -> None:
    text = printed(width, [Heading("scheme", kind="words"), Heading("goodput")], [[LONG, "1234.5678"]])
    assert "1234.5678" in "\n".join(text)


def _summaries() -> list[SchemeSummary]:
    return summarise_all(runs_of(**{"reno:profile=bsd-1998": [1.0, 1.2], LONG: [4.0, 4.2]}))


def _comparison() -> tuple[list[Heading], list[list[str]]]:
    rows = _summaries()
    return headings(columns(rows)), cells(rows, columns(rows))[1]


def _pairs() -> tuple[list[Heading], list[list[str]]]:
    rows = [PairRow(each.scheme, each, each, Estimate(1.0, 0.12, 5)) for each in _summaries()]
    return headings(pair_columns(rows)), cells(rows, pair_columns(rows))[1]


def _trial() -> tuple[list[Heading], list[list[str]]]:
    values = {"cubic": [9.123e6, 8.123e6, 9.523e6], LONG: [1.23e6, 1.63e6, 1.33e6]}
    forecast = {"cubic": Estimate(8.5e6, 0.25e6, 8), LONG: Estimate(1.5e6, 0.25e6, 8)}
    found = trial_of("goodput", [list(values)] * 3, values, forecast, 1)
    return trial_command._headings(found), trial_command._rows(found)


def _advice() -> tuple[list[Heading], list[list[str]]]:
    found = _advised()
    shown = advice_table.columns(found)
    return advice_table._headings(shown), advice_table.cells(found.rows, shown)


@cache
def _advised() -> Advice:
    path = "[[link]]\nrate = '2Mbit/s'\ndelay = '20ms'\nloss = { packet = '3%' }\n"
    return advise(airtcp.Scenario.parse(path), control=["gateway"], now=LONG_SENDER, quick=True, seeds=2)


def _measured() -> tuple[list[Heading], list[list[str]]]:
    row = ["1500 B", "12000", "1234 (10.3%)", "1234", "1234", "1234.5", "1234.5", "1234.5", "▁▂▃▄▅▆▇█" * 5]
    return list(HEADINGS), [row]


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("made", [_comparison, _pairs, _trial, _advice, _measured])
def test_tables_that_no_command_here_prints_fit(made: object, width: int) -> None:
    assert callable(made)
    titles, rows = made()
    text = printed(width, titles, rows)
    assert all(cell_len(line) <= width for line in text)
    assert CUT not in "".join(text)
    needed = [row[place] for row in rows for place, title in enumerate(titles) if not title.rank and place]
    assert all(cell in "\n".join(text) for cell in needed)


COMMANDS = {
    "compare": ["compare", str(LOSSY_ETHERNET), "--seeds", "2", "--duration", "2s"],
    "short transfers": [
        "compare",
        "--schemes",
        f"reno,{LONG}",
        "--seeds",
        "2",
        "--duration",
        "4s",
        "--set",
        'flow=[{traffic={kind="poisson",size="50kB",interval="0.5s"}}]',
    ],
    "sweep": [
        *("sweep", str(LOSSY_ETHERNET), "--seeds", "2", "--duration", "1s", "--fresh"),
        *("--vary", "wireless.loss.ber=1e-7,1e-6"),
    ],
    "model window": ["model", "window", "--seeds", "1"],
    "model red": ["model", "red", "--no-run"],
    "model mat": ["model", "mat", "--no-run"],
    "model gain": ["model", "gain", "--no-run"],
    "paper": ["paper", "D0", "D3", "--quick"],
    "cross": ["paper", "cross", "lte", "decoupling/lossy-ethernet", "--quick", "--schemes", f"reno,{LONG}"],
}
RULE = re.compile(r"^ ?─+ *$")


@pytest.mark.parametrize("command", COMMANDS)
def test_the_tables_of_every_command_fit(cli: Cli, command: str) -> None:
    """Each number of the widest terminal that a narrower one shows is whole there."""
    texts = {width: cli.ok(*COMMANDS[command], COLUMNS=str(width)) for width in (*WIDTHS, 400)}
    whole = set(re.findall(r"\S+", texts[400]))
    for width in WIDTHS:
        lines = texts[width].splitlines()
        assert any(map(RULE.match, lines)), "there is a table"
        for line in lines:
            assert cell_len(line) <= width, line
            assert CUT not in line or CUT in texts[400]
        tokens = re.findall(r"(?<!\S)[+-]?\d+\.\d+(?!\S)", texts[width])
        # What depends on the clock is no number of a table.
        assert {token for token in tokens if token not in whole and f"{token} s" not in texts[width]} == set()
