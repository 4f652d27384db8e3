"""Sends back-to-back trains of full packets: their spacing after the slowest link shows its rate and its
queue."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from math import sqrt
from statistics import fmean, stdev

from airtcp.fit.readers.trains import COLUMNS, MARK
from airtcp.measure.peer import Arrivals, Peer
from airtcp.measure.prober import ProbeError
from airtcp.measure.wire import MOST_IN_A_TRAIN

FIRST = 16
"""Packets of the first train; later ones are longer until one takes long enough."""
LONG_ENOUGH_S = 0.15
"""A train of this duration outweighs the delays that a busy host adds to single packets."""
MANY = 8
"""Trains of the final length in each direction, if they agree."""
MOST = 48
"""Trains if they do not agree: a varying delay stretches one train and compresses the next."""
AGREE = 0.01
"""Relative standard error of the mean spacing at which the trains agree."""
PAUSE_S = 0.15
MOST_BYTES = 12 << 20
"""Limit for each direction, in bytes."""


@dataclass
class Trains:
    """The trains of each direction."""

    there: list[Arrivals] = field(default_factory=list)
    back: list[Arrivals] = field(default_factory=list)

    def lines(self) -> Iterator[str]:
        """Yields the log that `fit` reads. Times count from when the train's first packet was sent, on two
        clocks; the trains' own, from the first train in their direction."""
        yield MARK
        yield COLUMNS
        for way, trains in (("there", self.there), ("back", self.back)):
            started_ns = trains[0].began_ns if trains else 0
            for number, train in enumerate(trains):
                began_ns = train.began_ns
                began_s = f"{(began_ns - started_ns) / 1e9:.3f}"
                came = [at_ns - sent_ns for _, sent_ns, at_ns in train.packets if at_ns is not None]
                # The clocks may differ by years: the fastest packet is given no delay.
                least_ns = min(came, default=0)
                for index, sent_ns, at_ns in train.packets:
                    arrived = "" if at_ns is None else f"{(at_ns - least_ns - began_ns) / 1e3:.1f}"
                    sent_us = (sent_ns - began_ns) / 1e3
                    yield f"{way},{number},{index},{train.length},{sent_us:.1f},{arrived},{began_s}"


def send_trains(peer: Peer, ip_bytes: int, trains: Trains, shown: Callable[[str], None]) -> None:
    """Sends trains both ways in turn, as long as the server answers. After trains of an earlier sitting, the
    first ones are as long as the last of those.

    # Raises
    ProbeError: it has fallen silent.
    """
    ways = ((peer.train_there, trains.there, "there"), (peer.train_back, trains.back, "back"))
    counts = [len(sent[-1].packets) if sent else FIRST for _, sent, _ in ways]
    finals = [0, 0]
    while any(final < MOST for final in finals):
        for place, (send, sent, name) in enumerate(ways):
            used = sum(each.length * len(each.packets) for each in sent)
            is_enough = finals[place] >= MANY and _agree(sent[-finals[place] :])
            if finals[place] >= MOST or is_enough or used + counts[place] * ip_bytes > MOST_BYTES:
                finals[place] = MOST
                continue
            shown(f"train {len(sent) + 1} {name}, of {counts[place]} packets")
            try:
                train = send(counts[place], ip_bytes)
            except ProbeError:
                if sent:
                    finals[place] = MOST
                    continue
                raise
            sent.append(train)
            if train.took_s >= LONG_ENOUGH_S or counts[place] == MOST_IN_A_TRAIN:
                finals[place] += 1
            elif train.came * 2 < counts[place]:
                # The queue is full: a longer train would fare no better.
                finals[place] += 1
            else:
                counts[place] = min(2 * counts[place], MOST_IN_A_TRAIN)
            time.sleep(max(PAUSE_S, min(1.0, train.took_s)))


def _agree(trains: Sequence[Arrivals]) -> bool:
    """Returns whether the mean of their spacings is precise enough."""
    spacings = [spacing for train in trains if (spacing := train.spacing_ns) is not None]
    if len(spacings) < MANY:
        # Trains without adjacent arrivals show no spacing, however many follow.
        return True
    return stdev(spacings) <= AGREE * fmean(spacings) * sqrt(len(spacings))
