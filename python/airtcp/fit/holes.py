"""Finds path-MTU black holes: packets up to some length arrive, longer ones never do (RFC 2923 §2.1).

A router whose next link takes only shorter packets drops a long one and says so by ICMP (RFC 1191, RFC 8201).
Where that message does not get back, the sender never learns it: connections open, and then nothing arrives.
Bit errors lose long packets more often, too. A hole is reported only if it explains the packets better than
bit errors beside losses of any length do.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from airtcp.fit.by_length import by_length
from airtcp.fit.findings import Finding
from airtcp.fit.measurement import Direction, Fates, LengthCount, Measurement
from airtcp.fit.text import shown

WAYS: tuple[Direction, ...] = ("forward", "reverse", "both")
LEAST_SENT = 5
"""Fewer long packets may all be lost by chance, in one outage."""
LIKELY, SURE = 2.0, 6.0
"""Twice the logarithm of a likelihood ratio: positive and strong evidence (Kass and Raftery 1995)."""
MOST_BY_BITS = 0.9
"""No link in use loses more of its long packets by bit errors alone."""
SMALLEST_MTU = 576
"""Practically every path takes such packets; what takes only shorter ones filters them."""
WHERE: dict[Direction, str] = {
    "forward": "in the forward direction",
    "reverse": "in the reverse direction",
    "both": "there or back",
}


@dataclass(frozen=True)
class Hole:
    """Lengths that one path takes, and longer ones that it does not."""

    direction: Direction
    """`both` if it is unknown in which direction the long packets vanish."""
    passes_bytes: int
    """The longest packets that arrived."""
    vanishes_bytes: int
    """The shortest packets of which none ever arrived."""
    passed: int
    """Of `small`, the packets no longer than `passes_bytes`, this many arrived."""
    small: int
    sent: int
    """The longer packets, all of which vanished."""
    is_sure: bool
    """Whether chance and bit errors explain it clearly worse."""
    inputs: tuple[str, ...]
    """The names of the files that show it."""

    @property
    def headline(self) -> str:
        """What vanishes and what passes, in a sentence."""
        likely = "" if self.is_sure else "very likely "
        return (
            f"{likely}a path-MTU black hole {WHERE[self.direction]}: none of {self.sent} packets of "
            f"{self.vanishes_bytes} bytes or more arrived, while {self.passed} of {self.small} of at most "
            f"{self.passes_bytes} bytes did ({', '.join(map(shown, self.inputs))})"
        ).strip()

    @property
    def lines(self) -> Iterator[str]:
        """The finding, what else is possible, and the cures."""
        yield f"{self.headline[:1].upper()}{self.headline[1:]}."
        yield from self.doubts
        yield "Any of these cures it:"
        yield from (f"- {cure}" for cure in self.cures)

    @property
    def text(self) -> str:
        """The same in one line."""
        return " ".join(self.lines)

    @property
    def finding(self) -> Finding:
        return Finding(
            "path MTU",
            f"at least {self.passes_bytes}, below {self.vanishes_bytes} bytes: a black hole",
            "",
            f"None of {self.sent} arrived {WHERE[self.direction]}, while {self.passed} of {self.small} of at "
            f"most {self.passes_bytes} bytes did.",
        )

    @property
    def doubts(self) -> Iterator[str]:
        """What would look the same, and how to tell."""
        if self.passes_bytes < SMALLEST_MTU:
            yield (
                "It is also possible that something on the path drops long packets of this kind alone: "
                "`ping -M do -s 1472 HOST` beside `ping -M do -s 1200 HOST` would show it, and `airtcp "
                "measure HOST` finds the path's MTU."
            )

    @property
    def cures(self) -> Iterator[str]:
        """What makes TCP work in spite of it, the best first."""
        sender = "the sender" if self.direction != "reverse" else "the hosts that send in this direction"
        mtu = f"{self.passes_bytes}" if self.passes_bytes >= SMALLEST_MTU else "N"
        yield (
            "On the gateway to the link with the small MTU: clamp TCP's MSS, `sudo airtcp apply mss-clamp "
            "--role gateway`, that is nft … tcp flags syn tcp option maxseg size set rt mtu."
        )
        yield (
            f"On {sender}: `sudo airtcp apply mtu-probing`, that is net.ipv4.tcp_mtu_probing=1, which finds "
            "the length that passes (RFC 4821), some seconds after a connection has begun."
        )
        yield f"On the same, a smaller MTU: ip link set dev IFACE mtu {mtu}."
        yield "On a gateway between: `airtcpd proxy`, each side of which has a path MTU of its own."
        yield (
            "At the root: let ICMP `fragmentation needed` and ICMPv6 `packet too big` pass the firewalls "
            "(RFC 4890)."
        )


def find_holes(measurements: Sequence[Measurement]) -> tuple[Hole, ...]:
    """Returns at most one hole for each direction; one of a round trip only if no direction is known."""
    counts = [(count, m.source.name) for m in measurements for count in _counts(m)]
    found = [hole for way in WAYS if (hole := _hole(counts, way)) is not None]
    return tuple(each for each in found if each.direction != "both" or len(found) == 1)


def outside(holes: Sequence[Hole], measurement: Measurement) -> Measurement:
    """Returns what the measurement shows of packets that pass: those that vanish tell nothing of loss, and a
    transfer of which nothing arrived tells nothing of the rate."""
    for hole in holes:
        measurement = _without(hole, measurement)
    return replace(
        measurement,
        fates=tuple(each for each in measurement.fates if not each.lost.all()),
        loss_counts=tuple(each for each in measurement.loss_counts if each.lost < each.packets),
        offered=tuple(each for each in measurement.offered if (each.lost < each.packets).any()),
    )


def _without(hole: Hole, measurement: Measurement) -> Measurement:
    fates = tuple(kept for each in measurement.fates if (kept := _shorter(hole, each)) is not None)
    counts = tuple(
        each
        for each in measurement.loss_counts
        if not (_meets(hole, each.direction) and (each.packet_bytes or 0) >= hole.vanishes_bytes)
    )
    measurement = replace(measurement, fates=fates, loss_counts=counts)
    return _without_transfer(measurement, hole.direction) if _vanished(hole, measurement) else measurement


def _without_transfer(measurement: Measurement, way: Direction) -> Measurement:
    others = [each for each in measurement.throughput if each.direction != way]
    transfer = measurement.transfer
    stays = transfer is not None and transfer.direction != way
    return replace(
        measurement,
        throughput=tuple(others),
        offered=tuple(each for each in measurement.offered if each.direction != way),
        link_rates=tuple(each for each in measurement.link_rates if each.direction != way),
        fates=tuple(each for each in measurement.fates if each.direction != way),
        reordering=tuple(each for each in measurement.reordering if each.direction != way),
        transfer=transfer if stays else None,
        # What is left of a transfer in the other direction loaded the path.
        load=measurement.load if stays or not others else others[0].direction,
        round_trips=measurement.round_trips if others else None,
    )


def _vanished(hole: Hole, measurement: Measurement) -> bool:
    """Returns whether a transfer's data vanished in the hole."""
    return any(
        each.direction == hole.direction and not each.arrived and each.packet_bytes >= hole.vanishes_bytes
        for each in measurement.lengths
    ) and any(each.direction == hole.direction for each in measurement.throughput)


def _shorter(hole: Hole, fates: Fates) -> Fates | None:
    if not _meets(hole, fates.direction):
        return fates
    if fates.sizes is None:
        return None if (fates.packet_bytes or 0.0) >= hole.vanishes_bytes else fates
    kept = fates.sizes < hole.vanishes_bytes
    if kept.all():
        return fates
    if not kept.any():
        return None
    sizes = fates.sizes[kept]
    sent_s = None if fates.sent_s is None else fates.sent_s[kept]
    apart = None if sent_s is None or len(sent_s) < 2 else float(np.median(np.diff(sent_s)))
    return Fates(
        fates.lost[kept],
        fates.direction,
        float(sizes.mean()),
        apart or fates.interval_s,
        sent_s,
        sizes if len(np.unique(sizes)) > 1 else None,
    )


def _meets(hole: Hole, way: Direction) -> bool:
    """Returns whether packets of that direction, or of a round trip, pass the hole."""
    return "both" in (hole.direction, way) or hole.direction == way


def _counts(measurement: Measurement) -> Iterator[LengthCount]:
    """Yields the packets by length, without those of which a router has said that they are too long."""
    most = measurement.reported_mtu_bytes or math.inf
    yield from (each for each in _all_counts(measurement) if each.packet_bytes <= most)


def _all_counts(measurement: Measurement) -> Iterator[LengthCount]:
    """Yields all packets by length. Those of a transfer are in `lengths`, if their lengths are known."""
    yield from measurement.lengths
    if measurement.transfer is not None:
        return
    for fates in measurement.fates:
        yield from by_length(fates)
    for count in measurement.loss_counts:
        # Losses of one direction are those of a UDP transfer, which may have been faster than the link.
        if count.packet_bytes is not None and count.direction == "both":
            arrived = round(count.packets - count.lost)
            yield LengthCount(count.packet_bytes, count.packets, arrived, count.direction)


def _hole(counts: Sequence[tuple[LengthCount, str]], way: Direction) -> Hole | None:
    # What made the round trip has passed both directions.
    seen = [each for each in counts if each[0].direction in (way, "both")]
    passes = max((count.packet_bytes for count, _ in seen if count.arrived), default=None)
    if passes is None:
        return None
    small = [each for each in seen if each[0].packet_bytes <= passes]
    gone = [each for each in seen if each[0].packet_bytes > passes and each[0].direction == way]
    sent = _sum(count.sent for count, _ in gone)
    if sent < LEAST_SENT:
        return None
    evidence = _evidence([count for count, _ in small], [count for count, _ in gone])
    vanishes = min(count.packet_bytes for count, _ in gone)
    is_elsewhere = way == "both" and any(
        count.arrived and count.direction == "forward" and count.packet_bytes >= vanishes
        for count, _ in counts
    )
    # Data of that length arrive: what vanishes are long pings, or it happens on their way back.
    if evidence < LIKELY or is_elsewhere:
        return None
    return Hole(
        way,
        passes_bytes=int(passes),
        vanishes_bytes=int(vanishes),
        passed=_sum(count.arrived for count, _ in small),
        small=_sum(count.sent for count, _ in small),
        sent=sent,
        is_sure=evidence >= SURE,
        inputs=tuple(dict.fromkeys(name for _, name in [*gone, *small])),
    )


def _evidence(small: Sequence[LengthCount], gone: Sequence[LengthCount]) -> float:
    """Returns twice the logarithm of how much better a hole explains the packets than losses that grow with
    length, as those by bit errors do, beside losses of any length."""
    n, arrived, lost_long = (
        _sum(each.sent for each in small),
        _sum(each.arrived for each in small),
        _sum(each.sent for each in gone),
    )
    share = 1 - arrived / n
    best = _log_likelihood(arrived, n - arrived, -math.log1p(-share))
    ratio = _mean_bytes(gone) / _mean_bytes(small)
    # The exponent of small packets by bit errors. What they lose beyond it, all packets lose.
    by_bits = np.concatenate(([0.0], np.geomspace(1e-9, -math.log1p(-MOST_BY_BITS) / ratio, 400)))
    rest = np.maximum(0.0, -math.log1p(-share) - by_bits) if arrived < n else np.zeros(len(by_bits))
    rest[0] = max(rest[0], -math.log1p(-(n - arrived + lost_long) / (n + lost_long)))
    others = [
        _log_likelihood(arrived, n - arrived, float(bits + each))
        + _log_likelihood(0, lost_long, float(bits * ratio + each))
        for bits, each in zip(by_bits, rest, strict=True)
    ]
    return 2 * (best - max(others))


def _log_likelihood(arrived: int, lost: int, exponent: float) -> float:
    """Returns that of packets each of which arrives with probability e^-exponent."""
    if lost == 0:
        return -arrived * exponent
    return -math.inf if exponent <= 0 else lost * math.log(-math.expm1(-exponent)) - arrived * exponent


def _mean_bytes(counts: Sequence[LengthCount]) -> float:
    return sum(each.packet_bytes * each.sent for each in counts) / _sum(each.sent for each in counts)


def _sum(values: Iterable[int]) -> int:
    return sum(values)
