"""Refuses options that would have no effect: those without the option that they refine, and beside one that
excludes them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import typer

from airtcp.cli.errors import InputError
from airtcp.facts.files import FileKind

P = TypeVar("P", str, Path)


def check_needs(context: typer.Context, needs: Mapping[str, Sequence[str]]) -> None:
    """`needs`: for a parameter, those of which one must be given too. Raises InputError."""
    for name, others in needs.items():
        if _is_given(context, name) and not any(_is_given(context, other) for other in others):
            which = " or ".join(_option(context, other) for other in others)
            raise InputError(f"{_option(context, name)} has no effect without {which}")


def check_excluded(context: typer.Context, by: str, excluded: Sequence[str]) -> None:
    """Refuses the `excluded` parameters if `by` is given. Raises InputError."""
    for name in excluded:
        if _is_given(context, by) and _is_given(context, name):
            raise InputError(f"{_option(context, name)} has no effect with {_option(context, by)}")


def check_one_of(context: typer.Context, names: Sequence[str]) -> None:
    """Refuses more than one of these parameters. Raises InputError."""
    given = [_option(context, name) for name in names if _is_given(context, name)]
    if len(given) > 1:
        raise InputError(f"{' and '.join(given)}: choose one of them")


def named_for(option: str, kind: FileKind) -> Callable[[P | None], P | None]:
    """Returns a callback that refuses a name whose suffix promises something else than the file will hold."""

    def checked(value: P | None) -> P | None:
        if value is not None:
            try:
                kind.check(value)
            except ValueError as error:
                raise InputError(f"{option} {error}") from error
        return value

    return checked


def _is_given(context: typer.Context, name: str) -> bool:
    source = context.get_parameter_source(name)
    # By name: newer versions of Typer have a copy of Click of their own.
    return source is not None and source.name == "COMMANDLINE"


def _option(context: typer.Context, name: str) -> str:
    """Returns the option's name as the user writes it: of a flag with two, the one that was given."""
    (parameter,) = (each for each in context.command.params if each.name == name)
    found: Any = parameter.opts
    if parameter.secondary_opts and context.params[name] is False:
        found = parameter.secondary_opts
    return str(max(found, key=len))
