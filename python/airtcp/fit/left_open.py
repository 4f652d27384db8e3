"""What a measurement leaves open, as a scenario's table `measurement` records it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from airtcp.facts.scenario import Document
from airtcp.fit.draft import number, text
from airtcp.fit.findings import Reading, Unknown


@dataclass(frozen=True)
class LeftOpen:
    """What is open about the path to which a scenario was fitted."""

    loss: tuple[float, float] | None
    """Interval of the loss of full packets in the forward direction; None if not measured."""
    unknown: tuple[Unknown, ...]

    @property
    def toml(self) -> str:
        return "\n".join(self._lines()) + "\n"

    def _lines(self) -> Iterator[str]:
        yield "[measurement]"
        if self.loss is not None:
            yield f"loss = [{number(self.loss[0])}, {number(self.loss[1])}]"
        for unknown in self.unknown:
            yield "\n[[measurement.unknown]]"
            for key in ("quantity", "why", "stand_in", "remedy"):
                yield f"{key} = {text(getattr(unknown, key))}"
            for reading in unknown.readings:
                yield "[[measurement.unknown.reading]]"
                yield f"name = {text(reading.name)}"
                if reading.keys:
                    pairs = ", ".join(f"{text(key)} = {text(value)}" for key, value in reading.keys)
                    yield f"set = {{ {pairs} }}"


def left_open(path: Document) -> LeftOpen | None:
    """Returns None if the scenario was not fitted."""
    found = path.get("measurement")
    if found is None:
        return None
    loss = found.get("loss")
    return LeftOpen(loss and (loss[0], loss[1]), tuple(map(_unknown, found["unknown"])))


def _unknown(found: Document) -> Unknown:
    readings = tuple(
        Reading(reading["name"], tuple(reading.get("set", {}).items()))
        for reading in found.get("reading", ())
    )
    return Unknown(found["quantity"], found["why"], found["stand_in"], found["remedy"], readings)
