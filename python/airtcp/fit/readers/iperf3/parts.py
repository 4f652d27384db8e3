"""What iperf3's tests show of the path: rates, round trips, losses, and the transfer itself."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from airtcp.facts.headers import HEADER_BYTES
from airtcp.fit.json_values import Json, number, object_of, objects_of
from airtcp.fit.measurement import (
    Arrived,
    Direction,
    Floats,
    LengthCount,
    LossCount,
    Offered,
    Reordering,
    RoundTrips,
    Throughput,
    Transfer,
)
from airtcp.fit.readers.iperf3.lengths import is_stuck, is_unheard, lengths
from airtcp.fit.readers.iperf3.result import Test
from airtcp.fit.readers.iperf3.totals import arrived, course, offered, omitted_s, sent
from airtcp.fit.readers.iperf3.way import Way, losses

# Headers of IPv4 and UDP.
_UDP_HEADER_BYTES = 28


def lengths_of(test: Test) -> tuple[float, float]:
    """Returns the bytes of a full packet, and of its payload."""
    if test.is_udp:
        payload = number(test.options, "blksize") or 1448.0
        return payload + _UDP_HEADER_BYTES, payload
    payload = number(test.start, "tcp_mss_default") or number(test.start, "tcp_mss") or 1448.0
    return payload + HEADER_BYTES, payload


def by_length(tests: list[Test], ways: list[Direction]) -> Iterator[LengthCount]:
    packet_bytes, payload_bytes = lengths_of(tests[0])
    for test in tests:
        for way in ways:
            sent, received = test.total("sum_sent", way), test.total("sum_received", way)
            if not received and is_stuck(test.way(way), payload_bytes):
                received = {"bytes": 0}
                sent = sent or _handed_over(test.way(way))
            yield from lengths(sent, received, way, test.connections, payload_bytes, packet_bytes)


def _handed_over(way: Way) -> Json:
    """Returns what the total of a broken result would say."""
    return {
        "bytes": float(np.dot(way.rate_bps, way.interval_s)) / 8,
        "retransmits": float(way.retransmissions or 0),
    }


def throughput(tests: list[Test], way: Direction, expansion: float) -> Throughput:
    """Returns the throughput of IP packets; iperf3 counts their payload."""
    parts = [test.way(way) for test in tests]
    rtt_s = np.concatenate([part.rtt_s for part in parts])
    rates = [_left_the_buffer(test, part) for test, part in zip(tests, parts, strict=True)]
    first = tests[0]
    is_received = first.is_udp or first.is_server or bool(first.options.get("reverse"))
    return Throughput(
        time_s=np.concatenate([part.time_s for part in parts]),
        interval_s=np.concatenate([part.interval_s for part in parts]),
        rate_bps=np.concatenate(rates) * expansion,
        direction=way,
        is_capacity=False,
        rtt_s=rtt_s if np.isfinite(rtt_s).any() else None,
        arrived=None if is_received or way == "reverse" else _arrived(tests, expansion),
    )


def _arrived(tests: list[Test], expansion: float) -> Arrived:
    """Returns what the receivers counted or, if a result breaks off, what had left the sender at least."""
    each = [
        arrived(test.total("sum_received"), expansion)
        or sent(
            test.forward.rate_bps,
            test.forward.interval_s,
            np.multiply(test.forward.cwnd_bytes, test.connections),
            expansion,
        )
        for test in tests
    ]
    return Arrived(sum(one.ip_bytes for one in each), sum(one.within_s for one in each))


def offered_of(tests: list[Test], way: Direction, packet_bytes: float) -> Offered | None:
    if not tests[0].is_udp:
        return None
    parts = [test.way(way) for test in tests]
    columns = ((p.interval_s, p.sent_packets, p.lost_packets) for p in parts)
    totals = [test.total("sum", way) for test in tests]
    return offered(zip(*columns, strict=True), totals, way, packet_bytes)


def _left_the_buffer(test: Test, part: Way) -> Floats:
    """Subtracts what only filled the sender's buffer: iperf3 counts data handed to TCP.

    At the end, the buffer's contents are what was sent and has not arrived.
    """
    rates, interval_s = np.array(part.rate_bps), np.array(part.interval_s)
    way: Direction = "reverse" if part is test.reverse else "forward"
    if is_unheard_of(test, way):
        return np.zeros(len(rates))
    sent = number(test.total("sum_sent"), "bytes")
    received = number(test.total("sum_received"), "bytes")
    ended = _lost_at_the_end(test, "forward") if part is test.forward else None
    if test.is_udp and part.lost is None and ended is not None:
        # The sender counts what it sends; how much of that was lost is known at the end.
        arrives: Floats = rates * (1 - ended[1] / ended[0])
        return arrives
    if test.is_udp or part is test.reverse or test.options.get("reverse") or not sent or not received:
        return rates
    carried = np.cumsum(rates * interval_s) - 8 * max(0.0, sent - received)
    left: Floats = np.diff(np.maximum(carried, 0.0), prepend=0.0) / interval_s
    return left


def is_unheard_of(test: Test, way: Direction) -> bool:
    return is_unheard(test.total("sum_sent", way), test.total("sum_received", way))


def round_trips(tests: list[Test], packet_bytes: float) -> RoundTrips | None:
    """Returns the sender's smoothed RTTs, one per interval."""
    parts = [way for test in tests for way in (test.forward, test.reverse) if not np.isnan(way.rtt_s).all()]
    if not parts:
        return None
    time_s, rtt_s = (
        np.concatenate(columns) for columns in zip(*((p.time_s, p.rtt_s) for p in parts), strict=True)
    )
    known = np.isfinite(rtt_s)
    least = [
        rtt
        for test in tests
        for stream in objects_of(test.end, "streams")
        if (rtt := number(object_of(stream, "sender"), "min_rtt"))
    ]
    order = np.argsort(time_s[known], kind="stable")
    least_s = min(least) / 1e6 if least else None
    return RoundTrips(time_s[known][order], rtt_s[known][order], packet_bytes, least_s)


def loss_count(tests: list[Test], way: Direction, packet_bytes: float) -> LossCount | None:
    """Returns the losses of UDP. The receiver knows them and reports them at the end."""
    packets = lost = 0
    for test in tests:
        if not test.is_udp:
            return None
        part = test.way(way)
        if part.lost is not None and part.packets:
            packets, lost = packets + part.packets, lost + part.lost
        elif (ended := _lost_at_the_end(test, way)) is not None:
            packets, lost = packets + ended[0], lost + ended[1]
    return LossCount(packets, lost, way, packet_bytes) if packets else None


def _lost_at_the_end(test: Test, way: Direction) -> tuple[int, int] | None:
    """Returns the packets and the lost ones of the total; None if there is none, or it cannot be."""
    total = test.total("sum", way)
    packets, lost = number(total, "packets"), losses(total)
    if packets and is_unheard_of(test, way):
        # A receiver that got no packet has missed none.
        return int(packets), int(packets)
    if not packets or lost is None or not 0 <= lost <= packets:
        return None
    return int(packets), int(lost)


def loss_notes(tests: list[Test], ways: list[Direction]) -> list[str]:
    notes = []
    for test in tests:
        for way in ways:
            part = test.way(way)
            if part.impossible:
                many = f"{part.impossible} of {len(part.time_s)}"
                notes.append(
                    f"The losses of {many} intervals are left out: negative, or more than the packets, as "
                    "iperf3's -O makes them."
                )
            lost = losses(test.total("sum", way))
            if part.lost is None and lost is not None and _lost_at_the_end(test, way) is None:
                notes.append(f"iperf3's total of {lost:.0f} lost packets cannot be, and is left out.")
    return notes


def reordering(tests: list[Test], ways: list[Direction]) -> tuple[Reordering, ...]:
    found = []
    for way in ways:
        packets = late = 0
        for test in tests:
            is_sender = test.is_server == (way == "reverse")
            for stream in objects_of(test.end, "streams"):
                udp = object_of(stream, "udp")
                of_way = len(ways) == 1 or udp.get("sender") is is_sender
                if of_way and (count := number(udp, "out_of_order")) is not None:
                    late += int(count)
                    packets += int(number(udp, "packets") or 0)
        if packets:
            found.append(Reordering(packets, min(late, packets), np.empty(0), way))
    return tuple(found)


def transfer(tests: list[Test], packet_bytes: float, payload_bytes: float) -> Transfer | None:
    retransmissions, sent_bytes = 0, 0.0
    for test in tests:
        total = test.total("sum_sent")
        count = number(total, "retransmits")
        if count is None:
            count = test.forward.retransmissions
        if count is None:
            return None
        retransmissions += int(count)
        # Of what was written, only what arrived is known to have been sent.
        written = float(np.dot(test.forward.rate_bps, test.forward.interval_s)) / 8
        sent_bytes += number(test.total("sum_received"), "bytes") or written
    first = tests[0]
    algorithm = first.end.get("sender_tcp_congestion")
    way = first.forward
    return Transfer(
        data_packets=math.ceil(sent_bytes / payload_bytes),
        retransmissions=retransmissions,
        mss_bytes=int(payload_bytes),
        congestion_control=algorithm if isinstance(algorithm, str) else None,
        connections=first.connections,
        course=course(way.interval_s, way.rtt_s, way.cwnd_bytes, way.resent, omitted_s(first.options))
        if len(tests) == 1 and not first.is_held_back
        else None,
        arrived=arrived(first.total("sum_received"), packet_bytes / payload_bytes)
        if len(tests) == 1
        else None,
    )
