"""Figures over time, of one run of each scheme."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Literal

import polars as pl

from airtcp._engine import Scenario
from airtcp.facts.routes import shared_rate_bps
from airtcp.facts.scenario import document
from airtcp.facts.series import Series
from airtcp.facts.units import rate_scale, size_scale
from airtcp.showing.report.curve import cumulative, span, thinned
from airtcp.showing.report.events import Marks, counts
from airtcp.showing.report.figure import Axis, Band, Dots, Figure, Line, Mark, Part, Rule

TIME = "time [s]"
LOGARITHMIC_FROM = 6.0
"""Ratio of the highest to the lowest peak from which a linear axis would hide the small ones."""
OVERSHOOT = 1.5
"""Ratio of slow start's peak to the usual level from which it would flatten the rest."""
BINS = 60
"""Bins of goodput over time."""
PANEL = 150
ABOVE = (
    "Data count when they are in order: a step above the link's rate is a filled hole that releases what had "
    "arrived behind it."
)


@dataclass(frozen=True)
class Runs:
    """One run of each scheme, and the flow shown in it."""

    series: Mapping[str, Series]
    flow: str
    flows: int
    """Number of measured flows."""
    seed: int
    scenario: Scenario

    @property
    def end_s(self) -> float:
        return self.scenario.duration_s

    @property
    def schemes(self) -> list[str]:
        return list(self.series)

    @property
    def time(self) -> Axis:
        return Axis(TIME, time=True, from_zero=True, end=self.end_s)

    @cached_property
    def is_one_connection(self) -> bool:
        return all(_is_one_connection(found, self.flow) for found in self.series.values())

    @property
    def said(self) -> str:
        """Says which flow of which run is shown, for captions."""
        of = f"flow {self.flow}, one of {self.flows}" if self.flows > 1 else "the flow"
        return f"Shown for {of}, seed {self.seed}."

    def samples(self, scheme: str) -> pl.DataFrame:
        return self.series[scheme].flows.filter(pl.col("flow") == self.flow)

    def events(self, scheme: str) -> pl.DataFrame:
        return self.series[scheme].events.filter(pl.col("flow") == self.flow)


def runs_of(series: Mapping[str, Series], seed: int, scenario: Scenario) -> Runs | None:
    """Returns None if no measured flow has left a series, as with UDP only."""
    names = list(dict.fromkeys(name for found in series.values() for name in found.flows["flow"]))
    if not names:
        return None
    measured = {name for found in series.values() for name in found.deliveries["flow"]}
    # One connection shows more than one of many short transfers.
    lasting = [name for name in names if all(_is_one_connection(found, name) for found in series.values())]
    return Runs(series, (lasting or names)[0], len(measured), seed, scenario)


def figures(runs: Runs) -> dict[str, Callable[[Runs], Figure]]:
    """Returns figures by name, in the order of a reader's questions: how much, how, at what delay."""
    has_rtts = any(runs.samples(scheme)["rtt_max_s"].count() for scheme in runs.schemes)
    return {
        "goodput-over-time": goodput_figure,
        **({"sequence": sequence_figure} if runs.is_one_connection else {}),
        "cwnd": cwnd_figure,
        **({"rtt": rtt_figure, "rtt-distribution": rtt_cdf_figure} if has_rtts else {}),
        "queue": queue_figure,
    }


def goodput_figure(runs: Runs) -> Figure:
    rates = {scheme: _goodput(found, runs.end_s) for scheme, found in runs.series.items()}
    peaks = [span(bps)[1] for _, bps in rates.values()]
    scale, unit = rate_scale(peaks)
    marks: list[Mark] = [
        Line(scheme, times, [bps / scale for bps in of_scheme], scheme=scheme, step=True)
        for scheme, (times, of_scheme) in rates.items()
    ]
    link_bps = shared_rate_bps(document(runs.scenario))
    if link_bps:
        marks.append(Rule("link's rate", [], [link_bps / scale]))
    above = f" {ABOVE}" if link_bps and max(peaks) > link_bps else ""
    ends = "; ".join(f"{scheme} between {_range(bps, scale)}" for scheme, (_, bps) in rates.items())
    return Figure(
        "Goodput over time",
        f"Sum of all measured flows, in steps of {runs.end_s / BINS:.3g} s, with seed {runs.seed}.{above}",
        f"Goodput over {runs.end_s:g} s in {unit}: {ends}.",
        runs.time,
        Axis(f"goodput [{unit}]", from_zero=True),
        marks,
    )


def sequence_figure(runs: Runs) -> Figure:
    tops = {scheme: span(runs.samples(scheme)["una_bytes"].to_list())[1] for scheme in runs.schemes}
    scale, unit = size_scale(list(tops.values()))
    marks, lines = Marks(), list[Mark]()
    for scheme in runs.schemes:
        samples = runs.samples(scheme)
        times, acknowledged = thinned(samples["time_s"].to_list(), (samples["una_bytes"] / scale).to_list())
        lines.append(Line(scheme, times, acknowledged, scheme=scheme, step=True))
        marks.add(scheme, runs.events(scheme), scale)
    said = "; ".join(
        f"{scheme} {top / scale:.3g} {unit}, {_told(runs, scheme)}" for scheme, top in tops.items()
    )
    return Figure(
        "Sequence and time",
        f"Cumulative acknowledgments. {runs.said} {marks.said()}",
        f"Acknowledged after {runs.end_s:g} s: {said}.",
        runs.time,
        Axis(f"acknowledged [{unit}]"),
        [*lines, *marks.dots],
        parts=marks.parts,
        height=460,
    )


def cwnd_figure(runs: Runs) -> Figure:
    samples = {scheme: runs.samples(scheme) for scheme in runs.schemes}
    medians = {scheme: _median(frame["cwnd_bytes"]) for scheme, frame in samples.items()}
    tops = [span(frame["cwnd_bytes"].to_list())[1] for frame in samples.values()]
    scale, unit = size_scale(list(medians.values()))
    marks = list[Mark]()
    for scheme, frame in samples.items():
        # An ssthresh above all windows only says that there has been no loss yet.
        known = frame.select(
            pl.when(pl.col("ssthresh_bytes") <= max(tops)).then("ssthresh_bytes")
        ).to_series()
        if runs.is_one_connection:
            marks += _curve("ssthresh", scheme, frame["time_s"], known / scale, dash="dash")
        marks += _state(runs, "cwnd", scheme, frame["time_s"], frame["cwnd_bytes"] / scale)
    said = ", ".join(f"{scheme} {median / scale:.3g} {unit}" for scheme, median in medians.items())
    usual = max(_quantile(frame["cwnd_bytes"], 0.97) for frame in samples.values())
    is_log = max(tops) > LOGARITHMIC_FROM * max(min(tops), 1.0)
    is_cut = not is_log and max(tops) > OVERSHOOT * usual
    shown = "cwnd and ssthresh" if runs.is_one_connection else "cwnd of all connections"
    cut = f" Windows reach up to {max(tops) / scale:.3g} {unit}; zoom to see them." if is_cut else ""
    return _panels(
        runs,
        "Congestion window",
        f"{shown}. {runs.said}{cut}",
        f"Median of cwnd: {said}.",
        Axis(unit, from_zero=True, log=is_log, end=1.1 * usual / scale if is_cut else None),
        marks,
        [Part("cwnd", "line"), Part("ssthresh", "dash")] if runs.is_one_connection else [],
    )


def rtt_figure(runs: Runs) -> Figure:
    marks, tops, lows, said = list[Mark](), [0.0], [1e9], list[str]()
    for scheme in runs.schemes:
        frame = runs.samples(scheme).filter(pl.col("srtt_s") > 0)
        ms = {name: frame[f"{name}_s"] * 1e3 for name in ("srtt", "rto")}
        measured = frame.filter(pl.col("rtt_max_s").is_not_null())
        low, high = (measured[f"rtt_{end}_s"] * 1e3 for end in ("min", "max"))
        if measured.height:
            times, lowest = thinned(measured["time_s"].to_list(), low.to_list(), by=min)
            _, highest = thinned(measured["time_s"].to_list(), high.to_list(), by=max)
            marks.append(
                Band(
                    f"{scheme}, RTT",
                    times,
                    lowest,
                    high=highest,
                    scheme=scheme,
                    part="RTT",
                    panel=scheme,
                    step=True,
                )
            )
        marks += _state(runs, "SRTT", scheme, frame["time_s"], ms["srtt"])
        marks += _state(runs, "RTO", scheme, frame["time_s"], ms["rto"], dash="dot")
        tops.append(span(ms["rto"].to_list())[1])
        lows.append(span(low.to_list())[0] if measured.height else 1e9)
        said.append(f"{scheme} {_median(ms['srtt']):.3g} ms")
    return _panels(
        runs,
        "Round-trip time",
        f"Range of RTTs measured in each sampling interval, with SRTT and RTO. {runs.said}",
        f"Median of SRTT: {', '.join(said)}.",
        Axis("ms", from_zero=True, log=max(tops) > LOGARITHMIC_FROM * min(lows)),
        marks,
        [Part("RTT", "band"), Part("SRTT", "line"), Part("RTO", "dot")],
    )


def rtt_cdf_figure(runs: Runs) -> Figure:
    marks, said, ends = list[Mark](), list[str](), list[float]()
    for scheme, found in runs.series.items():
        by_rtt = found.rtts.group_by("rtt_s").agg(pl.col("samples").sum()).sort("rtt_s")
        if by_rtt.height == 0:
            continue
        rtts, shares = cumulative((by_rtt["rtt_s"] * 1e3).to_list(), by_rtt["samples"].to_list())
        marks.append(Line(scheme, rtts, shares, scheme=scheme, step=True))
        ends += [rtts[0], rtts[-1]]
        middle = next(rtt for rtt, share in zip(rtts, shares, strict=True) if share >= 0.5)
        said.append(f"{scheme} {middle:.3g} ms")
    return Figure(
        "RTT distribution",
        f"Cumulative share of all RTT measurements after the warm-up; seed {runs.seed}, all measured flows.",
        f"Median RTT: {', '.join(said)}.",
        Axis("RTT [ms]", log=max(ends, default=1.0) > 10 * min(ends, default=1.0)),
        Axis("share of measurements", from_zero=True),
        marks,
    )


def queue_figure(runs: Runs) -> Figure:
    link = _bottleneck(runs.series)
    marks, said = list[Mark](), list[str]()
    averages = False
    for scheme, found in runs.series.items():
        queue = found.queues.filter(pl.col("link") == link)
        marks += _curve("queue", scheme, queue["time_s"], queue["packets"].cast(pl.Float64))
        if queue["average"].count():
            averages = True
            marks += _curve("average", scheme, queue["time_s"], queue["average"], dash="dash")
        said.append(f"{scheme} {_mean(queue['packets']):.3g}")
    return _panels(
        runs,
        "Queue",
        f"Packets queued at {link}, the busiest queue; seed {runs.seed}."
        + (" Average: RED's average queue, in the unit it counts in." if averages else ""),
        f"Packets on average: {', '.join(said)}.",
        Axis("packets", from_zero=True),
        marks,
        [Part("queue", "line"), Part("average", "dash")] if averages else [],
    )


def _panels(
    runs: Runs, title: str, caption: str, alt: str, y: Axis, marks: list[Mark], parts: list[Part]
) -> Figure:
    return Figure(title, caption, alt, runs.time, y, marks, parts, panels=runs.schemes, height=PANEL)


def _state(
    runs: Runs,
    part: str,
    scheme: str,
    times: pl.Series,
    values: pl.Series,
    dash: Literal["", "dot"] = "",
) -> list[Mark]:
    """Returns a sender's state: a curve for a single connection, dots for many that overlap."""
    if runs.is_one_connection:
        return _curve(part, scheme, times, values, dash=dash)
    at, short = thinned(times.to_list(), values.to_list())
    name = f"{scheme}, {part}"
    size = 2.0 if dash else 3.0
    return [
        Dots(name, at, short, scheme=scheme, part=part, panel=scheme, symbol="circle", size=size, all=True)
    ]


def _curve(
    part: str, scheme: str, times: pl.Series, values: pl.Series, dash: Literal["", "dash", "dot"] = ""
) -> list[Mark]:
    """Returns the curve in the scheme's panel; nothing without a value."""
    if values.count() == 0:
        return []
    at, short = thinned(times.to_list(), values.to_list())
    name = f"{scheme}, {part}"
    return [
        Line(name, at, short, scheme=scheme, part=part, panel=scheme, step=True, dash=dash, thin=bool(dash))
    ]


def _goodput(found: Series, end_s: float) -> tuple[list[float], list[float]]:
    """Returns goodput in bit/s per bin, each at the bin's beginning, the last repeated at the end."""
    width = end_s / BINS
    by_time = found.deliveries.group_by("time_s").agg(pl.col("received_bytes").sum()).sort("time_s")
    by_bin = by_time.group_by(
        (pl.col("time_s") / width - 1e-9).floor().alias("bin"), maintain_order=True
    ).last()
    edges = [0, *by_bin["received_bytes"].to_list()]
    starts = [place * width for place in by_bin["bin"]]
    rates = [8 * (after - before) / width for before, after in pairwise(edges)]
    return [*starts, end_s], [*rates, *rates[-1:]]


def _told(runs: Runs, scheme: str) -> str:
    found = counts(runs.events(scheme))
    return ", ".join(f"{count} {name}" for name, count in found.items() if count) or "no loss"


def _range(values: list[float], scale: float) -> str:
    low, high = span(values)
    return f"{low / scale:.3g} and {high / scale:.3g}"


def _is_one_connection(found: Series, flow: str) -> bool:
    """Returns whether it is the series of one connection, not of many short ones with restarting
    positions."""
    positions = found.flows.filter(pl.col("flow") == flow)["una_bytes"]
    return positions.is_sorted()


def _bottleneck(series: Mapping[str, Series]) -> str:
    links = pl.concat([of_scheme.queues for of_scheme in series.values()])
    means = links.group_by("link", maintain_order=True).agg(pl.col("packets").mean())
    name: str = means.sort("packets", descending=True, maintain_order=True)["link"][0]
    return name


def _median(values: pl.Series) -> float:
    median = values.median()
    return float(median) if isinstance(median, (int, float)) else 0.0


def _quantile(values: pl.Series, share: float) -> float:
    return float(values.quantile(share) or 0.0)


def _mean(values: pl.Series) -> float:
    mean = values.mean()
    return float(mean) if isinstance(mean, (int, float)) else 0.0
