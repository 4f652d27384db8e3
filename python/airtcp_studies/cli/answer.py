"""Prints the answer of `airtcp model`."""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.table import Table

from airtcp.cli.console import plain_console
from airtcp.facts.numbers import NONE, decimals, interval
from airtcp.results.document import to_json
from airtcp_studies.model.closed_forms import Answer, Value


def show(found: Answer, json: bool) -> None:
    """Prints tables, or JSON."""
    if json:
        print(to_json(found), end="")
        return
    console = plain_console()
    console.print(", ".join(f"{name} {value}" for name, value in found.inputs.items()))
    console.print(_values(found.values))
    console.print("What the papers say:")
    console.print(_quoted(found))
    for note in found.notes:
        console.print(note)


def _values(values: Sequence[Value]) -> Table:
    kinds = list(dict.fromkeys(kind for value in values for kind in value.simulated or {}))
    result = _table("", "closed form", *kinds, "formula")
    for value in values:
        simulated = value.simulated or {}
        result.add_row(
            f"{value.name} [{value.unit}]" if value.unit else value.name,
            _number(value.closed_form),
            *(interval(simulated[kind]) if kind in simulated else NONE for kind in kinds),
            value.source,
        )
    return result


def _quoted(found: Answer) -> Table:
    result = _table("given", "", "paper", "its formula", "where")
    for each in found.quoted:
        result.add_row(each.inputs, each.name, f"{each.paper:g}", _number(each.closed_form), each.remark)
    return result


def _table(*titles: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for title in titles:
        is_text = title in {"", "given", "formula", "where"}
        table.add_column(title, justify="left" if is_text else "right")
    return table


def _number(value: float) -> str:
    return f"{value:.3g}" if abs(value) < 1e-3 else f"{value:.{decimals(value)}f}"
