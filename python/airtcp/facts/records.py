"""The results of one run, as the engine returns them.

Names end in their unit; rates, counts and delays leave the warm-up out.
"""

from __future__ import annotations

from typing import NotRequired, TypedDict


class Flow(TypedDict):
    """One flow. The RTT is what its sender measured; without a measurement, the RTTs are None."""

    name: str
    index: int
    scheme: str
    measured: bool
    goodput_bps: float
    throughput_bps: float
    bytes_received: int
    data_packets_sent: int
    data_packets_delivered: int
    data_packets_under_way: int
    retransmissions: int
    retransmissions_spurious: int
    timeouts: int
    timeouts_spurious: int
    fast_retransmits: int
    fast_retransmits_spurious: int
    cwnd_reductions: int
    losses_corruption: int
    losses_congestion: int
    losses_outage: int
    acks_lost: int
    rtt_samples: int
    rtt_min_ms: float | None
    rtt_mean_ms: float | None
    rtt_p50_ms: float | None
    rtt_p95_ms: float | None
    rtt_p99_ms: float | None
    transfers_started: int
    resets: int
    completion_times_s: list[float]


class Link(TypedDict):
    """One direction of one link. `queue_average_max` is RED's largest average; None for other queues.

    What follows `marks` is there for a link on a medium. A frame is an MPDU, and a TXOP a turn to send.
    Packets are given up (`failed_…`, among `drops_corruption`) by what befell the last attempt.
    `access_delay` is of each TXOP, from when there was something to send and the last one was over;
    `retry_delay` of each packet that was read, from the end of its first frame to that of its last;
    `reordering_delay` of the same, until those before it were read or given up.
    """

    name: str
    direction: str
    utilisation: float
    packets_arrived: int
    packets_sent: int
    bytes_sent: int
    queue_mean_packets: float
    queue_max_packets: int
    queue_average_max: float | None
    drops_overflow: int
    drops_aqm: int
    drops_corruption: int
    drops_outage: int
    marks: int
    medium: NotRequired[str]
    transmitter: NotRequired[str]
    receiver: NotRequired[str]
    txops: NotRequired[int]
    txops_collided: NotRequired[int]
    rts_sent: NotRequired[int]
    rts_unanswered: NotRequired[int]
    frames_sent: NotRequired[int]
    retries: NotRequired[int]
    frames_collided: NotRequired[int]
    frames_erred: NotRequired[int]
    failed_collision: NotRequired[int]
    failed_error: NotRequired[int]
    airtime_s: NotRequired[float]
    airtime_collided_s: NotRequired[float]
    access_delay_mean_ms: NotRequired[float]
    access_delay_max_ms: NotRequired[float]
    retry_delay_mean_ms: NotRequired[float]
    retry_delay_max_ms: NotRequired[float]
    reordering_delay_mean_ms: NotRequired[float]
    reordering_delay_max_ms: NotRequired[float]


class Medium(TypedDict):
    """One medium. The times sum to that of the run without its warm-up.

    It is busy while one station has its turn, with what acknowledges it, and collided while several have.
    """

    name: str
    idle_s: float
    busy_s: float
    collided_s: float


class Circuit(TypedDict):
    """One TCP circuit (paper 000). Data packets are forwarded; header packets and their ACKs are overhead.

    So are repairs of data packets, which are there with `fec=auto`.
    """

    name: str
    index: int
    scheme: str
    forwarded_packets: int
    forwarded_bytes: int
    tunnel_queue_drops: int
    header_packets_sent: int
    header_bytes_sent: int
    header_packets_lost: int
    control_acks_sent: int
    control_ack_bytes_sent: int
    control_acks_lost: int
    control_window_mean_packets: float
    timeouts: int
    cwnd_reductions: int
    repair_packets_sent: NotRequired[int]
    repair_bytes_sent: NotRequired[int]
    repair_packets_lost: NotRequired[int]
    data_packets_recovered: NotRequired[int]


class Run(TypedDict):
    """One scheme, one seed."""

    scheme: str
    seed: int
    duration_s: float
    warmup_s: float
    goodput_bps: float
    jain_index: float | None
    bound_bps: float
    flows: list[Flow]
    links: list[Link]
    media: NotRequired[list[Medium]]
    circuits: list[Circuit]
    events: int
    packets_delivered: int
