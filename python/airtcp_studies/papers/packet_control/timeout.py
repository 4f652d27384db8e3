"""P3: a spurious timeout."""

from __future__ import annotations

import polars as pl

from airtcp.facts.records import Run
from airtcp.facts.series import Series
from airtcp.facts.stats import Estimate, estimate
from airtcp_studies.frame import Context, OpenParameter, Result, Runs, TimePlot, claim, experiment, info
from airtcp_studies.papers.packet_control.path import (
    EIFEL,
    NONE,
    SEGMENT_BYTES,
    STACK,
    STEADY,
    ack_filter,
    filtered,
    goodput,
    goodput_over_time,
    line,
    per_run,
)

START_ANEW = (
    "ns-2 halves ssthresh at each timeout anew: after two of them the window grows by a segment a round "
    "trip either way, and packet control wins nothing. Where a repeated timeout leaves ssthresh (RFC 5681 "
    "§3.1, `windows=rfc`), TCP recovers at 13.91 s with it and at 14.04 s without"
)
LONG_DELAY = {"link.wireless.outages": '{at = ["5s"], length = "6s"}'}


@experiment(
    "P3",
    where="Scenario III, Figs 3, 12 and 13",
    title="Spurious timeout",
    parameters=(
        STACK,
        OpenParameter(
            "the delay of 6 s",
            "from 5 s to 11 s nothing crosses the wireless link, either way; what waits crosses then",
            "§IV: at 11 s the link recovers, and the ACKs that have accumulated arrive together",
        ),
        OpenParameter("threshold", "9", "Scenario II's; the result is the same from 3 to 12"),
    ),
    seeds=1,
)
def p3(ctx: Context) -> Result:
    """One transfer of 20 s over the same path with a constant wireless delay of 170 ms; at 5 s the link holds
    everything back for 6 s."""
    data_filter = filtered(9, ":ack_filter=false")
    compared = {
        "no packet control": NONE,
        "packet control": filtered(9),
        "data filter only": data_filter,
        "ACK filter only": ack_filter(9),
        "Eifel": EIFEL,
    }
    runs = ctx.run(STEADY, tuple(compared.values()), LONG_DELAY, series_interval_s=0)
    back = {name: recovered_at(runs.series(scheme)) for name, scheme in compared.items()}
    rates = {name: goodput(runs, scheme)[0] for name, scheme in compared.items()}
    timeouts = per_run(runs, NONE, "timeouts").mean
    without, with_both = back["no packet control"], back["packet control"]
    rows = [
        claim(
            "a timeout with at least one back-off, all of it spurious",
            timeouts >= 2 and per_run(runs, NONE, "timeouts_spurious").mean == timeouts,
            evidence=f"{timeouts:.0f} timeouts; nothing is lost",
        ),
        claim(
            "with packet control TCP recovers sooner",
            with_both < without,
            evidence=f"{AHEAD} segments beyond what was out at 5 s are acknowledged at {with_both:.2f} s "
            f"instead of {without:.2f} s",
            moved_by=START_ANEW,
        ),
        claim(
            "with packet control the goodput is higher (Fig 13)",
            rates["packet control"] > rates["no packet control"],
            evidence=", ".join(f"{name}: {rate:.1f} kbit/s" for name, rate in rates.items()),
            moved_by=START_ANEW,
        ),
        info(
            "spurious retransmissions that cross the wireless link, without packet control",
            per_run(runs, NONE, "retransmissions_spurious"),
        ),
        info(
            "data packets that the base station drops, acknowledged already",
            dropped_at_base_station(runs, filtered(9)),
        ),
        *(info(f"recovered at, {name}", at, "s") for name, at in back.items()),
    ]
    figures = {
        "fig3": sequence_plot(runs.series(NONE), "Without packet control (the paper's Fig 3)"),
        "fig12": sequence_plot(runs.series(filtered(9)), "With packet control (the paper's Fig 12)"),
        "fig13": goodput_over_time(runs, compared, "Goodput (the paper's Fig 13)"),
    }
    notes = (
        "The paper sees a spurious fast retransmit at 12 s. ns-2's bugfix_ lets none begin here, but "
        "inflates the window for the duplicate ACKs. In a sequence plot that looks the same, and cwnd is "
        "afterwards what it was before, as the paper says.",
    )
    return Result(rows=rows, figures=figures, notes=notes)


def dropped_at_base_station(runs: Runs, scheme: str) -> Estimate:
    def dropped(run: Run) -> float:
        links = {(link["name"], link["direction"]): link for link in run["links"]}
        arrived = links["wireless", "forward"]["packets_arrived"]
        return float(links["wired", "forward"]["packets_sent"] - arrived)

    return estimate(runs.values(scheme, dropped))


AHEAD = 50


def recovered_at(series: Series) -> float:
    """Returns when [`AHEAD`] segments beyond those sent before the long delay were acknowledged."""
    flows = series.flows
    sent = flows.filter(pl.col("time_s") < 5)["nxt_bytes"].max()
    assert isinstance(sent, int)
    at = flows.filter(pl.col("una_bytes") >= sent + AHEAD * SEGMENT_BYTES)["time_s"].min()
    return float(at) if isinstance(at, float) else float("nan")


def sequence_plot(series: Series, caption: str) -> TimePlot:
    """Plots segments by number, and what is acknowledged."""
    near = pl.col("time_s").is_between(4, 15)
    flows, resent = series.flows.filter(near), series.events.filter(near & (pl.col("kind") != "loss"))
    new = flows.filter(pl.col("nxt_bytes") > pl.col("nxt_bytes").shift(1))
    lines = {
        "sent": line(new["time_s"], new["nxt_bytes"] / SEGMENT_BYTES),
        "sent again": line(resent["time_s"], resent["offset_bytes"] / SEGMENT_BYTES),
        "acknowledged": line(flows["time_s"], flows["una_bytes"] / SEGMENT_BYTES),
    }
    return TimePlot("segment", {"": lines}, caption, dots=("sent", "sent again"))
