"""Reads packet captures of a TCP transfer, as tcpdump and Wireshark write them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from airtcp import _engine
from airtcp.fit.capture_columns import CaptureColumns, Way
from airtcp.fit.capture_course import course_of
from airtcp.fit.findings import Value
from airtcp.fit.measurement import (
    Direction,
    Fates,
    Floats,
    LengthCount,
    LinkRate,
    Measurement,
    Reordering,
    RoundTrips,
    Skipped,
    Throughput,
    Transfer,
)
from airtcp.fit.readers import FileError, Reader

_MAGIC_NUMBERS = (
    b"\xd4\xc3\xb2\xa1",
    b"\xa1\xb2\xc3\xd4",
    b"\x4d\x3c\xb2\xa1",
    b"\xa1\xb2\x3c\x4d",
    b"\x34\xcd\xb2\xa1",
    b"\xa1\xb2\xcd\x34",
    b"\x0a\x0d\x0d\x0a",
)
_PLACES = {
    "sender": "at the sender",
    "receiver": "at the receiver",
    "between": "between sender and receiver",
    "unknown": "at an unknown point of the path",
}
# Headers of IPv4 and TCP without options, whose MSS counts them not.
_HEADER_BYTES = 40
_SYN_BYTES = 60.0
# The SYN, and the ACK of the other end's.
_HANDSHAKE = 2
# So many retransmissions show that it is no single loss.
_RESENT = 3
_NEARLY = 0.9
# A direction with fewer packets shows nothing of its path.
_FEW_PACKETS = 100
_INTERVAL_S = 0.1
# The engine's limit.
_MOST_FATES = 1 << 22


def recognises(head: bytes) -> float:
    return 1.0 if head.startswith(_MAGIC_NUMBERS) else 0.0


def read(path: Path) -> Measurement:
    try:
        found = _engine.read_capture(str(path))
    except _engine.CaptureError as error:
        raise FileError(f"{path}: {error}") from error
    forward = found["forward"]
    ways: list[tuple[Direction, Way]] = [("forward", forward)]
    if found["reverse"]["data_packets"] >= _FEW_PACKETS:
        ways.append(("reverse", found["reverse"]))
    return Measurement(
        source=path,
        format=f"{found['format']} capture ({found['link']}), {_PLACES[forward['position']]}",
        round_trips=_round_trips(found),
        fates=tuple(_fates(way, direction) for direction, way in ways if len(way["lost"])),
        lengths=tuple(_lengths(found)),
        throughput=tuple(_throughput(way, direction) for direction, way in ways),
        link_rates=tuple(_link_rate(way, direction) for direction, way in ways if way["sustained_bps"]),
        reordering=tuple(
            Reordering(way["data_packets"], way["late"], way["late_by_s"], direction)
            for direction, way in ways
        ),
        transfer=_transfer(found),
        skipped=_skipped(found),
        notes=tuple(_notes(found)),
    )


def _lengths(found: CaptureColumns) -> Iterator[LengthCount]:
    """Yields short and full packets of a connection over which no full one has arrived."""
    way = found["forward"]
    opened = found["handshake_rtt_s"] is not None and way["acks"] > 0 and found["mss_bytes"] is not None
    if not opened or way["position"] == "receiver" or way["retransmissions"] < _RESENT:
        return
    full_bytes = float(found["mss_bytes"] or 0) + _HEADER_BYTES
    acknowledged = float(way["throughput_bytes"].sum())
    # A packet's fate is known once it is acknowledged, or sent again and then acknowledged.
    arrived = len(way["lost"]) - int(way["lost"].sum())
    is_open = way["data_packets"] - len(way["lost"])
    open_bytes = (way["data_bytes"] - acknowledged) / max(1, is_open)
    # Several short ones may be more than a full one, but none of them comes near it.
    longest_bytes = float(way["throughput_bytes"].max(initial=0.0))
    if longest_bytes >= _NEARLY * full_bytes or open_bytes < _NEARLY * full_bytes:
        return
    yield LengthCount(_SYN_BYTES, _HANDSHAKE, _HANDSHAKE, "forward")
    if arrived:
        yield LengthCount(acknowledged / arrived, arrived, arrived, "forward")
    yield LengthCount(full_bytes, is_open, 0, "forward")


def _packet_bytes(way: Way) -> float:
    return way["data_bytes"] / max(1, way["data_packets"])


def _round_trips(found: CaptureColumns) -> RoundTrips | None:
    """Returns the data's round trips. The handshake comes before any queue of the transfer's own: with the
    time that a data packet would have needed on the slowest link, it may be the lowest of all."""
    way = found["forward"]
    if not len(way["rtt_s"]):
        return None
    handshake_s, rate_bps = found["handshake_rtt_s"], way["dispersion_bps"]
    least_s = None
    if handshake_s is not None and rate_bps is not None:
        least_s = handshake_s + 8 * (_packet_bytes(way) - _SYN_BYTES) / rate_bps
    return RoundTrips(way["rtt_time_s"], way["rtt_s"], _packet_bytes(way), least_s=least_s)


def _fates(way: Way, direction: Direction) -> Fates:
    return Fates(way["lost"], direction, _packet_bytes(way), way["gap_s"], way["fate_time_s"])


def _throughput(way: Way, direction: Direction) -> Throughput:
    """Returns the throughput over intervals of at least 100 ms and a round trip; shorter ones would show
    bursts."""
    width = way["throughput_interval_s"]
    shortest = max(_INTERVAL_S, float(np.median(way["rtt_s"])) if len(way["rtt_s"]) else 0.0)
    together = max(1, int(np.ceil(shortest / width)))
    sums = np.add.reduceat(way["throughput_bytes"], np.arange(0, len(way["throughput_bytes"]), together))
    # The last interval is incomplete.
    whole = sums[:-1] if len(sums) > 1 else sums
    interval_s: Floats = np.full(len(whole), together * width)
    rate_bps: Floats = np.multiply(whole, 8) / interval_s
    time_s: Floats = way["throughput_start_s"] + interval_s * np.arange(len(whole))
    return Throughput(time_s, interval_s, rate_bps, direction, is_capacity=False)


def _link_rate(way: Way, direction: Direction) -> LinkRate:
    return LinkRate(
        direction,
        at_least_bps=way["sustained_bps"] or 0.0,
        estimate_bps=way["dispersion_bps"],
        crowd=way["dispersion_share"],
        at_most_bps=way["fastest_bps"],
    )


def _transfer(found: CaptureColumns) -> Transfer:
    way = found["forward"]
    at_receiver = way["position"] == "receiver"
    course, arrived = course_of(found) or (None, None)
    return Transfer(
        data_packets=way["data_packets"] - way["retransmissions"],
        retransmissions=way["retransmissions"],
        # A capture at the receiver shows it; elsewhere it takes the options.
        spurious=way["spurious"] if at_receiver or (way["acks"] and _tells_copies_apart(found)) else None,
        # At the receiver, a retransmission that follows its original shows no silence.
        timeouts=None if at_receiver else way["timeouts"],
        mss_bytes=found["mss_bytes"],
        ecn=found["ecn"],
        course=course,
        arrived=arrived,
        least_s=_least(found),
    )


def _least(found: CaptureColumns) -> Value | None:
    """Returns the least round trip from the handshake on; None if that was not captured."""
    handshake_s, way = found["handshake_rtt_s"], found["forward"]
    if handshake_s is None:
        return None
    # Elsewhere, the data's round trips are not those of the whole path.
    of_data_s = way["rtt_s"] if way["position"] == "sender" else np.empty(0)
    least_s = float(of_data_s.min(initial=handshake_s))
    return Value(least_s, least_s, least_s)


def _tells_copies_apart(found: CaptureColumns) -> bool:
    return bool(found["timestamps"] or found["sack"])


def _skipped(found: CaptureColumns) -> Skipped | None:
    first = found["first_skipped"]
    return Skipped(found["skipped"], first) if first is not None else None


def _notes(found: CaptureColumns) -> list[str]:
    way = found["forward"]
    share = way["payload_bytes"] / max(1, found["payload_bytes"])
    count = found["connections"]
    notes = [
        f"The transfer from {found['sender']} to {found['receiver']} has {share:.0%} of the file's data"
        + (f", the largest of {count} TCP connections." if count > 1 else "."),
        _place_note(way),
    ]
    if found["connections_forgotten"]:
        notes.append(
            f"{found['connections_forgotten']} connections with little data were not followed: too many."
        )
    if found["handshake_rtt_s"] is not None:
        notes.append(f"The handshake took {found['handshake_rtt_s'] * 1e3:.1f} ms in both directions.")
    return notes + _file_notes(found) + _way_notes(way)


def _file_notes(found: CaptureColumns) -> list[str]:
    """Returns what there is to say of the capture itself."""
    again = found["forward"]["duplicates"] + found["reverse"]["duplicates"]
    notes = []
    if again:
        notes.append(f"{again} packets were captured twice and are counted once.")
    if found["elsewhere"]:
        notes.append(
            f"{found['elsewhere']} packets were captured on other interfaces too, and are left out there."
        )
    if found["other_packets"] > found["tcp_packets"]:
        notes.append(f"Most packets are not TCP or could not be read: {found['others']}.")
    if found["air"]:
        notes.append(f"{found['air']}: TCP sees them as delay, not as loss.")
    if found["multipath"]:
        notes.append(
            "It is a subflow of Multipath TCP: its own path is fitted, others carry the connection too."
        )
    if found["cut"]:
        notes.append(
            f"{found['cut']} packets were cut within their TCP options: timestamps and SACK blocks are "
            "missing, and with them round trips. Capture 128 bytes or more (`tcpdump -s 128`)."
        )
    return notes


def _way_notes(way: Way) -> list[str]:
    """Returns what there is to say of the data's direction."""
    notes = []
    if not way["acks"]:
        notes.append(
            "No acknowledgments were captured. A packet that was sent again counts as lost, even if that was "
            "in vain; round trips under load, and losses of acknowledgments, cannot be seen."
        )
    if len(way["lost"]) == _MOST_FATES:
        notes.append(f"The fates are those of the first {_MOST_FATES} packets; counts are of all.")
    if way["missed"]:
        notes.append(
            f"{way['missed']} packets are not in the file but were acknowledged: the capture missed them."
        )
    if way["merged"]:
        notes.append(
            f"{way['merged']} segments are longer than a packet (offloaded to the network card) and are "
            "counted as the packets they were."
        )
    if way["ce_marks"]:
        notes.append(f"{way['ce_marks']} data packets were marked by a queue (ECN).")
    return notes


def _place_note(way: Way) -> str:
    place = f"The capture was taken {_PLACES[way['position']]}"
    match way["position"]:
        case "sender":
            return f"{place}: a packet is lost if it was sent again and that was needed."
        case "receiver":
            return (
                f"{place}: a packet is lost if a retransmission fills its place. Round trips are from an "
                "acknowledgment to the data that it let go, and contain the sender's pauses."
            )
        case "between":
            return f"{place}: losses before and behind it count together."
    lacking = "a handshake and timestamps" if way["acks"] else "acknowledgments"
    return f"{place}, for lack of {lacking}: losses before and behind it count together."


READER = Reader(
    name="capture",
    summary="Packets of a TCP transfer: `tcpdump -i DEV -s 128 -w FILE.pcap tcp`.",
    recognises=recognises,
    read=read,
)
