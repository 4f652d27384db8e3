"""Whether the hosts' buffers, not the path, limit every scheme, and the cure."""

from __future__ import annotations

from dataclasses import dataclass

from airtcp._engine import size_in_bytes
from airtcp.facts.scheme import Scheme

SEND_BUFFER_BYTES = 4 << 20
"""The largest send buffer that Linux gives a socket unasked (the last value of `tcp_wmem`)."""
RECEIVE_WINDOW_BYTES = 16 << 20
"""The largest window in profile `linux`: half of `tcp_rmem`, which is 32 MiB since Linux 6.16."""
OLDER_WINDOW_BYTES = 3 << 20
"""The largest window that all receivers offer: before Linux 6.16, `tcp_rmem` is 6 MiB."""
SHARE_OF_DATA = 0.8
"""Of a send buffer, in the mean, as in the engine: its key `send_buffer` says why."""
BUFFER_BDPS = 2.5
"""Bandwidth-delay products of buffer that hold two of data: one more while a hole is open."""
TOLERANCE = 0.95
"""What carries at least this share of the path is not worth a setting."""
LARGEST_BYTES = (1 << 31) - 1
"""What the kernel's sysctls hold."""
PROFILE = "linux"


@dataclass(frozen=True)
class Buffers:
    """What a flow's buffers let be under way, and what the path holds of it. Sizes in bytes."""

    held: float
    """The path's bandwidth-delay product, per flow."""
    rtt_s: float
    send: float
    window: float
    older: float
    """The window if it is not known and the receiver's Linux is older than the profile's."""

    @classmethod
    def of(cls, scheme: str, profile: str, bound_bps: float, rtt_s: float, flows: int) -> Buffers:
        """Returns those of `flows` flows that share a path which could carry `bound_bps`."""
        keys = {key: value for term in Scheme(scheme).terms for key, value in term.keys.items()}
        is_linux = keys.get("profile", profile) == PROFILE
        windows = (RECEIVE_WINDOW_BYTES, OLDER_WINDOW_BYTES) if is_linux else (None, None)
        window, older = (_bytes(keys.get("receive_window"), default) for default in windows)
        send = _bytes(keys.get("send_buffer"), SEND_BUFFER_BYTES if is_linux else None)
        return cls(bound_bps * rtt_s / 8 / max(flows, 1), rtt_s, SHARE_OF_DATA * send, window, older)

    @property
    def sender_limits(self) -> bool:
        return self.send < TOLERANCE * self.held

    @property
    def receiver_limits(self) -> bool:
        return self.window < TOLERANCE * self.held

    @property
    def wanted(self) -> int:
        """A send buffer that does not limit. A receive window of that size takes twice the buffer."""
        return min(round(BUFFER_BDPS * self.held), LARGEST_BYTES // 2)

    def first(self) -> str | None:
        """Says what limits every scheme, and the cure; None if the buffers do not."""
        if not (self.sender_limits or self.receiver_limits):
            return None
        least = min(self.send, self.window)
        whose, sysctl = ("send buffer", "wmem") if least == self.send else ("receive window", "rmem")
        cures = []
        if self.sender_limits:
            cures.append(f"at the sender sysctl -w net.ipv4.tcp_wmem='4096 16384 {self.wanted}'")
        if self.older < TOLERANCE * self.held:
            receiver = "the receiver" if self.receiver_limits else "a receiver with Linux before 6.16"
            cures.append(f"at {receiver} sysctl -w net.ipv4.tcp_rmem='4096 131072 {2 * self.wanted}'")
        return (
            f"The hosts' buffers limit every congestion control here: the path holds {_mb(self.held)} for a"
            f" round trip of {1000 * self.rtt_s:.3g} ms, and the {whose} (net.ipv4.tcp_{sysctl}) lets"
            f" {_mb(least)} be under way, so that a connection carries at most"
            f" {8 * least / self.rtt_s / 1e6:.3g} Mbit/s. Before anything else, {' and '.join(cures)}; or"
            " SO_SNDBUF and SO_RCVBUF of the application"
        )


def _bytes(given: str | None, default: int | None) -> float:
    if given is not None:
        return size_in_bytes(given)
    return float("inf") if default is None else default


def _mb(size: float) -> str:
    return f"{size / 1e6:.3g} MB"
