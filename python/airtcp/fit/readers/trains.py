"""Trains of packets that `airtcp measure` sent back to back: how far apart they came out of the link.

# airtcp trains 2
direction,train,index,bytes,sent_us,arrived_us,began_s
there,0,0,1500,0,20612,0
there,0,1,1500,11,21812,0
there,0,2,1500,23,,0

`began_s`: when the train's first packet left, since the first train of its direction. Version 1 lacks it.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from airtcp.fit.measurement import Direction, Floats, LinkRate, Measurement, QueueRoom, TrainRates
from airtcp.fit.readers import FileError, Reader
from airtcp.fit.text import Skips, TextFile

MARK = "# airtcp trains 2"
COLUMNS = "direction,train,index,bytes,sent_us,arrived_us,began_s"
_ANY_VERSION = b"# airtcp trains "
MOST_PACKETS = 1 << 20
FEW_PAIRS = 8
"""A train with fewer adjacent packets shows no rate."""
CROWD = 0.03
"""Trains with rates this close to the median form the crowd."""
VARIES = 0.2
"""If half of the trains differ by more, they disagree."""
LONG_S = 0.1
"""Shorter trains are left out of a rate over time: a busy host or a scheduler makes them fast or slow."""
FEW_TRAINS = 5
"""Fewer trains show no rate over time."""
_WAYS: dict[str, Direction] = {"there": "forward", "back": "reverse"}
_LATEST_US = 1e12


def recognises(head: bytes) -> float:
    return 1.0 if head.lstrip().startswith(_ANY_VERSION) else 0.0


def read(path: Path) -> Measurement:
    text = TextFile(path, Skips("trains of airtcp measure"))
    trains: dict[tuple[Direction, int], _Train] = defaultdict(_Train)
    packets = 0
    for number, line in text.lines():
        if line.startswith(("#", "direction,")):
            continue
        packet = _packet(line)
        if packet is None:
            text.skips.add(number, line)
            continue
        way, train, values = packet
        trains[way, train].take(values)
        packets += 1
        if packets == MOST_PACKETS:
            text.notes.append(f"Only the first {MOST_PACKETS} packets are used.")
            break
    text.skips.check(path)
    ways: tuple[Direction, ...] = ("forward", "reverse")
    of = {way: [train for (its, _), train in trains.items() if its == way] for way in ways}
    rates = tuple(rate for way in ways if (rate := _link_rate(of[way], way)) is not None)
    if not rates:
        raise FileError(f"{path}: no train has enough packets that arrived one after the other")
    by_way = {rate.direction: rate for rate in rates}
    rooms = tuple(_room(of[way], by_way[way]) for way in ways if way in by_way)
    return Measurement(
        source=path,
        format="trains of packets",
        link_rates=rates,
        queue_rooms=tuple(room for room in rooms if room is not None),
        skipped=text.skips.skipped(),
        notes=tuple(text.notes),
    )


@dataclass
class _Train:
    """The packets of a train: index, bytes, sent_us, arrived_us (NaN: lost), began_s (NaN: not known)."""

    values: array[float] = field(default_factory=lambda: array("d"))

    def take(self, values: tuple[float, ...]) -> None:
        self.values.extend(values)

    @property
    def packets(self) -> Floats:
        """The packets in order of sending; shape (n, 5)."""
        rows: Floats = np.array(self.values).reshape(-1, 5)
        return rows[np.argsort(rows[:, 0], kind="stable")]

    def rate_bps(self) -> tuple[float, float] | None:
        """Returns the rate by packets that arrived right after their predecessor, and the bytes behind it.

        No loss on the link or in the queue lies between such packets. The sender must have been faster than
        the link: a train that arrives as fast as it was sent shows nothing of the link.
        """
        rows = self.packets
        follows = (np.diff(rows[:, 0]) == 1) & np.isfinite(np.diff(rows[:, 3]))
        if int(follows.sum()) < FEW_PAIRS:
            return None
        took_us = float(np.diff(rows[:, 3])[follows].sum())
        total_bytes = float(rows[1:, 1][follows].sum())
        return (8e6 * total_bytes / took_us, total_bytes) if took_us > 0 else None

    def began_s(self) -> float:
        return float(self.values[4])

    def sent_bps(self) -> float:
        rows = self.packets
        took_us = float(rows[-1, 2] - rows[0, 2])
        return 8e6 * float(rows[1:, 1].sum()) / took_us if took_us > 0 else float("inf")


def _link_rate(trains: list[_Train], way: Direction) -> LinkRate | None:
    found = [(each, rate) for each in trains if (rate := each.rate_bps()) is not None]
    if not found:
        return None
    rates = np.array([rate for _, (rate, _) in found])
    bytes_each = np.array([total for _, (_, total) in found])
    low, middle, high = np.quantile(rates, [0.25, 0.5, 0.75])
    near = np.abs(rates / middle - 1) <= CROWD
    is_one = (high - low) <= VARIES * middle
    # A varying delay stretches one train and compresses the next; a host that is late causes outliers.
    usual = (low <= rates) & (rates <= high) if is_one else np.full(len(rates), True)
    fills = float(np.median([each.sent_bps() for each, _ in found])) > 1.2 * middle
    # Averages times per byte, not rates.
    mean = float(bytes_each[usual].sum() / (bytes_each / rates)[usual].sum())
    crowd = float(bytes_each[near].sum() / bytes_each.sum())
    apart = None
    if fills and not is_one:
        apart = _over_time(np.array([each.began_s() for each, _ in found]), rates, bytes_each)
    return LinkRate(way, mean, mean if fills else None, crowd, float(rates.max()), apart)


def _over_time(began_s: Floats, rates: Floats, bytes_each: Floats) -> TrainRates | None:
    took_s = 8 * bytes_each / rates
    used = np.isfinite(began_s) & (took_s >= LONG_S)
    order = np.argsort(began_s[used], kind="stable")
    if len(order) < FEW_TRAINS:
        return None
    return TrainRates(began_s[used][order], took_s[used][order], rates[used][order])


def _room(trains: list[_Train], rate: LinkRate) -> QueueRoom | None:
    """Returns the queue in front of the packets, from their excess over the fastest packet's delay."""
    if rate.estimate_bps is None:
        return None
    waits, is_full = [], False
    for train in trains:
        rows = train.packets
        arrived = np.isfinite(rows[:, 3])
        delay_us = rows[arrived, 3] - rows[arrived, 2]
        if len(delay_us) < FEW_PAIRS:
            continue
        waits.append(float(np.quantile(delay_us, 0.98) - delay_us[0]))
        is_full |= _overflowed(rows, arrived)
    if not waits:
        return None
    bits = 8 * float(np.median(trains[0].packets[:, 1]))
    packets = max(waits) * 1e-6 * rate.estimate_bps / bits
    return QueueRoom(rate.direction, packets, is_full)


def _overflowed(rows: Floats, arrived: Floats) -> bool:
    """Returns whether the train's last third lost far more packets than its first."""
    third = len(rows) // 3
    first, last = int((~arrived[:third].astype(bool)).sum()), int((~arrived[-third:].astype(bool)).sum())
    return third >= FEW_PAIRS and last >= third / 3 and last > 3 * (first + 1)


def _packet(line: str) -> tuple[Direction, int, tuple[float, ...]] | None:
    fields = line.split(",")
    if (
        len(fields) not in (6, 7)
        or fields[0] not in _WAYS
        or not fields[1].isascii()
        or not fields[1].isdigit()
    ):
        return None
    try:
        index, size, sent_us = float(fields[2]), float(fields[3]), float(fields[4])
        arrived_us = float(fields[5]) if fields[5] else float("nan")
        began_s = float(fields[6]) if len(fields) == 7 else float("nan")
    except ValueError:
        return None
    values = (index, size, sent_us, arrived_us, began_s)
    is_sound = all(0 <= value <= _LATEST_US for value in values if value == value)  # noqa: PLR0124 NaN: lost
    if not (is_sound and index == index and size >= 1 and sent_us == sent_us) or len(fields[1]) > 6:  # noqa: PLR0124
        return None
    return _WAYS[fields[0]], int(fields[1]), values


READER = Reader("trains", "trains of packets that `airtcp measure` has sent", recognises, read)
