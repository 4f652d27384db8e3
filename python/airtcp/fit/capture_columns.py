"""What the engine finds in a packet capture. Times are in seconds since the file's first packet."""

from __future__ import annotations

from typing import Literal, TypedDict

from airtcp.fit.measurement import Flags, Floats


class Way(TypedDict):
    """The data of one direction of a connection. Series have one value per packet, sample or interval."""

    position: Literal["sender", "receiver", "between", "unknown"]
    """Where the capture was taken, on the path of this data."""
    to_sender_s: float | None
    """Lowest round trip from there to the sender; below, to the receiver."""
    to_receiver_s: float | None
    rtt_time_s: Floats
    rtt_s: Floats
    """Round trips over the whole path."""
    fate_time_s: Floats
    """When each packet was sent or passed; its fate is in `lost`."""
    lost: Flags
    """Whether each packet was lost, in order of sending, retransmissions included."""
    late_by_s: Floats
    gap_s: float | None
    """Median time between data packets."""
    data_packets: int
    data_bytes: int
    """Bytes of their IP packets."""
    payload_bytes: int
    retransmissions: int
    spurious: int
    timeouts: int
    late: int
    missed: int
    """Packets acknowledged but not captured."""
    duplicates: int
    """Packets that were captured again: at another port or interface."""
    merged: int
    """Segments longer than a packet: captured before the network card split them, or after it merged them."""
    ce_marks: int
    acks: int
    ack_bytes: int
    dsacks: int
    throughput_start_s: float
    throughput_interval_s: float
    throughput_bytes: Floats
    sustained_bps: float | None
    """The best rate over a second: a lower bound of the path's capacity."""
    dispersion_bps: float | None
    """Mode of the packet-train rates: an estimate of the slowest link, if its rate is constant."""
    dispersion_share: float | None
    """Share of the bytes whose trains are in the mode."""
    fastest_bps: float | None
    """The rate that one train in a hundred exceeds: an upper bound, unless later queues compressed trains."""


class CaptureColumns(TypedDict):
    """A file, and the connection in it with the most data."""

    format: Literal["pcap", "pcapng"]
    link: str
    """The link layer, and what the connection's packets are wrapped in."""
    packets: int
    tcp_packets: int
    skipped: int
    first_skipped: str | None
    connections: int
    connections_forgotten: int
    payload_bytes: int
    """Payload of all connections, each packet counted once."""
    elsewhere: int
    """The connection's packets on interfaces where they were not followed."""
    other_packets: int
    """Packets that are not TCP, or could not be read."""
    others: str
    """The most frequent kinds of those."""
    air: str
    """A sentence without its end on an 802.11 link's own retransmissions; empty without one."""
    multipath: bool
    """Whether the connection is a subflow of Multipath TCP."""
    cut: int
    """Packets whose TCP options were not captured whole."""
    sender: str
    """Address and port of the end that sent most."""
    receiver: str
    mss_bytes: int | None
    timestamps: bool
    sack: bool | None
    ecn: bool | None
    """Whether the handshake agreed on ECN; None if it is not in the file."""
    handshake_rtt_s: float | None
    forward: Way
    """The direction from `sender` to `receiver`."""
    reverse: Way
