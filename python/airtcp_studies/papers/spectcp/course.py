"""S3: when cwnd and RED's queues are largest (Figs 5 and 6)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from airtcp.facts.series import Series
from airtcp.facts.stats import estimate
from airtcp_studies.frame import Context, Result, TimePlot, absolute, claim, experiment, info
from airtcp_studies.papers.spectcp.red import HEADER_BYTES
from airtcp_studies.papers.spectcp.threshold import (
    CASES,
    DUMBBELL_PARAMETERS,
    MARKED,
    PACKET_BYTES,
    START_S,
    dumbbell,
)


@experiment(
    "S3", where="Figs 5 and 6", title="When the average queue is largest", parameters=DUMBBELL_PARAMETERS
)
def s3(ctx: Context) -> Result:
    """Case 1 of S1, 10 s, sampled at every ACK and every change of the queue."""
    runs, *others = ctx.sweep(
        {
            name: dumbbell(red, series=True, seeds=None if name == "Case 1" else 3)
            for name, (red, _, _) in CASES.items()
        }
    ).values()
    all_series = runs.every_series(runs.schemes[0])
    moments = [moments_of(series) for series in all_series]
    peak = estimate([found.peak_s for found in moments])
    first = Relations.of(moments)
    cases = [Relations.of([moments_of(s) for s in other.every_series(other.schemes[0])]) for other in others]
    rows = (
        absolute("the average queue peaks at", 1.9, peak, "s"),
        info("the same, after the start of the sources", [found.peak_s - START_S for found in moments], "s"),
        claim(
            "the average queue is largest just before the first mark takes effect",
            first.peaks_at_the_mark,
            evidence=first.at_the_mark,
        ),
        claim(
            "the instantaneous queue is largest when cwnd reaches ssthresh",
            first.fills_at_ssthresh,
            evidence=first.at_ssthresh,
        ),
        claim(
            "both are similar in Cases 2 and 3",
            all(each.peaks_at_the_mark and each.fills_at_ssthresh for each in cases),
            evidence="; ".join(
                f"{name}: {each.at_the_mark}; {each.at_ssthresh}"
                for name, each in zip(list(CASES)[1:], cases, strict=True)
            ),
        ),
    )
    figures = {"fig5": cwnd_plot(all_series[0]), "fig6": queue_plot(all_series[0])}
    return Result(rows=rows, figures=figures)


@dataclass(frozen=True)
class Relations:
    """How far apart events are in the worst of several runs."""

    higher: float
    """How much any average queue exceeds the peak at the first reduction, as a share of it."""
    lag_s: float
    early_s: float

    @staticmethod
    def of(moments: Sequence[Moments]) -> Relations:
        return Relations(
            max(found.largest / found.peak - 1 for found in moments),
            max(abs(found.peak_s - found.reduced_s) for found in moments),
            max(abs(found.queue_peak_s - found.opened_s) for found in moments),
        )

    @property
    def peaks_at_the_mark(self) -> bool:
        return self.higher < 0.05 and self.lag_s < 0.12

    @property
    def fills_at_ssthresh(self) -> bool:
        return self.early_s < 0.06

    @property
    def at_the_mark(self) -> str:
        return (
            f"its peak lies within {1e3 * self.lag_s:.0f} ms of the first reduction of cwnd, and nothing in "
            f"10 s is higher by more than {100 * self.higher:.1f} %"
        )

    @property
    def at_ssthresh(self) -> str:
        return f"within {1e3 * self.early_s:.0f} ms of it, less than a round trip"


@dataclass(frozen=True)
class Moments:
    """Times in seconds and queues in packets of the events of one run."""

    reduced_s: float
    """When cwnd of either source first decreases."""
    opened_s: float
    """When cwnd of source 1 reaches ssthresh."""
    peak_s: float
    peak: float
    """The largest average queue up to one round trip after that."""
    largest: float
    """The largest average queue at any time."""
    queue_peak_s: float
    """When the instantaneous queue is largest."""


def moments_of(series: Series) -> Moments:
    queue = queue_of(series)
    reduced = min(first_reduction_s(sender) for _, sender in series.flows.group_by("flow"))
    sender = sender_of(series)
    opened = sender.filter(pl.col("cwnd_bytes") >= pl.col("ssthresh_bytes"))["time_s"][0]
    peak = queue.filter(pl.col("time_s") <= reduced + 0.06).sort("average").row(-1, named=True)
    return Moments(
        reduced_s=reduced,
        opened_s=opened,
        peak_s=peak["time_s"],
        peak=peak["average"],
        largest=queue.select(pl.col("average").max()).item(),
        queue_peak_s=queue.sort("packets", "time_s", descending=[True, False])["time_s"][0],
    )


def first_reduction_s(sender: pl.DataFrame) -> float:
    """Returns infinity if there is none."""
    falls = sender.sort("time_s").filter(pl.col("cwnd_bytes").diff() < 0)
    return float(falls["time_s"][0]) if falls.height else float("inf")


def queue_of(series: Series) -> pl.DataFrame:
    return series.queues.filter(pl.col("link") == f"{MARKED} forward")


def sender_of(series: Series) -> pl.DataFrame:
    return series.flows.filter(pl.col("flow") == "source 1")


def cwnd_plot(series: Series) -> TimePlot:
    sender = sender_of(series)
    segments = (sender["cwnd_bytes"] / (PACKET_BYTES - HEADER_BYTES)).to_list()
    return TimePlot(
        "cwnd [segments]",
        {"source 1": {"cwnd": (sender["time_s"].to_list(), segments)}},
        caption="Congestion window of source 1, Case 1 (the paper's Fig 5)",
    )


def queue_plot(series: Series) -> TimePlot:
    queue = queue_of(series)
    times = queue["time_s"].to_list()
    return TimePlot(
        "queue [packets]",
        {
            "bottleneck": {
                "instantaneous": (times, queue["packets"].to_list()),
                "average": (times, queue["average"].to_list()),
            }
        },
        caption="Instantaneous and average queue, Case 1 (the paper's Fig 6)",
    )
