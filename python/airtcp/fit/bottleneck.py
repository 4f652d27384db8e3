"""The slowest link of a path, as a transfer through it shows it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

from airtcp.fit.draft import milliseconds, number, rate, table, text

Cause = Literal["own queue", "policer", "random"]
PACKET_BYTES = 1500
PASSES_AT = 20.0
"""A link behind a policer is this many times as fast: it adds no delay worth mention."""
MOST_ROOM_PACKETS = 1_000_000
WORDS: dict[Cause, str] = {
    "own queue": "the transfer overflowed the queue that it filled",
    "policer": "a policer dropped what came faster than its rate",
    "random": "the link lost them, whatever the sender did",
}


@dataclass(frozen=True)
class Bottleneck:
    """A link, and what drops packets there."""

    cause: Cause
    rate_bps: float
    """Of the link, or of the policer."""
    base_s: float
    """Round trip of a small packet without a queue."""
    room_packets: float
    """Of the queue."""
    loss: float = 0.0
    run_packets: float = 1.0
    """How many packets the link loses in a row, on average."""
    burst_bytes: float = 0.0
    """Of the policer."""

    @property
    def link_bps(self) -> float:
        return self.rate_bps * PASSES_AT if self.cause == "policer" else self.rate_bps

    @property
    def queue(self) -> str:
        """The link's `queue` in TOML."""
        if self.cause == "policer":
            burst = text(f"{max(PACKET_BYTES, round(self.burst_bytes))}B")
            return table(
                discipline=text("token-bucket"),
                rate=text(rate(self.rate_bps)),
                burst=burst,
                packets="0",
            )
        return table(packets=str(min(MOST_ROOM_PACKETS, max(1, round(self.room_packets)))))

    @property
    def losses(self) -> str:
        """The link's `loss` in TOML."""
        if not self.loss > 0:
            return "{}"
        if self.run_packets <= 1:
            return table(packet=number(self.loss))
        to_good = 1 / self.run_packets
        to_bad = to_good * self.loss / (1 - self.loss)
        return table(burst=table(to_bad=number(min(1.0, to_bad)), to_good=number(to_good)))

    @property
    def toml(self) -> str:
        """The link as a scenario of its own."""
        return (
            f'[[link]]\nname = "path"\nrate = {text(rate(self.link_bps))}\n'
            f"delay = {text(milliseconds(self.base_s / 2, 6))}\nqueue = {self.queue}\nloss = {self.losses}\n"
            "[link.reverse]\nloss = {}\n"
        )

    def with_(self, **changes: Any) -> Bottleneck:
        return replace(self, **changes)


@dataclass(frozen=True)
class Settled:
    """What a search among the readings of a transfer has found, or its packets' fates."""

    best: Bottleneck
    likelihoods: tuple[tuple[Bottleneck, float], ...]
    """The best of each cause, and how likely that is, the most likely first. They sum to 1."""
    rate_between: tuple[float, float] | None
    """None if losses at random explain the transfer as well: then the link may be as fast as it likes."""
    base_between: tuple[float, float]
    """Both of what was tried, where it explains the transfer as well (95 %)."""
    runs: int
    """Simulations that it took; none where the packets' fates alone tell."""
    faster: Bottleneck | None = None
    """The best of the links that explain the transfer as well and could carry more, if losses keep the rate
    out of sight."""
    how: str = ""
    """How the fates alone tell, in a sentence."""

    def assuming(self, path: Bottleneck) -> Settled:
        """Returns the same with another path of the best one's cause in its place."""
        (_, likelihood), *others = self.likelihoods
        return replace(self, best=path, likelihoods=((path, likelihood), *others))
