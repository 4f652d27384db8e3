"""Puts into sentences over which range of each path property the answer holds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal, get_args

from airtcp.advise.advice import Advice, Cell
from airtcp.advise.standing import is_as_good
from airtcp.facts.numbers import milliseconds

Axis = Literal["loss", "delay_factor", "rate_factor", "burst_packets"]
Kind = Literal["same", "now", "open", "other"]
"""The recommended scheme stays best; the current one is as good; undecided; another one is better."""
RATE = "Rate"
AXES: tuple[Axis, ...] = get_args(Axis)
"""The fields of a cell that describe its path."""
MOST_PLACES = 3
"""Limit on the places of the map named where another scheme is better."""


@dataclass(frozen=True)
class Line:
    """The cells along one property, in order, including the path itself."""

    title: str
    label: Callable[[Cell], str]
    cells: list[Cell]


def ranges(advice: Advice) -> list[str]:
    """Returns a sentence for each varied property except an assumed rate, which is reported first."""
    return [_sentence(line, advice) for line in lines(advice) if len(line.cells) > 1 and line.title != RATE]


def elsewhere(advice: Advice) -> str | None:
    """Says where another scheme is better although neither loss nor delay alone makes it so; None if
    nowhere."""
    own, *others = advice.around
    both = [cell for cell in others if cell.loss != own.loss and cell.delay_factor != own.delay_factor]
    better = [cell for cell in both if kind(cell, advice) == "other"]
    if not better:
        return None
    places = [
        f"{cell.best} at {percent_lost(cell.loss)} and {propagation(advice, cell.delay_factor)}"
        for cell in better
    ]
    more = f" and at {len(places) - MOST_PLACES} more places" if len(places) > MOST_PLACES else ""
    named = ", ".join(places[:MOST_PLACES])
    return f"Where both loss and delay differ, another scheme can be better: {named}{more}."


def rate_range(advice: Advice) -> str | None:
    """Like `ranges`, for the rate alone; None if it was not varied."""
    told = (_sentence(line, advice) for line in lines(advice) if len(line.cells) > 1 and line.title == RATE)
    return next(told, None)


def lines(advice: Advice) -> Iterator[Line]:
    if not advice.around:
        return
    labels: dict[Axis, tuple[str, Callable[[Cell], str]]] = {
        "loss": ("Loss", lambda cell: percent_lost(cell.loss)),
        "delay_factor": ("Round-trip propagation", lambda cell: propagation(advice, cell.delay_factor)),
        "rate_factor": (RATE, lambda cell: f"× {cell.rate_factor:g}"),
        "burst_packets": ("Consecutive losses", lambda cell: f"{cell.burst_packets:.3g}"),
    }
    for axis, (title, label) in labels.items():
        yield Line(title, label, along(advice.around, axis))


def propagation(advice: Advice, factor: float = 1.0) -> str:
    """Returns the round-trip propagation of the path, or of one with so many times its delay."""
    low, high = (milliseconds(1000 * factor * rtt_s) for rtt_s in advice.base_rtts_s)
    return f"{low} ms" if low == high else f"{low}–{high} ms"


def along(cells: Sequence[Cell], axis: Axis) -> list[Cell]:
    """Returns the cells that differ from the path itself (the first cell) only in `axis`."""
    others = [name for name in AXES if name != axis]
    same = [cell for cell in cells if all(getattr(cell, name) == getattr(cells[0], name) for name in others)]
    return sorted(same, key=lambda cell: float(getattr(cell, axis)))


def plane(cells: Sequence[Cell]) -> tuple[list[float], list[float], dict[tuple[float, float], Cell]]:
    """Returns the map: its losses, its delay factors, and the cells by factor and loss."""
    own = cells[0]
    same = [c for c in cells if (c.rate_factor, c.burst_packets) == (own.rate_factor, own.burst_packets)]
    by_place = {(cell.delay_factor, cell.loss): cell for cell in same}
    factors, losses = sorted({f for f, _ in by_place}), sorted({loss for _, loss in by_place})
    # After an interruption some cells may be missing; only complete rows form a map.
    whole = [f for f in factors if all((f, loss) in by_place for loss in losses)]
    return losses, whole, by_place


def percent_lost(share: float) -> str:
    return f"{100 * share:.2g} %"


def kind(cell: Cell, advice: Advice) -> Kind:
    """Returns what holds in this cell, relative to the recommendation."""
    assert advice.recommendation is not None
    if cell.now_behind is None or is_as_good(cell.now_behind):
        return "now"
    if advice.now in cell.tied:
        return "open"
    return "same" if advice.recommendation.use in (cell.best, *cell.tied) else "other"


def state(cell: Cell, advice: Advice) -> str:
    """Puts `kind` into words."""
    assert advice.recommendation is not None
    use = advice.recommendation.use
    match kind(cell, advice):
        case "now":
            return f"{use} stays as good as any" if use == advice.now else f"{advice.now} is as good as any"
        case "open":
            return f"{advice.now} is statistically tied with the best"
        case "same":
            return f"{use} stays best"
        case "other":
            return f"{cell.best} is better"


def _sentence(line: Line, advice: Advice) -> str:
    pieces = [
        (what, list(cells)) for what, cells in groupby(line.cells, key=lambda cell: state(cell, advice))
    ]
    if len(pieces) == 1:
        first, last = line.label(line.cells[0]), line.label(line.cells[-1])
        return f"{line.title} from {first} to {last}: {pieces[0][0]} throughout."
    told = [_piece(what, cells, place, len(pieces), line) for place, (what, cells) in enumerate(pieces)]
    return f"{line.title}: {'; '.join(told)}."


def _piece(what: str, cells: Sequence[Cell], place: int, pieces: int, line: Line) -> str:
    first, last = line.label(cells[0]), line.label(cells[-1])
    if len(cells) == 1:
        where = f"at {first}"
    elif place == 0:
        where = f"up to {last}"
    else:
        where = f"from {first} up" if place == pieces - 1 else f"from {first} to {last}"
    return f"{where} {what}"
