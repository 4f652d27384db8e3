"""What fping and mtr would have written of probes over a simulated path."""

from __future__ import annotations

import math

from airtcp_studies.calibration.probes import Probes

HOST = "192.0.2.1"
_FROM_S = 1_767_225_600
"""When the first probe leaves: 2026-01-01."""
_SHOWN_MS = ((1.0, ".3f"), (10.0, ".2f"), (100.0, ".1f"), (1e6, ".0f"))
"""fping prints three digits, and as many as there are before the point."""


def fping_text(probes: Probes) -> str:
    """Returns what `fping -D -c COUNT` prints of its probes; sums, which go to another file, are left out."""
    lines, answered, total_ms = [], 0, 0.0
    for number, (sent_s, rtt_s) in enumerate(zip(probes.sent_s.tolist(), probes.rtt_s.tolist(), strict=True)):
        lost = 100 * (number + 1 - answered - (not math.isnan(rtt_s))) // (number + 1)
        if math.isnan(rtt_s):
            of = f"{_shown(total_ms / answered)} avg" if answered else "NaN avg"
            lines.append(f"[{_FROM_S + sent_s:.5f}] {HOST} : [{number}], timed out ({of}, {lost}% loss)")
            continue
        answered, total_ms = answered + 1, total_ms + 1e3 * rtt_s
        lines.append(
            f"[{_FROM_S + sent_s + rtt_s:.5f}] {HOST} : [{number}], {probes.packet_bytes - 20} bytes, "
            f"{_shown(1e3 * rtt_s)} ms ({_shown(total_ms / answered)} avg, {lost}% loss)"
        )
    return "\n".join(lines) + "\n"


def _shown(rtt_ms: float) -> str:
    return format(rtt_ms, next(form for below, form in _SHOWN_MS if rtt_ms < below))


def mtr_raw(probes: Probes) -> str:
    """Returns what `mtr --raw -n` prints if the target is the first hop."""
    lines = []
    for number, rtt_s in enumerate(probes.rtt_s.tolist()):
        sequence = 33_000 + number
        lines.append(f"x 0 {sequence}")
        if not math.isnan(rtt_s):
            lines += [f"h 0 {HOST}"] if number == 0 else []
            lines.append(f"p 0 {round(1e6 * rtt_s)} {sequence}")
    return "\n".join(lines) + "\n"
