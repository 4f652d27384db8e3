"""Columns of words that say of what a row is: a host, an operator, a run."""

from __future__ import annotations

import re
from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import numpy.typing as npt


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_PATHS = _set(
    "host hostname target destination dest dst dstaddr server region city country site carrier operator "
    "operatorname provider isp sim interface iface link path endpoint ip peer client src source vantage "
    "route pair datacenter dc domain address addr remote pop gateway sponsor anbieter netz fournisseur "
    "operateur operador unit probe prb device household subscriber modem station"
)
_RUNS = _set("run runs session trial repetition rep iteration trace experiment pass round")
_SUFFIXES = _set("name location addr address id num no number ip host code fqdn city region of")
_MOST_NAMES = 256
_LONGEST_NAME = 60
_OFTEN = 5


@dataclass
class Labels:
    """A column whose values are names, a code per row."""

    place: int
    heading: str
    kind: Literal["path", "run", "unknown"]
    codes: array[int] = field(default_factory=lambda: array("i"))
    names: dict[str, int] = field(default_factory=dict)
    is_of_names: bool = True
    """Whether it has few values, which are no numbers if its heading does not say that they are names."""

    def add(self, value: object) -> None:
        if not self.is_of_names:
            return
        name = str(value).strip()[:_LONGEST_NAME] if value is not None else ""
        if name not in self.names:
            if len(self.names) == _MOST_NAMES or (self.kind == "unknown" and _is_number(name)):
                self.is_of_names = False
                return
            self.names[name] = len(self.names)
        self.codes.append(self.names[name])

    @property
    def divides(self) -> bool:
        """Whether the rows are of several. A number that hardly ever returns counts rows, or is a value."""
        if not self.is_of_names or len(self.names) < 2:
            return False
        returns = len(self.codes) >= _OFTEN * len(self.names)
        return returns or (self.kind == "path" and not all(map(_is_number, self.names)))


def labels(headings: Sequence[str], used: frozenset[int]) -> list[Labels]:
    """Returns the columns that may be names, those at the places in use excepted."""
    return [
        Labels(place, heading, _kind(heading)) for place, heading in enumerate(headings) if place not in used
    ]


def codes_of(by: Sequence[Labels]) -> npt.NDArray[np.int32]:
    """Returns a row of codes for each of the columns."""
    return np.array([each.codes for each in by], dtype=np.int32)


def _kind(heading: str) -> Literal["path", "run", "unknown"]:
    words = [
        word for word in re.split(r"[^a-z]+", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", heading).lower()) if word
    ]
    if words and words[0] in _RUNS and all(word in _SUFFIXES for word in words[1:]):
        return "run"
    if any(word in _PATHS for word in words) and all(word in _PATHS | _SUFFIXES for word in words):
        return "path"
    return "unknown"


def _is_number(text: str) -> bool:
    try:
        float(text.replace(",", "."))
    except ValueError:
        return False
    return True
