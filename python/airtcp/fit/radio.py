"""What a radio says of itself, as `airtcp measure` asked it and its logs write it.

`Wi-Fi:iw:signal_dbm=-54,mcs=7` has the kind of air, who said it, and figures with their units in their names.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal, get_args

Kind = Literal["Wi-Fi", "LTE", "Starlink", "3G", "5G"]
KINDS: tuple[Kind, ...] = get_args(Kind)
FIGURES = {
    "signal_dbm": "signal {} dBm",
    "tx_mbps": "sends at {} Mbit/s",
    "rx_mbps": "receives at {} Mbit/s",
    "mcs": "MCS {}",
    "width_mhz": "{} MHz",
    "streams": "{} streams",
    "retries": "{} frames sent again",
    "failed": "{} given up",
    "rsrp_dbm": "RSRP {} dBm",
    "rsrq_db": "RSRQ {} dB",
    "snr_db": "SNR {} dB",
}
"""The figures, and how they are said."""
COUNTS = ("retries", "failed")
"""Figures that count from the radio's connection on."""
_LONGEST = 400
_LARGEST = 1e12


@dataclass(frozen=True)
class Radio:
    """A radio at one moment."""

    kind: Kind
    by: str
    """The program that said it."""
    figures: Mapping[str, float]
    """Those of `FIGURES` that are known."""

    @property
    def fact(self) -> str:
        """One word, for a log's header."""
        figures = ",".join(f"{name}={value:.10g}" for name, value in self.figures.items())
        return f"{self.kind}:{self.by}:{figures}"

    def since(self, before: Radio | None) -> Radio:
        """Returns it with what was counted since an earlier moment; without one, none is of the probes."""
        counted = {} if before is None else before.figures
        both = [name for name in COUNTS if name in self.figures and name in counted]
        passed = {name: self.figures[name] - counted[name] for name in both}
        others = {name: value for name, value in self.figures.items() if name not in COUNTS}
        return replace(self, figures=others | {name: value for name, value in passed.items() if value >= 0})

    @property
    def text(self) -> str:
        """What it says, in words."""
        said = [form.format(f"{self.figures[n]:.10g}") for n, form in FIGURES.items() if n in self.figures]
        return ", ".join([f"by {self.by}", *said])


def radio_of(fact: str) -> Radio | None:
    """Returns the radio of a log's word; None if it is none."""
    kind, _, rest = fact[:_LONGEST].partition(":")
    by, _, figures = rest.partition(":")
    named = next((each for each in KINDS if each == kind), None)
    if named is None or not (by.isascii() and by.isalnum()):
        return None
    known = (pair.partition("=") for pair in figures.split(","))
    return Radio(
        named, by, {n: v for n, _, text in known if n in FIGURES and (v := figure(text)) is not None}
    )


def figure(text: str) -> float | None:
    """Returns a number that a program printed; None if it is none."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) and abs(value) <= _LARGEST else None
