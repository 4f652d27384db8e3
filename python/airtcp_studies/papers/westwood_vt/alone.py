"""Paper 004, Fig 2(a): one transfer over a lossy path."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from airtcp.facts.stats import Estimate, estimate
from airtcp_studies.frame import (
    Context,
    Result,
    Row,
    Table,
    Tried,
    claim,
    experiment,
    gain,
    info,
    ratio,
    ratio_of,
)
from airtcp_studies.papers.westwood_vt.setup import (
    FILTER,
    LINK_RATES,
    LOSS,
    LOSSES_PERCENT,
    NEW_JERSEY,
    NEWRENO,
    NR,
    NS2_NEWRENO,
    RECOVERY,
    RENO,
    RTT_MIN,
    SETTINGS,
    SIMPLE,
    SIMULATOR,
    SMALL_WINDOW,
    THRESHOLDS,
    VT,
    WARNING,
    WINDOW_OF_65,
    Setting,
    Sweep,
    sweep,
)

NAMES = (VT, NR, NEW_JERSEY, RENO, NEWRENO)
UP_TO_PERCENT = 4
"""Until this error rate WestwoodVT is “almost identical” to New Jersey."""


@experiment(
    "W1",
    where="§3, Figs 1(a) and 2(a)",
    title="Goodput against the wireless error rate",
    parameters=(
        SIMULATOR,
        WINDOW_OF_65,
        LOSS,
        FILTER,
        THRESHOLDS,
        RECOVERY,
        RTT_MIN,
        WARNING,
        LINK_RATES,
    ),
)
def w1(ctx: Context) -> Result:
    """Sender, router, base station, receiver: 100 Mbit/s and 10 ms twice, then 2 Mbit/s and 1 ms; queues of
    20 packets. One long transfer of 200 s; errors of 0.1 and 1 to 5 %."""
    losses = ctx.pick(LOSSES_PERCENT, quick=(1.0, 2.0, 5.0))
    sets = {"duration": ctx.pick("200s", quick="10s")}
    windows = {"65": (SIMPLE, Setting()), "20": (SIMPLE, Setting(window=SMALL_WINDOW))}
    by_window = sweep(ctx, windows, NAMES, losses, sets)
    found = by_window["65"]
    settings = {name: (SIMPLE, setting) for name, setting in SETTINGS.items()}
    varied = sweep(ctx, settings, (VT, NR, RENO), losses, sets, ctx.pick(5, quick=1))
    return Result(
        rows=[
            *gains(found, varied),
            level_with_new_jersey(found),
            above_all(found, varied),
            *without_verdict(found, by_window["20"]),
        ],
        figures={
            f"fig2a-window-{window}": swept.plot(f"Figure 2(a), window {window}", NAMES)
            for window, swept in by_window.items()
        },
        tables=(new_jerseys(ctx, [loss for loss in losses if loss <= UP_TO_PERCENT], sets),),
        notes=("New Jersey pays 12 of 1000 bytes for the timestamps that it needs.",),
    )


QUOTED = {NR: (3, 11, 41), RENO: (21, 54, 118)}


def of_base(base: str) -> tuple[tuple[str, Callable[[Sweep], Estimate]], ...]:
    """Returns what §3 says of Fig. 2(a), in the order of the quoted gains."""
    return (
        (f"over {base} at 1 %", lambda swept: swept.gain(VT, base, 1.0)),
        (f"over {base} at 2 %", lambda swept: swept.gain(VT, base, 2.0)),
        (f"over {base} at most", lambda swept: swept.largest_gain(VT, base)),
    )


def gains(found: Sweep, varied: Mapping[str, Sweep]) -> list[Row]:
    return [
        gain(name, paper, of(found), tried=[Tried(each, of(swept)) for each, swept in varied.items()])
        for base, quoted in QUOTED.items()
        for paper, (name, of) in zip(quoted, of_base(base), strict=True)
    ]


def level_with_new_jersey(found: Sweep) -> Row:
    return ratio(f"over {NEW_JERSEY} up to 4 %, farthest from 1", 1, farthest(found))


def farthest(found: Sweep) -> Estimate:
    """Returns WestwoodVT's goodput over New Jersey's where they differ most."""
    ratios = [
        ratio_of(found.goodput(VT, loss), found.goodput(NEW_JERSEY, loss))
        for loss in found.runs
        if loss <= UP_TO_PERCENT
    ]
    return max(ratios, key=lambda found: abs(found.mean - 1))


def above_all(found: Sweep, varied: Mapping[str, Sweep]) -> Row:
    return claim(
        f"above {NR} and {RENO} at every error rate",
        is_above(found),
        evidence=least_gains(found),
        tried=[
            Tried(name, holds=is_above(swept), evidence=least_gains(swept)) for name, swept in varied.items()
        ],
    )


def least(found: Sweep) -> dict[str, float]:
    return {base: min(gain.mean for gain in found.gains(VT, base).values()) for base in (NR, RENO)}


def is_above(found: Sweep) -> bool:
    return all(gain > 0 for gain in least(found).values())


def least_gains(found: Sweep) -> str:
    return "least gain " + ", ".join(f"{gain:+.1f} % over {base}" for base, gain in least(found).items())


def without_verdict(found: Sweep, small: Sweep) -> list[Row]:
    """Returns what is no row of the paper: NewReno, the queue, and a window with which Δ cannot reach α."""
    quoted = [
        info(f"window 20: {name}", of(small), "%", paper=paper)
        for base, papers in QUOTED.items()
        for paper, (name, of) in zip(papers, of_base(base), strict=True)
    ]
    lost = {
        window: max(swept.queue_losses(VT, loss) for loss in swept.runs)
        for window, swept in (("65", found), ("20", small))
    }
    return [
        info(f"over {NEWRENO} at most", found.largest_gain(VT, NEWRENO), "%", paper=QUOTED[RENO][2]),
        *quoted,
        info(f"window 20: over {NEW_JERSEY} up to 4 %, farthest from 1", farthest(small), paper=1),
        *(
            info(f"window {window}: losses in the queue, {VT}, in a run at most", each)
            for window, each in lost.items()
        ),
    ]


QUEUES = ("wired-1", "wired-2", "wireless")


def new_jerseys(ctx: Context, losses: list[float], sets: Mapping[str, object]) -> Table:
    """Returns what moves New Jersey, of which we know only an abstract."""

    def routers(**keys: object) -> Setting:
        return Setting(sets={f"link.{link}.queue.{key}": of for link in QUEUES for key, of in keys.items()})

    settings = {
        "as above": Setting(),
        "warning above 10 packets": routers(threshold=10.0),
        "warning above 15 packets": routers(threshold=15.0),
        "warning by the queue, not its average": routers(weight=1.0),
        "timestamps in ticks of 10 ms": Setting(
            {NEW_JERSEY: f"new-jersey:{NS2_NEWRENO}:timestamp_tick_ms=10"}
        ),
        "TCP-Jersey, which times ACKs by itself": Setting({NEW_JERSEY: f"jersey:{NS2_NEWRENO}"}),
    }
    scenarios = {name: (SIMPLE, setting) for name, setting in settings.items()}
    found = sweep(ctx, scenarios, (VT, NEW_JERSEY), losses, sets, ctx.pick(5, quick=1))
    rows: list[list[str | float | Estimate | None]] = [
        [name, farthest(swept), estimate(swept.goodput(NEW_JERSEY, losses[-1]))]
        for name, swept in found.items()
    ]
    columns = ("TCP New Jersey", "WestwoodVT over it, farthest from 1", f"at {losses[-1]:g} % [Mbit/s]")
    return Table("What New Jersey's open parameters move, up to 4 %", columns, rows)
