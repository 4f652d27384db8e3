"""Paths from which a search begins: what a transfer suggests, reading by reading."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np

from airtcp.fit.bottleneck import PACKET_BYTES, Bottleneck
from airtcp.fit.closure.again import Repeated
from airtcp.fit.closure.known import USUAL_BASE_S, Known
from airtcp.fit.closure.seen import Seen

BASES = (0.08, 0.13, 0.2, 0.3, 0.42, 0.6, 0.8, 0.95)
"""The empty path's round trip, as shares of the longest one."""
UNSEEN = (1.4, 2.0, 3.0, 5.0, 9.0)
"""Without any round trips, the longest is one of these multiples of the empty path's, which is assumed."""
FLAT = 1.6
"""A policer has no queue: its longest round trips are less than this times the shortest."""
NEAR_SHORTEST = 0.85
"""The empty path's round trip, as a share of the shortest one, where losses keep the queue short."""
LOST = ((0.6, 1.0), (1.0, 1.0), (1.0, 3.0))
"""What the link loses, as a share of what was sent again, and how many packets in a row;"""
LOST_BESIDES = (0.1, 0.35)
"""and where the queue overflows besides."""
FEWEST_QUEUED = 10.0
POLICERS_KB = (8, 15, 30, 60, 125, 500)
"""Buckets of policers."""


@dataclass(frozen=True)
class Starts:
    """Paths for each reading of one transfer."""

    transfer: Repeated
    seen: Seen
    known: Known

    @property
    def longest_s(self) -> float:
        known = np.isfinite(self.seen.srtt_s).any()
        return float(np.nanmax(self.seen.srtt_s)) if known else UNSEEN[1] * self.shortest_s

    @property
    def shortest_s(self) -> float:
        known = np.isfinite(self.seen.srtt_s).any()
        if known:
            return float(np.nanmin(self.seen.srtt_s))
        return self.known_base_s or USUAL_BASE_S

    @property
    def known_base_s(self) -> float | None:
        return self.known.base_s.best if self.known.base_s is not None else None

    @property
    def most_base_s(self) -> float:
        """The most that the empty path's round trip can be: none takes less, smoothed or not."""
        return max(self.known_base_s or 0.0, self.shortest_s)

    @property
    def arrived_bps(self) -> float:
        return self.transfer.arrived.rate_bps

    @property
    def standing_bps(self) -> float:
        """The rate of IP packets while a queue stands: all windows per round trip."""
        rates = self.seen.cwnd_bytes / self.seen.srtt_s
        if not np.isfinite(rates).any():
            return 1.02 * self.arrived_bps
        rates = rates[self.seen.srtt_s >= np.nanmedian(self.seen.srtt_s)]
        bps = 8 * float(np.nanmedian(rates)) * self.transfer.connections / self.transfer.payload_share
        return min(max(bps, self.arrived_bps), 2 * self.arrived_bps)

    @property
    def resent_share(self) -> float:
        packets = self.transfer.arrived.ip_bytes / PACKET_BYTES
        return min(0.5, self.seen.retransmissions / max(packets, 1.0))

    def own_queue(self) -> Iterator[Bottleneck]:
        rate_bps = self.known.rate_bps or self.standing_bps
        longest_s = 1.02 * self.longest_s
        bases = (
            [self.known_base_s]
            if self.known_base_s
            else [share * longest_s for share in BASES if share * longest_s <= self.shortest_s]
        )
        is_seen = np.isfinite(self.seen.srtt_s).any()
        for base_s in bases or [self.shortest_s]:
            for most_s in (longest_s,) if is_seen else (times * base_s for times in UNSEEN):
                room = max(2.0, (most_s - base_s) * rate_bps / 8 / PACKET_BYTES)
                for loss in self.known.losses_beside:
                    yield Bottleneck("own queue", rate_bps, base_s, room, loss)

    def policer(self) -> Iterator[Bottleneck]:
        is_seen = np.isfinite(self.seen.srtt_s).any()
        if not self.known.may_be_policed:
            return
        if (is_seen and self.longest_s > FLAT * self.shortest_s) or not self.seen.retransmissions > 0:
            return
        rate_bps = self.known.rate_bps or self.arrived_bps
        base_s = self.known_base_s or self.shortest_s
        rates = [faster * rate_bps for faster in ((1.0, 1.3, 1.8) if self.known.rate_bps is None else (1.0,))]
        for each_bps, kilobytes, loss in product(rates, POLICERS_KB, self.known.losses_beside):
            yield Bottleneck("policer", each_bps, base_s, 0.0, loss, burst_bytes=1e3 * kilobytes)

    def random(self, faster: Iterable[float]) -> Iterator[Bottleneck]:
        """Links that lose packets, with rates that are so many times what arrived."""
        base_s = self.known_base_s or NEAR_SHORTEST * self.shortest_s
        rates = [self.known.rate_bps] if self.known.rate_bps else [by * self.arrived_bps for by in faster]
        for (of_resent, run_packets), rate_bps in product(LOST, rates):
            loss = self.known.possible_loss(of_resent * self.resent_share)
            if not loss > 0:
                continue
            packets_per_s = rate_bps / 8 / PACKET_BYTES
            for wait_s in (self.longest_s - base_s, max(self.longest_s, base_s)):
                room = max(FEWEST_QUEUED, wait_s * packets_per_s)
                yield Bottleneck("random", rate_bps, base_s, room, loss, run_packets)

    def besides(self, overflowed: Bottleneck) -> Iterator[Bottleneck]:
        """A queue that overflowed, and a link that lost packets besides."""
        if self.resent_share > 0:
            for of_resent in LOST_BESIDES:
                loss = self.known.possible_loss(of_resent * self.resent_share)
                yield overflowed.with_(cause="random", loss=loss)
