"""Prints the answer of `airtcp model`."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from rich.console import Console

from airtcp.cli.console import plain_console
from airtcp.facts.numbers import NONE, decimals, interval
from airtcp.results.document import to_json
from airtcp.showing.table import Heading, print_fitted
from airtcp_studies.model.closed_forms import Answer, Value


def show(found: Answer, json: bool) -> None:
    """Prints tables, or JSON."""
    if json:
        print(to_json(found), end="")
        return
    console = plain_console()
    console.print(", ".join(f"{name} {value}" for name, value in found.inputs.items()))
    _print_values(console, found.values)
    if found.quoted:
        console.print("What the papers say:")
        _print_quoted(console, found)
    for note in found.notes:
        console.print(note)
    if found.command:
        _print_command(console, found.command)


def _print_command(console: Console, command: str) -> None:
    """Prints it so that it can be copied, on several lines if need be."""
    indented, more = " \\\n    ", len("    ") + len(" \\")
    lines = textwrap.wrap(command, console.width - more, break_long_words=False, break_on_hyphens=False)
    console.print(f"  {indented.join(lines)}", soft_wrap=True, highlight=False)


def _print_values(console: Console, values: Sequence[Value]) -> None:
    kinds = list(dict.fromkeys(kind for value in values for kind in value.simulated or {}))
    headings = [
        Heading("", kind="words"),
        Heading("closed form"),
        *(Heading(kind, 1 if place else 0) for place, kind in enumerate(kinds)),
        Heading("formula", 2, "words"),
    ]
    print_fitted(console, headings, [_row(value, kinds) for value in values])


def _row(value: Value, kinds: Sequence[str]) -> list[str]:
    simulated = value.simulated or {}
    return [
        f"{value.name} [{value.unit}]" if value.unit else value.name,
        _number(value.closed_form),
        *(interval(simulated[kind]) if kind in simulated else NONE for kind in kinds),
        value.source,
    ]


def _print_quoted(console: Console, found: Answer) -> None:
    headings = [
        Heading("given", kind="words"),
        Heading("", kind="words"),
        Heading("paper"),
        Heading("its formula"),
        Heading("where", 1, "words"),
    ]
    rows = [
        [each.inputs, each.name, f"{each.paper:g}", _number(each.closed_form), each.remark]
        for each in found.quoted
    ]
    print_fitted(console, headings, rows)


def _number(value: float) -> str:
    return f"{value:.3g}" if abs(value) < 1e-3 else f"{value:.{decimals(value)}f}"
