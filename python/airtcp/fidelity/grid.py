"""The paths on which simulator and kernel are compared."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

from airtcp._engine import Scenario

SCHEMES = ("reno", "cubic", "bbr", "westwood-vt", "spectcp")
MARKING = frozenset({"spectcp"})
"""They wait for marks: their queue is RED with ECN, as in paper 002; that of the others drops its tail."""
DURATION_S = 20.0


@dataclass(frozen=True, order=True)
class Point:
    """One path."""

    rate_mbps: float
    rtt_ms: float
    """Without queueing and sending."""
    loss: float = 0.0
    """Probability that a data packet is lost at random. ACKs are not."""
    ber: float = 0.0
    """Bit error rate, of data and ACKs."""
    queue_packets: int | None = None
    """None: one bandwidth-delay product."""

    @property
    def is_lossy(self) -> bool:
        return self.loss > 0 or self.ber > 0

    def __str__(self) -> str:
        lost = f"BER {self.ber:g}" if self.ber else f"{self.loss * 100:g} %"
        return f"{self.rate_mbps:g} Mbit/s, {self.rtt_ms:g} ms, {lost}"


@dataclass(frozen=True, order=True)
class Cell:
    """One scheme on one path."""

    scheme: str
    point: Point


RATES_MBPS = (2.0, 10.0, 50.0)
RTTS_MS = (10.0, 50.0, 200.0)
LOSSES = (0.0, 0.001, 0.01, 0.05)


def cells(*, quick: bool = False) -> list[Cell]:
    """All of the grid; with `quick`, its corners of one rate."""
    rates, rtts, losses = ((10.0,), (10.0, 200.0), (0.0, 0.01)) if quick else (RATES_MBPS, RTTS_MS, LOSSES)
    return [Cell(scheme, Point(*at)) for scheme in SCHEMES for at in product(rates, rtts, losses)]


def scenario(cell: Cell) -> Scenario:
    """One unlimited transfer; half of the RTT each way."""
    point = cell.point
    queue: dict[str, object] = {"discipline": "red", "ecn": True} if cell.scheme in MARKING else {}
    if point.queue_packets is not None:
        queue["packets"] = point.queue_packets
    link = {
        "name": "path",
        "rate": f"{point.rate_mbps:g}Mbit/s",
        "delay": f"{point.rtt_ms / 2:g}ms",
        "loss": {"packet": point.loss, "ber": point.ber},
        "reverse": {"loss": {"packet": 0, "ber": point.ber}},
        "queue": queue,
    }
    return Scenario.build(
        name=f"{cell.scheme}, {point}",
        duration=f"{DURATION_S:g}s",
        schemes=[cell.scheme],
        link=[link],
    )
