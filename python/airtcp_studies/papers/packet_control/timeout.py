"""P3: a spurious timeout."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import polars as pl

from airtcp.facts.records import Run
from airtcp.facts.series import Series
from airtcp.facts.stats import Estimate, estimate
from airtcp_studies.frame import (
    Case,
    Context,
    OpenParameter,
    Result,
    Runs,
    Table,
    TimePlot,
    Tried,
    claim,
    experiment,
    info,
)
from airtcp_studies.papers.packet_control.path import (
    EIFEL,
    NONE,
    SEGMENT_BYTES,
    STACK,
    STEADY,
    THRESHOLDS,
    TIMEOUT,
    ack_filter,
    filtered,
    goodput,
    goodput_over_time,
    line,
    per_run,
)
from airtcp_studies.papers.packet_control.sequence import duplicate_rows, duplicates_of

THRESHOLD = 3
FILTERS = {
    "no packet control": "",
    **{f"threshold {t}": filtered(t).removeprefix(NONE) for t in THRESHOLDS},
    "data filter only": filtered(THRESHOLD, ":ack_filter=false").removeprefix(NONE),
    "ACK filter only": ack_filter(THRESHOLD).removeprefix(NONE),
}
WITH, WITHOUT = f"threshold {THRESHOLD}", "no packet control"
AS_ABOVE = "as above"
STACKS = {
    AS_ABOVE: NONE,
    "one segment after a timeout, ns-2's": "reno",
    "ssthresh held at a repeated timeout (RFC 5681 §3.1)": f"{NONE}:windows=rfc",
}
REPAIRS = {
    "RFC 2581's recovery": f"{NONE}:recovery=reno",
    "Tahoe": f"{NONE}:recovery=tahoe",
    "no limited transmit": f"{NONE}:limited_transmit=false",
    "delayed ACKs": f"{NONE}:ack_every=2",
}
"""What the duplicate ACKs do to other senders, without packet control."""
LONG_DELAY = {"link.wireless.outages": '{at = ["5s"], length = "6s"}'}
BEGIN_S = 4.0
"""Before, nothing happens that Figs 3 and 12 are about."""


@experiment(
    "P3",
    where="Scenario III, Figs 3, 12 and 13",
    title="Spurious timeout",
    parameters=(
        STACK,
        TIMEOUT,
        OpenParameter(
            "the delay of 6 s",
            "from 5 s to 11 s nothing crosses the wireless link, either way; what waits crosses then",
            "§IV: at 11 s the link recovers, and the ACKs that have accumulated arrive together",
        ),
        OpenParameter(
            "threshold",
            f"{THRESHOLD}",
            "Scenario III names none, and nothing overtakes here that a larger one would hide: 3 is the "
            "sender's own. The table has all four",
        ),
    ),
    seeds=1,
)
def p3(ctx: Context) -> Result:
    """One transfer of 20 s over the same path with a constant wireless delay of 170 ms; at 5 s the link holds
    everything back for 6 s."""
    *alike, repaired = ctx.sweep(
        {name: spurious_timeout(stack) for name, stack in STACKS.items()}
        | {"repairs": Case(STEADY, tuple(REPAIRS.values()), LONG_DELAY, series_interval_s=0)}
    ).values()
    found = dict(zip(STACKS, alike, strict=True))
    all_found = {
        (stack, name): recovery_of(found[stack], f"{STACKS[stack]}{term}")
        for stack in STACKS
        for name, term in FILTERS.items()
    }
    runs = found[AS_ABOVE]
    chosen = {name: all_found[AS_ABOVE, name] for name in FILTERS}
    eifel = recovery_of(runs, EIFEL)
    crossing = {name: crossing_again(runs, f"{NONE}{term}") for name, term in FILTERS.items()}
    timeouts = per_run(runs, NONE, "timeouts").mean
    rows = [
        claim(
            "a timeout with at least one back-off, all of it spurious",
            timeouts >= 2 and per_run(runs, NONE, "timeouts_spurious").mean == timeouts,
            evidence=f"{timeouts:.0f} timeouts; nothing is lost",
        ),
        claim(
            "with packet control TCP recovers sooner",
            chosen[WITH].at_s < chosen[WITHOUT].at_s,
            evidence=sooner(chosen[WITH], chosen[WITHOUT]),
            tried=[
                Tried(name, holds=one.at_s < base.at_s, evidence=sooner(one, base))
                for name, one, base in pairs(all_found)
            ],
        ),
        claim(
            "with packet control the goodput is higher (Fig 13)",
            chosen[WITH].goodput_kbps > chosen[WITHOUT].goodput_kbps,
            evidence=richer(chosen[WITH], chosen[WITHOUT]),
            tried=[
                Tried(name, holds=one.goodput_kbps > base.goodput_kbps, evidence=richer(one, base))
                for name, one, base in pairs(all_found)
            ],
        ),
        info(
            "spurious retransmissions that cross the wireless link, without packet control",
            per_run(runs, NONE, "retransmissions_spurious"),
        ),
        claim(
            "with the data filter, no unnecessary retransmission crosses the wireless link (§V.B)",
            crossing[WITH] == 0,
            evidence=f"{crossing[WITH]:.0f} instead of {crossing[WITHOUT]:.0f}",
            tried=[
                Tried(name, holds=left == 0, evidence=f"{left:.0f}")
                for name, left in crossing.items()
                if name not in (WITH, WITHOUT)
            ],
        ),
        *duplicate_rows(
            duplicates_of(runs.series(NONE)),
            {name: duplicates_of(repaired.series(scheme)) for name, scheme in REPAIRS.items()}
            | {
                name: duplicates_of(found[name].series(stack))
                for name, stack in STACKS.items()
                if name != AS_ABOVE
            },
        ),
        info(
            "data packets that the base station drops, acknowledged already",
            dropped_at_base_station(runs, filtered(THRESHOLD)),
        ),
        *(info(f"recovered at, {name}", one.at_s, "s") for name, one in chosen.items()),
        info("recovered at, Eifel", eifel.at_s, "s"),
    ]
    compared = {name: f"{NONE}{term}" for name, term in FILTERS.items()} | {"Eifel": EIFEL}
    figures = {
        "fig3": sequence_plot(runs.series(NONE), "Without packet control (the paper's Fig 3)"),
        "fig12": sequence_plot(runs.series(filtered(THRESHOLD)), "With packet control (the paper's Fig 12)"),
        "fig13": goodput_over_time(runs, compared, "Goodput (the paper's Fig 13)"),
    }
    return Result(rows=rows, figures=figures, tables=(recovery_table(all_found),))


def spurious_timeout(stack: str) -> Case:
    schemes = (*(f"{stack}{term}" for term in FILTERS.values()), EIFEL)
    return Case(STEADY, schemes, LONG_DELAY, series_interval_s=0)


@dataclass(frozen=True)
class Recovered:
    at_s: float
    goodput_kbps: float


Found = Mapping[tuple[str, str], Recovered]


def recovery_of(runs: Runs, scheme: str) -> Recovered:
    return Recovered(recovered_at(runs.series(scheme)), estimate(goodput(runs, scheme)).mean)


def pairs(found: Found) -> Iterator[tuple[str, Recovered, Recovered]]:
    """Returns every other setting, with and without packet control."""
    for (stack, name), one in found.items():
        if name != WITHOUT and (stack, name) != (AS_ABOVE, WITH):
            yield name if stack == AS_ABOVE else f"{name}, {stack}", one, found[stack, WITHOUT]


def sooner(one: Recovered, base: Recovered) -> str:
    return (
        f"{AHEAD} segments beyond what was out at 5 s are acknowledged at {one.at_s:.2f} s instead of "
        f"{base.at_s:.2f} s"
    )


def richer(one: Recovered, base: Recovered) -> str:
    return f"{one.goodput_kbps:.1f} instead of {base.goodput_kbps:.1f} kbit/s"


def recovery_table(found: Found) -> Table:
    rows = [(name, stack, one.at_s, one.goodput_kbps) for (stack, name), one in found.items()]
    columns = ("", "the sender", "recovered at [s]", "goodput [kbit/s]")
    return Table("By threshold and filter, and by the sender's answer to a timeout", columns, rows)


def crossing_again(runs: Runs, scheme: str) -> float:
    """Returns the unnecessary retransmissions that cross the wireless link."""
    sent = per_run(runs, scheme, "retransmissions_spurious").mean
    return max(0.0, sent - dropped_at_base_station(runs, scheme).mean)


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
    near = pl.col("time_s").is_between(BEGIN_S, 15)
    flows, resent = series.flows.filter(near), series.events.filter(near & (pl.col("kind") != "loss"))
    new = flows.filter(pl.col("nxt_bytes") > pl.col("nxt_bytes").shift(1))
    lines = {
        "sent": line(new["time_s"], new["nxt_bytes"] / SEGMENT_BYTES),
        "sent again": line(resent["time_s"], resent["offset_bytes"] / SEGMENT_BYTES),
        "acknowledged": line(flows["time_s"], flows["una_bytes"] / SEGMENT_BYTES),
    }
    return TimePlot("segment", {"": lines}, caption, dots=("sent", "sent again"), begin_s=BEGIN_S)
