"""Writes the link's rate: a trace or a log itself, a rate from a transfer, or a default."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from airtcp.fit.draft import Draft, Entry, number, percent, rate, text
from airtcp.fit.estimates import Estimates
from airtcp.fit.evidence import SHORTEST_S, Evidence, From, mean_rate, there
from airtcp.fit.findings import Finding, Unknown
from airtcp.fit.measurement import Direction, LinkRate, Offered, Throughput
from airtcp.fit.overload import Overload
from airtcp.fit.path_settled import settled_rate
from airtcp.fit.reached import SEVERAL, Reached, reached

DEFAULT_RATE_BPS = 10e6
"""Default without a measurement, as in `airtcp compare` without a scenario."""


@dataclass(frozen=True)
class Given:
    """What the user specified."""

    rate_bps: float | None = None
    reverse_rate_bps: float | None = None


def put_rate(
    draft: Draft, evidence: Evidence, estimates: Estimates, given: Given, folder: Path, name: str
) -> None:
    """Writes `rate`, `trace` or `log` of each direction. Paths are relative to `folder`."""
    forward = _capacity(evidence.capacity.get("forward"), folder, f"{name}.log.json", draft)
    if given.rate_bps is not None:
        entry = Entry("rate", text(rate(given.rate_bps)), ("Given by --rate.",))
    elif forward is not None:
        entry = forward
    else:
        entry = (
            settled_rate(draft) or _shown(draft, evidence, estimates, "forward") or _assumed(draft, evidence)
        )
    draft.forward.append(entry)
    settled_bps = draft.settled.what.best.link_bps if draft.settled is not None else None
    draft.rate_bps = (
        given.rate_bps or settled_bps or _rate_of(evidence, estimates, "forward") or DEFAULT_RATE_BPS
    )
    forward_bps = _fixed(evidence, estimates, given.rate_bps or settled_bps, "forward")
    if forward_bps is not None:
        draft.known_rates_bps = (
            forward_bps,
            _fixed(evidence, estimates, given.reverse_rate_bps, "reverse") or forward_bps,
        )
    back = _way_back(draft, evidence, estimates, given, folder, name)
    if back is not None:
        draft.reverse.append(back)


def _way_back(
    draft: Draft, evidence: Evidence, estimates: Estimates, given: Given, folder: Path, name: str
) -> Entry | None:
    capacity = evidence.capacity.get("reverse")
    if given.reverse_rate_bps is not None:
        return Entry("rate", text(rate(given.reverse_rate_bps)), ("Given by --reverse-rate.",))
    if capacity is not None and capacity.what is not getattr(evidence.capacity.get("forward"), "what", None):
        return _capacity(capacity, folder, f"{name}.reverse.log.json", draft)
    shown = _shown(draft, evidence, estimates, "reverse")
    if shown is None and capacity is None:
        draft.unknown.append(
            Unknown(
                "capacity in the reverse direction",
                "No input measures it.",
                "It is as in the forward direction.",
                "Use --reverse-rate or an input for that direction.",
            )
        )
    return shown


def _shown(draft: Draft, evidence: Evidence, estimates: Estimates, way: Direction) -> Entry | None:
    """Returns what a transfer shows: the link's rate if it was filled, otherwise the rate reached."""
    link_rate = evidence.link_rate.get(way)
    if link_rate is not None and link_rate.what.estimate_bps is not None:
        return _estimated(link_rate, link_rate.what.estimate_bps, way, draft)
    if (sent := estimates.overloads.get(way)) is not None and sent.is_likely:
        return _overloaded(evidence.offered[way], sent, draft)
    found = reached(evidence, way)
    if found is None:
        return None
    return _reached(evidence.reached[way], found, draft) if found.is_rate else None


def _estimated(found: From[LinkRate], estimate_bps: float, way: Direction, draft: Draft) -> Entry:
    seen = found.what
    # Where few trains are long enough to show the link, most are slower than it.
    is_above = seen.at_most_bps is not None and seen.at_most_bps >= estimate_bps
    above = f", seldom above {rate(seen.at_most_bps or 0.0)}" if is_above else ""
    crowd = "" if seen.crowd is None else f", {percent(seen.crowd)} of the bytes"
    finding = Finding(
        f"rate {there(way)}",
        rate(estimate_bps),
        f"at least {rate(min(seen.at_least_bps, estimate_bps))}{above}",
        f"The rate of most packet trains in {found.name}{crowd}: the slowest link spaces them.",
    )
    draft.found.append(finding)
    return Entry("rate", text(rate(estimate_bps)), (finding.text,))


def _fixed(evidence: Evidence, estimates: Estimates, given_bps: float | None, way: Direction) -> float | None:
    """Returns a constant rate that is not a default."""
    return given_bps or (None if way in evidence.capacity else _rate_of(evidence, estimates, way))


def _rate_of(evidence: Evidence, estimates: Estimates, way: Direction) -> float | None:
    if way in evidence.capacity:
        return mean_rate(evidence.capacity[way].what)
    link_rate = evidence.link_rate.get(way)
    if link_rate is not None and link_rate.what.estimate_bps is not None:
        return link_rate.what.estimate_bps
    if (sent := estimates.overloads.get(way)) is not None and sent.is_likely:
        return sent.arrived_bps
    found = reached(evidence, way)
    return max(1.0, found.rate_bps) if found is not None and found.is_rate else None


def _capacity(found: From[Throughput] | None, folder: Path, converted: str, draft: Draft) -> Entry | None:
    if found is None:
        return None
    throughput, replay = found.what, found.source.replay
    way = there(throughput.direction)
    if replay is None and len(throughput.rate_bps) == 1:
        estimate = Finding(f"rate {way}", rate(mean_rate(throughput)), "", f"Estimated from {found.name}.")
        draft.found.append(estimate)
        return Entry("rate", text(rate(mean_rate(throughput))), (estimate.text,))
    finding = Finding(
        f"capacity {way}",
        f"{rate(mean_rate(throughput))} mean",
        _spread(throughput),
        f"{found.name} ({found.source.format}) is replayed as recorded, "
        f"{throughput.interval_s.sum():.0f} s and then again.",
    )
    draft.found.append(finding)
    draft.replays(float(throughput.interval_s.sum()))
    if replay is not None:
        place = os.path.relpath(found.source.source, folder)
        return Entry(replay.key, text(Path(place).as_posix()), (finding.text,))
    draft.files[converted] = as_log(throughput)
    return Entry("log", text(converted), (finding.text, f"{converted} is {found.name} as a log."))


def as_log(throughput: Throughput) -> str:
    """Returns the JSON that `log` reads."""
    steps = [
        {"duration_ms": round(float(length) * 1e3, 3), "bandwidth_kbps": round(float(bps) / 1e3, 3)}
        for length, bps in zip(throughput.interval_s, throughput.rate_bps, strict=True)
        if length >= SHORTEST_S
    ]
    if throughput.rtt_s is not None and np.isfinite(throughput.rtt_s).any():
        usual = float(np.nanmedian(throughput.rtt_s))
        long_enough = throughput.rtt_s[throughput.interval_s >= SHORTEST_S]
        for step, rtt in zip(steps, long_enough, strict=True):
            step["latency_ms"] = round(float(rtt if np.isfinite(rtt) else usual) * 1e3, 3)
    return "[\n" + ",\n".join(f"  {json.dumps(step)}" for step in steps) + "\n]\n"


def _spread(throughput: Throughput) -> str:
    if len(throughput.rate_bps) < 3:
        return ""
    low, high = np.quantile(throughput.rate_bps, [0.05, 0.95])
    return f"nine tenths of the time {rate(float(low)) if low >= 1 else 'nothing'} to {rate(float(high))}"


def _overloaded(source: From[Offered], found: Overload, draft: Draft) -> Entry:
    """A rate that arrived while more was sent is the capacity."""
    finding = Finding(
        f"rate {there(source.what.direction)}",
        rate(found.arrived_bps),
        "",
        f"It arrived in {source.name} while {rate(found.sent_bps)} was sent: more than the link carries.",
    )
    draft.found.append(finding)
    return Entry("rate", text(rate(found.arrived_bps)), (finding.text,))


def _reached(source: From[Throughput], found: Reached, draft: Draft) -> Entry:
    way = source.what.direction if source.what.direction != "both" else "forward"
    least = rate(max(1.0, found.rate_bps))
    often = "at best" if found.is_best else "one time in twenty"
    over = f"over {SEVERAL} round trips and more, {often}" if found.is_quantile else (
        f"in {number(found.within_s, 3)} s, from the first packet to the last"
    )  # fmt: skip
    finding = Finding(
        f"rate {there(way)}",
        f"at least {least}",
        f"{rate(mean_rate(source.what))} mean" if found.is_quantile else "",
        f"So much arrived in {source.name} {over}; the link may be faster.",
    )
    draft.found.append(finding)
    draft.unknown.append(
        Unknown(
            f"capacity {there(way)}",
            "A transfer shows what it reached, not the capacity of the link.",
            f"The best rate it reached, {least}, is assumed.",
            f"{'--rate' if way == 'forward' else '--reverse-rate'} says otherwise.",
        )
    )
    return Entry("rate", text(least), (finding.text,))


def _assumed(draft: Draft, evidence: Evidence) -> Entry:
    burst, why = reached(evidence, "forward"), "No input shows the link rate."
    if burst is not None:
        name, trips = evidence.reached["forward"].name, max(burst.round_trips, 0.1)
        lasted = f"{number(trips, 2)} round trip{'' if number(trips, 2) == '1' else 's'}"
        why = f"{name} lasted {lasted}, in which {rate(burst.rate_bps)} arrived: a burst, not a rate."
    unknown = Unknown(
        "rate",
        why,
        f"{DEFAULT_RATE_BPS / 1e6:g} Mbit/s assumed.",
        "Give --rate, or add an iperf3 result of some seconds, a capture or a capacity trace.",
    )
    draft.unknown.append(unknown)
    return Entry("rate", text(rate(DEFAULT_RATE_BPS)), (f"ASSUMED. {unknown.text}",))
