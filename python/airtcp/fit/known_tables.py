"""Tables of data sets and programs whose headings have no units, or mean what their words do not say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from airtcp.fit.quantities import Quantity

_RADIO = frozenset(["rsrp", "rsrq", "sinr", "rssnr", "cqi", "ssrsrp", "ssrsrq", "sssinr"])


@dataclass(frozen=True)
class KnownTable:
    """A table that is known by its headings."""

    name: str
    told_by: frozenset[str]
    """Headings that it has, in small letters."""
    quantities: dict[str, Quantity | None]
    """What its columns contain, by heading in small letters; None for what only sounds like a quantity."""
    active: tuple[str, frozenset[str]] | None = None
    """A column, and its values in rows during a transfer, if the file has others."""


_TABLES = (
    KnownTable(
        "Lumos5G",
        frozenset(("throughput", "nr_ssrsrp", "abstractsignalstr")),
        {"throughput": Quantity("rate", "throughput", 1e6, "forward"), "movingspeed": None},
    ),
    KnownTable(
        "G-NetTrack",
        frozenset(("dl_bitrate", "ul_bitrate")),
        {
            "dl_bitrate": Quantity("rate", "bitrate", 1e3, "forward"),
            "ul_bitrate": Quantity("rate", "bitrate", 1e3, "reverse"),
            "pingavg": Quantity("rtt", "ping", 1e-3, statistic="mean"),
            "speed": None,
        },
        ("state", frozenset(("d", "dl", "download"))),
    ),
    KnownTable("5Gophers", frozenset(("num_tcp_conn", "seq_num")), {}),
)


def known_table(headings: Sequence[str]) -> KnownTable | None:
    """Returns the table with these headings; None if it is none of the known."""
    names = {heading.strip().lower() for heading in headings}
    return next((table for table in _TABLES if table.told_by <= names), None)


def is_drive_test(headings: Sequence[str]) -> bool:
    """Returns whether a cell's signal stands beside: such a test fills the link to see what it carries."""
    words = {word for heading in headings for word in heading.lower().replace("(", "_").split("_")}
    return bool(words & _RADIO)
