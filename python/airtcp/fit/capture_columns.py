"""What the engine finds in a packet capture. Times in seconds since the file's first packet."""

from __future__ import annotations

from typing import Literal, TypedDict

from airtcp.fit.measurement import Flags, Floats


class Way(TypedDict):
    """The data of one direction of a connection. Series have a value a packet, sample or interval."""

    position: Literal["sender", "receiver", "between", "unknown"]
    """Where the capture was taken, on the way of these data."""
    to_sender_s: float | None
    """At best, from there to the sender and back; and to the receiver."""
    to_receiver_s: float | None
    rtt_time_s: Floats
    rtt_s: Floats
    """Over the whole path."""
    fate_time_s: Floats
    """When each packet was sent, or passed; its fate is in `lost`."""
    lost: Flags
    """Each packet's fate in order of sending, retransmissions included."""
    late_by_s: Floats
    gap_s: float | None
    """The median from one data packet to the next."""
    data_packets: int
    data_bytes: int
    """Of their IP packets."""
    payload_bytes: int
    retransmissions: int
    spurious: int
    timeouts: int
    late: int
    missed: int
    """Acknowledged, but not in the capture."""
    duplicates: int
    """Captured twice."""
    merged: int
    """Longer than a packet: captured before the network card cut them, or after it joined them."""
    ce_marks: int
    acks: int
    ack_bytes: int
    dsacks: int
    throughput_start_s: float
    throughput_interval_s: float
    throughput_bytes: Floats
    sustained_bps: float | None
    """The best over a second: a lower bound of what the path can carry."""
    dispersion_bps: float | None
    """Where the rates of packet trains crowd: an estimate of the slowest link, if its rate is constant."""
    dispersion_share: float | None
    """Share of the bytes whose trains are there."""
    fastest_bps: float | None
    """One train in a hundred was faster: an upper bound, but for what later queues have pressed together."""


class CaptureColumns(TypedDict):
    """A file, and the connection in it with the most data."""

    format: Literal["pcap", "pcapng"]
    link: str
    packets: int
    tcp_packets: int
    skipped: int
    first_skipped: str | None
    connections: int
    connections_forgotten: int
    payload_bytes: int
    """Of all connections."""
    sender: str
    """Address and port of the end that sent most."""
    receiver: str
    mss_bytes: int | None
    timestamps: bool
    sack: bool | None
    ecn: bool | None
    """Agreed on in the handshake, if that is in the file."""
    handshake_rtt_s: float | None
    forward: Way
    """From `sender` to `receiver`."""
    reverse: Way
