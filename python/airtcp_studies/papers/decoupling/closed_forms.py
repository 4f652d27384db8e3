"""The closed forms of paper 000, as `airtcp model` computes them."""

from __future__ import annotations

from airtcp_studies.frame import Context, Result, SweepPlot, Tried, absolute, claim, experiment, gain, ratio
from airtcp_studies.model.formulas import (
    decoupling_gain,
    goodput_bound,
    maximum_allowable_throughput,
    maximum_allowable_window,
    packet_error_rate,
    packet_error_rate_first_order,
)
from airtcp_studies.papers.decoupling.paths import BUFFERS, HEADER_BYTES, MTU_BYTES, STACK
from airtcp_studies.papers.decoupling.simulated_forms import SAME, simulated

KBIT = 8e-3
"""kbit in a byte."""


@experiment(
    "D0", where="abstract; §3, eqs (1)–(4); §7; §8.3", title="Closed forms", parameters=(STACK, BUFFERS)
)
def d0(ctx: Context) -> Result:
    """The packet error rate, the window at which an idealized TCP loses a packet, and what it carries; beside
    it, the simulator with §3's example: BER 3e-5, packets of 576 B, RTT 540 ms, 1000 s, 5 seeds."""
    loss = packet_error_rate_first_order(3e-5, 576)
    header_loss = packet_error_rate_first_order(2e-6, HEADER_BYTES)
    data_loss = packet_error_rate_first_order(2e-6, MTU_BYTES)
    exact = packet_error_rate(2e-6, MTU_BYTES)
    mat = maximum_allowable_throughput(56, MTU_BYTES, 0.1)
    coupled, decoupled = (maximum_allowable_throughput(w, 576, 0.54) * KBIT for w in (4, 14))
    # The paper's numbers do not follow from its own eq (3), which its §8.3 obeys.
    packet = 576 * KBIT / 0.54
    by_growth, by_window = 3 / 4 * 4 * packet, 14 * packet
    root = root_law()
    return Result(
        rows=(
            absolute("PER at BER 3e-5, 576 B (eq 1)", 0.14, loss, ""),
            absolute("W at PER 0.14 (eq 2)", 4, maximum_allowable_window(0.14), "packets"),
            absolute(
                "W for header packets of 52 B at BER 3e-5 (§7)",
                14,
                maximum_allowable_window(packet_error_rate_first_order(3e-5, HEADER_BYTES)),
                "packets",
            ),
            absolute("PER of header packets at BER 2e-6 (§8.3)", 0.0008, header_loss, ""),
            absolute("W for them (§8.3)", 56, maximum_allowable_window(header_loss), "packets"),
            absolute("MAT at W 56, 1500 B, 100 ms (§8.3)", 652_500, mat, "B/s"),
            absolute(
                "goodput bound there (§8.3)",
                615,
                goodput_bound(mat, data_loss, MTU_BYTES, HEADER_BYTES) * 1e-3,
                "KB/s",
            ),
            absolute(
                "MAT at W 4, 576 B, 540 ms (eq 4)",
                26,
                coupled,
                "kbit/s",
                tried=[Tried("3/4·W·PS/RTT, without the 3/2 that eq (3) adds", by_growth)],
            ),
            absolute(
                "MAT at W 14 there (§7)",
                119,
                decoupled,
                "kbit/s",
                note="119 is W·PS/RTT.",
            ),
            ratio(
                "speed-up by decoupling there (§7)",
                4.57,
                decoupled / coupled,
                tried=[Tried("W·PS/RTT at W 14 over 3/4·W·PS/RTT at W 4", by_window / by_growth)],
            ),
            claim(
                "the exact packet error rate is as good as its first-order form",
                abs(data_loss / exact - 1) < 0.02,
                evidence=f"at BER 2e-6, 1500 B: {data_loss:.4f} and {exact:.4f}",
            ),
            gain(
                "the improvement that √(MTU/HP_Sz) predicts for 1500 and 40 B (abstract)",
                350,
                100 * (decoupling_gain(MTU_BYTES, 40) - 1),
                tried=[
                    Tried(
                        f"header packets of {HEADER_BYTES} B, as in §8",
                        100 * (decoupling_gain(MTU_BYTES, HEADER_BYTES) - 1),
                    )
                ],
            ),
            claim(
                "W is inversely proportional to √(BER·PS) (§8.3)",
                max(abs(value / root[0] - 1) for value in root) < SAME,
                evidence=f"W·√PER is {min(root):.2f} to {max(root):.2f} over Fig 10's bit error rates, 52 "
                "and 1500 B",
            ),
            *simulated(ctx),
        ),
        figures={
            "window": SweepPlot(
                "bit error rate",
                "W [packets]",
                {
                    f"{size} B": {
                        ber * 1e-7: maximum_allowable_window(packet_error_rate_first_order(ber * 1e-7, size))
                        for ber in range(1, 31)
                    }
                    for size in (HEADER_BYTES, 576, MTU_BYTES)
                },
                caption="The window at which an idealized TCP loses its next packet, by packet size",
                log_y=True,
            )
        },
    )


def root_law() -> list[float]:
    """Returns W·√PER where Fig 10 begins and ends; first for the fewest errors."""
    rates = [
        packet_error_rate_first_order(ber, size)
        for ber in (1e-7, 20e-7)
        for size in (HEADER_BYTES, MTU_BYTES)
    ]
    return [maximum_allowable_window(rate) * rate**0.5 for rate in rates]
