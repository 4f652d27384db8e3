"""Writes `delay`, `jitter`, `spikes` and `outages`, from round trips and one-way delays."""

from __future__ import annotations

import numpy as np

from airtcp.fit.delay import Delay, Variation
from airtcp.fit.draft import Draft, Entry, duration, milliseconds, number, percent, table, text
from airtcp.fit.episodes import Episode
from airtcp.fit.estimates import Estimates
from airtcp.fit.evidence import Evidence, From, there
from airtcp.fit.findings import Finding, Unknown
from airtcp.fit.measurement import Direction, OneWay, RoundTrips
from airtcp.fit.path_kind import put_steps, steps_of
from airtcp.fit.path_replay import (
    NO_JITTER,
    interval_ms,
    moments_ms,
    put_levels,
    replay_there_and_back,
    replay_way,
)
from airtcp.fit.path_settled import put_settled_base

DEFAULT_ROUND_TRIP_S = 0.05
"""Default without a measurement, as in `airtcp compare` without a scenario."""
POOR_FIT = 0.1
WAY_NAMES: dict[Direction, str] = {"forward": "there", "reverse": "back"}
"""As `airtcp measure` calls them."""
PACKET_BYTES = 1500
ACK_BYTES = 52
PING_BYTES = 84


def put_delay(draft: Draft, evidence: Evidence, estimates: Estimates, *, replay: bool, name: str) -> None:
    """Writes what round trips show, and one-way delays if known."""
    source, delay = evidence.idle or evidence.loaded, estimates.delay
    if source is None or delay is None:
        _without_round_trips(draft, evidence)
        return
    draft.delay = delay
    if delay.dropped:
        draft.notes.append(
            f"{delay.dropped} round trips of {source.name} are not positive or too short and were ignored."
        )
    ways = estimates.ways if evidence.idle is not None and not replay else {}
    steps = steps_of(estimates) if not (replay or ways) else None
    if evidence.idle is not None and steps is not None:
        put_steps(draft, evidence.idle, delay, steps, _time_on_the_link(draft, evidence.idle))
    elif evidence.idle is not None and (replay or (delay.unlike and not ways)):
        own_s = _time_on_the_link(draft, evidence.idle)
        replay_there_and_back(draft, evidence.idle, f"{name}.rtt.txt", delay, own_s)
        if delay.levels is not None:
            put_levels(draft, delay.levels, delay, _spacing_s(evidence.idle.what))
    elif ways:
        _each_way(draft, evidence, ways, name)
        if not any(each.unlike for each in ways.values()):
            _episodes(draft, delay)
    else:
        if evidence.idle is not None or not put_settled_base(draft, delay):
            _base(draft, source, delay)
        if evidence.idle is None:
            _under_load(draft, source)
        else:
            _variation(draft, source.name, delay)
            _episodes(draft, delay)


def _without_round_trips(draft: Draft, evidence: Evidence) -> None:
    capacity = evidence.capacity.get("forward")
    if capacity is not None and capacity.what.rtt_s is not None:
        known = capacity.what.rtt_s[np.isfinite(capacity.what.rtt_s)]
        middle = f"{number(float(np.median(known)) * 1e3)} ms median" if len(known) else "as it has it"
        draft.found.append(
            Finding("round trip", middle, "", f"{capacity.name} has it for each moment; half of it each way.")
        )
        if capacity.source.replay is None or capacity.source.replay.key == "log":
            return
    draft.assume(
        "delay",
        text(milliseconds(DEFAULT_ROUND_TRIP_S / 2)),
        Unknown(
            "round trip",
            "No input measures it.",
            f"{milliseconds(DEFAULT_ROUND_TRIP_S)} assumed, half in each direction.",
            "Add a ping log to this input, or change `delay`, which is one-way.",
        ),
    )


def _base(draft: Draft, source: From[RoundTrips], delay: Delay) -> None:
    load = " of a transfer's own packets" if source.source.transfer else ""
    how = f"The least of {delay.n} round trips{load} in {source.name}."
    if delay.variation is not None:
        how = (
            f"Best log-normal fit to the {delay.n} round trips in {source.name}, whose least is "
            f"{number(delay.least_s * 1e3)} ms."
        )
    own = _time_on_the_link(draft, source)
    if own > 0:
        how += (
            f" {number(own * 1e3, 3)} ms of it are the packets' own time on the link, and no part of `delay`."
        )
    finding = Finding(
        "round trip without a queue", f"{number(delay.base_s.best * 1e3)} ms", interval_ms(delay.base_s), how
    )
    draft.add("delay", text(milliseconds((delay.base_s.best - own) / 2)), finding)
    draft.unknown.append(
        Unknown(
            "how delay divides between the two directions",
            "A round trip does not show it.",
            "Half in each direction assumed; all variation is put in the forward direction.",
            "Change `delay` and `jitter` of either direction.",
        )
    )


def _each_way(draft: Draft, evidence: Evidence, ways: dict[Direction, Delay], name: str) -> None:
    """Writes delay and variation of each direction by itself. One that is like no log-normal is replayed."""
    for way, delay in ways.items():
        source = evidence.one_way[way]
        if delay.unlike:
            own = _own_time(draft, way, source.what.packet_bytes, delay.least_s)
            replay_way(draft, source, f"{name}.{WAY_NAMES[way]}.txt", delay, own, _clocks(source.what))
            continue
        own = _own_time(draft, way, source.what.packet_bytes, delay.base_s.best)
        how = f"The least of {delay.n} packets in {source.name}."
        if delay.variation is not None:
            how = f"Best log-normal fit to the delays of {delay.n} packets in {source.name}."
        how += _clocks(source.what)
        if own > 0:
            how += (
                f" {number(own * 1e3, 3)} ms of it are the packets' own time on the link, and no part of it."
            )
        shown = f"{number(delay.base_s.best * 1e3)} ms"
        finding = Finding(f"delay {there(way)}", shown, interval_ms(delay.base_s), how)
        entry = Entry("delay", text(milliseconds(delay.base_s.best - own)), (finding.text,))
        draft.found.append(finding)
        (draft.forward if way == "forward" else draft.reverse).append(entry)
        _variation(draft, source.name, delay, way)
    varies = {way: each.variation is not None or bool(each.unlike) for way, each in ways.items()}
    if varies["forward"] and not varies["reverse"]:
        draft.reverse.append(Entry("jitter", NO_JITTER))
    if evidence.one_way["forward"].what.clock_error_s is None:
        draft.unknown.append(
            Unknown(
                "how the minimum delay divides between the two directions",
                "The clocks of the two hosts differ.",
                "Half in each direction assumed; the variation is measured separately.",
                "Clocks synchronized by NTP or PTP on both hosts would show it.",
            )
        )


def _clocks(delays: OneWay) -> str:
    error = delays.clock_error_s
    if error is None:
        return " The clocks differ: half of the minimum round trip is assumed as the minimum delay."
    return (
        " Both hosts share one clock."
        if error == 0
        else f" The clocks agree within {number(error * 1e3, 3)} ms."
    )


def _own_time(draft: Draft, way: Direction, packet_bytes: float, most_s: float) -> float:
    """Returns a packet's transmission time if the link's rate is known, but at most half of the delay."""
    if draft.known_rates_bps is None:
        return 0.0
    there, back = draft.known_rates_bps
    return min(8 * packet_bytes / (there if way == "forward" else back), most_s / 2)


def _spacing_s(trips: RoundTrips) -> float:
    return float(np.median(np.diff(np.sort(trips.time_s)))) or 1.0


def _time_on_the_link(draft: Draft, source: From[RoundTrips]) -> float:
    """Returns the transmission time of a packet and its answer if the rate is known, but at most half of the
    RTT."""
    if draft.known_rates_bps is None or draft.delay is None:
        return 0.0
    there, back = draft.known_rates_bps
    packet = source.what.packet_bytes or (PACKET_BYTES if source.source.transfer else PING_BYTES)
    answer = ACK_BYTES if source.source.transfer else packet
    return min(8 * packet / there + 8 * answer / back, draft.delay.base_s.best / 2)


def _variation(draft: Draft, name: str, delay: Delay, way: Direction = "both") -> None:
    """Writes the variation; that of round trips is put in the forward direction."""
    varies = delay.variation
    what, where = ("delays", f" {there(way)}") if way != "both" else ("round trips", "")
    if varies is None:
        if delay.n >= 20 and way != "both":
            draft.found.append(Finding(f"variation of delay{where}", "none", "", f"All {delay.n} are alike."))
            return
        why = (
            "All round trips are equal." if delay.n >= 20 else f"{delay.n} {what} are too few to measure it."
        )
        draft.unknown.append(
            Unknown(
                f"variation of delay{where}",
                why,
                "None assumed.",
                "A longer ping log would show it; 600 probes suffice.",
            )
        )
        return
    finding = Finding(
        f"variation of delay{where}" if where else "delay above that",
        f"{number(varies.mean_s * 1e3)} ms mean, standard deviation {number(varies.deviation_s * 1e3)} ms "
        f"(measured {number(varies.measured_deviation_s * 1e3)} ms)",
        moments_ms(varies.interval),
        "Log-normal; its distribution function is nowhere more than "
        f"{percent(max(varies.misfit, 0.001), 2)} from the measured one.",
    )
    memory, coefficient = _memory(draft, varies, what, where)
    entry = Entry(
        "jitter",
        table(
            distribution=text("correlated"),
            mean=text(milliseconds(varies.mean_s)),
            deviation=text(milliseconds(varies.deviation_s)),
            autocorrelation=number(coefficient, 3),
            interval=text(duration(varies.correlation.interval_s)),
            overtaking="false",
        ),
        tuple(each.text for each in (finding, *memory)),
    )
    draft.found += [finding, *memory]
    (draft.reverse if way == "reverse" else draft.forward).append(entry)
    if way == "both":
        draft.reverse.append(Entry("jitter", NO_JITTER))
    if varies.misfit > POOR_FIT:
        draft.notes.append(
            f"A log-normal misses the {what} of {name}{where} by {percent(varies.misfit, 2)}: "
            "--replay uses the measured ones instead."
        )


def _memory(draft: Draft, varies: Variation, what: str, where: str) -> tuple[list[Finding], float]:
    found = varies.correlation
    coefficient = found.of_delays(varies.sigma)
    interval = number(found.interval_s) + " s"
    if found.coefficient is not None and found.is_seen:
        value = found.coefficient
        bounds = f"{number(value.low or 0, 2)} to {number(value.high or 1, 2)}"
        how = (
            f"Rank correlation of values {interval} apart; that of the log-normal itself is "
            f"{number(coefficient, 3)}. It decays with time in between."
        )
        return [Finding(f"correlation{where}", number(value.best, 2), bounds, how)], coefficient
    why = (
        f"{what.capitalize()} {interval} apart are uncorrelated." if found.coefficient else "Too few samples."
    )
    draft.unknown.append(
        Unknown(
            f"how delay changes within {interval}{where}",
            why,
            f"A correlation of {percent(coefficient, 2)} after that time is assumed.",
            "A faster ping (-i 0.2) would show it.",
        )
    )
    return [], coefficient


def _episodes(draft: Draft, delay: Delay) -> None:
    if delay.spikes is not None:
        spikes = delay.spikes
        draft.add(
            "spikes",
            table(
                every=text(duration(spikes.every_s.best)),
                length=text(duration(spikes.length_s)),
                extra=text(milliseconds(spikes.extra_s)),
            ),
            _episode(
                "delay spikes",
                spikes,
                f"{number(spikes.extra_s * 1e3)} ms more for {duration(spikes.length_s)}",
                draft.run_s,
            ),
        )
        if spikes.single:
            draft.notes.append(
                "Each spike was seen by one packet only: spikes may be shorter, and more frequent."
            )
    if delay.stalls is not None:
        stalls = delay.stalls
        draft.add(
            "outages",
            table(every=text(duration(stalls.every_s.best)), length=text(duration(stalls.length_s))),
            _episode(
                "stalls, after which all answers arrive together",
                stalls,
                f"{duration(stalls.length_s)} mean",
                draft.run_s,
            ),
        )


def _episode(quantity: str, found: Episode, what: str, run_s: float) -> Finding:
    low, high = found.every_s.low or 0.0, found.every_s.high or 0.0
    times = "once" if found.count == 1 else f"{found.count} times"
    return Finding(
        quantity,
        f"{what}, every {duration(found.every_s.best)}",
        f"{duration(low)} to {duration(high)}",
        f"Seen {times}, and excluded from the values above."
        + (" Many runs will end before one occurs." if found.every_s.best > run_s else ""),
    )


def _under_load(draft: Draft, source: From[RoundTrips]) -> None:
    """Reports the variation of a transfer's round trips, which its own queue causes as much as the path."""
    draft.unknown.append(
        Unknown(
            "variation of delay without load",
            f"The round trips of {source.name} include the queue that the transfer filled.",
            "None assumed; the simulated transfer fills its own queue.",
            "Add a ping log of the idle path.",
        )
    )
