"""Equations (1) to (4), and what the paper computes with them."""

from __future__ import annotations

import math

from airtcp.papers.frame import Context, Result, SweepPlot, absolute, claim, experiment

HEADER_BYTES = 52
"""HP_Sz: 40 bytes of TCP/IP headers and 12 of the timestamp option (§4.8.3)."""


@experiment("D0", where="§3, eqs (1)–(4); §7; §8.3", title="Closed forms")
def d0(_ctx: Context) -> Result:
    """The packet error rate, the window at which an idealized TCP loses a packet, and what it carries."""
    short_loss = per(3e-5, 576)
    long_loss = per(2e-6, HEADER_BYTES)
    return Result(
        rows=(
            absolute("PER at BER 3e-5, 576 B (eq 1)", 0.14, short_loss, ""),
            absolute("W at PER 0.14 (eq 2)", 4, window(0.14), "packets"),
            absolute("W at BER 2e-6, 52 B (§8.3)", 56, window(long_loss), "packets"),
            absolute("MAT at W 56, 1500 B, 100 ms (§8.3)", 652_500, mat(56, 1500, 0.1), "B/s"),
            absolute(
                "MAT at W 4, 576 B, 540 ms (eq 4)",
                26,
                mat(4, 576, 0.54) * 8e-3,
                "kbit/s",
                note="eq (3) gives 38.4; 26 is 3/4·W·PS/RTT, without the 3/2 that eq (3) adds.",
                moved_by="the paper's number does not follow from its own eq (3), which its §8.3 obeys.",
            ),
            claim(
                "the exact packet error rate is as good as its first-order form",
                math.isclose(per(2e-6, 1500), 1 - (1 - 2e-6) ** (8 * 1500), rel_tol=0.02),
                evidence=f"at BER 2e-6, 1500 B: {per(2e-6, 1500):.4f} and {1 - (1 - 2e-6) ** (8 * 1500):.4f}",
            ),
        ),
        figures={
            "window": SweepPlot(
                "bit error rate",
                "W [packets]",
                {
                    f"{size} B": {ber * 1e-7: window(per(ber * 1e-7, size)) for ber in range(1, 31)}
                    for size in (HEADER_BYTES, 576, 1500)
                },
                caption="The window at which an idealized TCP loses its next packet, by packet size",
                log_y=True,
            )
        },
    )


def per(ber: float, packet_bytes: int) -> float:
    """Eq (1), the first-order form."""
    return ber * packet_bytes * 8


def window(loss: float) -> float:
    """Eq (2): the W with 3/8·W² + 3/4·W = 1/PER."""
    return -1 + math.sqrt(1 + 8 / (3 * loss))


def mat(window_packets: float, packet_bytes: int, rtt_s: float) -> float:
    """Eq (3), in B/s: the packets of a cycle over its W/2 round trips."""
    return (3 / 4 * window_packets + 3 / 2) * packet_bytes / rtt_s
