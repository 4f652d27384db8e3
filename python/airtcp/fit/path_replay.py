"""Writes delays that are replayed as measured: the floor as `delay`, and a file of what is above it."""

from __future__ import annotations

import numpy as np

from airtcp.fit.delay import Delay, believable, overtakes
from airtcp.fit.draft import LINK, Draft, Entry, duration, milliseconds, number, percent, table, text
from airtcp.fit.evidence import From, there
from airtcp.fit.findings import Finding, Reading, Unknown, Value
from airtcp.fit.levels import Levels
from airtcp.fit.measurement import Floats, OneWay, RoundTrips
from airtcp.fit.moments import Moments

NO_JITTER = table(distribution=text("constant"), mean=text("0ms"), overtaking="false")
MEMORYLESS = "0.05"


def replay_there_and_back(
    draft: Draft, source: From[RoundTrips], file: str, delay: Delay, own_s: float
) -> None:
    """Replays round trips, half in each direction; `own_s` of each is the packets' own time on the link."""
    jitter, finding = _series(draft, source.what, file, 0.5, "round trips", delay)
    how = f"{file} has what is above {number(delay.least_s * 1e3)} ms, from {source.name}; half of each "
    how += f"goes to either direction. {finding.how}{_why(delay)}"
    put_floor(draft, source, delay, own_s)
    draft.add("jitter", jitter, Finding(finding.quantity, finding.shown, finding.interval, how))


def put_floor(draft: Draft, source: From[RoundTrips], delay: Delay, own_s: float) -> None:
    """Writes the least round trip, half in each direction."""
    floor = Finding(
        "round trip without a queue",
        f"{number(delay.least_s * 1e3)} ms",
        interval_ms(delay.base_s),
        f"The least of {delay.n} round trips in {source.name}.",
    )
    draft.add("delay", text(milliseconds((delay.least_s - own_s) / 2)), floor)


def replay_way(
    draft: Draft, source: From[OneWay], file: str, delay: Delay, own_s: float, clocks: str
) -> None:
    """Replays the delays of one direction."""
    delays, way = source.what, source.what.direction
    trips = RoundTrips(delays.time_s, delays.delay_s, delays.packet_bytes)
    jitter, finding = _series(draft, trips, file, 1.0, f"delays {there(way)}", delay)
    how = f"{file} has what is above {number(delay.least_s * 1e3)} ms, from {source.name}. "
    how += f"{finding.how}{_why(delay)}{clocks}"
    finding = Finding(finding.quantity, finding.shown, finding.interval, how)
    draft.found.append(finding)
    entries = draft.forward if way == "forward" else draft.reverse
    floor = text(milliseconds(delay.least_s - own_s))
    entries += [Entry("delay", floor), Entry("jitter", jitter, (finding.text,))]


def _series(
    draft: Draft, trips: RoundTrips, file: str, share: float, what: str, delay: Delay
) -> tuple[str, Finding]:
    """Returns the key that replays delays at even steps of time, and what is replayed."""
    values, step = even_steps(trips)
    draft.replays(len(values) * step)
    above = np.maximum(values - delay.least_s, 0.0)
    draft.files[file] = "".join(f"{value * 1e3:.3f}\n" for value in above)
    overtaking = overtakes(step * np.arange(len(values), dtype=np.float64), values)
    jitter = table(
        distribution=text("series"),
        file=text(file),
        share=number(share),
        interval=text(duration(step)),
        overtaking="true" if overtaking else "false",
    )
    shown = (
        f"{len(values)}, replayed as measured, one every {duration(step)}: "
        f"mean {number(float(values.mean()) * 1e3)} ms, "
        f"standard deviation {number(float(values.std()) * 1e3)} ms"
    )
    how = "A lost one repeats the previous value." + (" Later packets overtake." if overtaking else "")
    return jitter, Finding(what, shown, "" if delay.whole is None else moments_ms(delay.whole), how)


def _why(delay: Delay) -> str:
    if delay.levels is not None:
        return " They are of two levels, which no log-normal has."
    return (
        f" No log-normal is like them: above the base, the best would have {delay.unlike}."
        if delay.unlike
        else ""
    )


def put_levels(draft: Draft, levels: Levels, delay: Delay, step_s: float) -> None:
    """Says that idle and loaded stretches differ, and what it would mean if the load was the user's own."""
    idle, loaded = levels.idle, levels.loaded
    draft.found.append(
        Finding(
            "two levels of round trips",
            f"idle {number(idle.mean_s * 1e3)} ms mean, standard deviation "
            f"{number(idle.deviation_s * 1e3, 3)} ms, {percent(idle.share, 2)} of the time; loaded "
            f"{number(loaded.mean_s * 1e3)} ms mean, standard deviation "
            f"{number(loaded.deviation_s * 1e3, 3)} ms",
            "",
            f"The loaded level begins after {number(levels.begins_s, 3)} s; the level changes "
            f"{'once' if levels.changes == 1 else f'{levels.changes} times'}.",
        )
    )
    path, own = "the path itself is that slow at times", "a transfer of your own filled the queue then"
    only_idle = table(
        distribution=text("correlated"),
        mean=text(milliseconds(max(idle.mean_s - delay.least_s, 1e-6))),
        deviation=text(milliseconds(max(idle.deviation_s, 1e-6))),
        autocorrelation=MEMORYLESS,
        interval=text(duration(step_s)),
        overtaking="false",
    )
    keys = ((f"link.{LINK}.jitter", only_idle), (f"link.{LINK}.reverse.jitter", NO_JITTER))
    draft.unknown.append(
        Unknown(
            "what made round trips long",
            "A queue that your own transfer filled looks like a slow path.",
            f"Both levels are replayed as the path's, as if {path}; it is also possible that {own}: the "
            "simulated transfer fills the queue by itself.",
            "Ping while nothing else is sent, or say it: the reading's keys have the idle level only.",
            (Reading(path, ()), Reading(own, keys)),
        )
    )


def even_steps(trips: RoundTrips) -> tuple[Floats, float]:
    """Returns round trips at multiples of their median spacing, each the latest by then; at most a
    million."""
    time, rtt, _ = believable(trips)
    spacing = float(np.median(np.diff(time))) if len(time) > 1 else 1.0
    span = float(time[-1] - time[0]) if len(time) else 0.0
    step = max(spacing, span / 1e6, 1e-4)
    grid = time[0] + step * np.arange(int(span / step + 0.5) + 1)
    place = np.clip(np.searchsorted(time, grid + step / 2, side="right") - 1, 0, len(time) - 1)
    values: Floats = rtt[place]
    return values, step


def interval_ms(value: Value) -> str:
    low = "below" if value.low is None else f"{number(value.low * 1e3)} to"
    return "" if value.high is None else f"{low} {number(value.high * 1e3)} ms"


def moments_ms(found: Moments) -> str:
    """Returns the intervals of both moments in words; empty without any."""
    mean, deviation = interval_ms(found.mean), interval_ms(found.deviation)
    return f"mean {mean}, standard deviation {deviation}" if mean and deviation else ""
