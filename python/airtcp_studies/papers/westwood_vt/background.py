"""Paper 004, Fig 2(b): the same with background traffic."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from statistics import fmean

from airtcp.facts.stats import Estimate
from airtcp_studies.frame import (
    Context,
    OpenParameter,
    Result,
    Row,
    Tried,
    claim,
    experiment,
    gain,
    gain_of,
    info,
)
from airtcp_studies.papers.westwood_vt.setup import (
    COMPLEX,
    FILTER,
    LOSS,
    NEW_JERSEY,
    NEWRENO,
    NR,
    RECOVERY,
    RENO,
    RTT_MIN,
    SETTINGS,
    SIMULATOR,
    THRESHOLDS,
    VT,
    WARNING,
    WINDOW_OF_65,
    Setting,
    Sweep,
    cross,
    sweep,
)

NAMES = (VT, NR, NEW_JERSEY, RENO, NEWRENO)
ALONE, ONE, TEN = "no background", "1 FTP each way", "10 FTPs each way"
PATHS = {ALONE: COMPLEX, ONE: COMPLEX + cross(1), TEN: COMPLEX + cross(10)}
KEPT_PERCENT = -15


@experiment(
    "W2",
    where="§3, Figs 1(b) and 2(b)",
    title="The same with forward and backward traffic",
    parameters=(
        SIMULATOR,
        OpenParameter(
            "topology",
            "sender, Router 1, base station, receiver as three links of 10, 20 and 1 ms; background enters "
            "at Router 1 and leaves at the base station, or the other way",
            "the figure's text is read as 20 ms between router and base station; a background flow's own "
            "links of 100 Mbit/s at both ends never queue and are left out: its round trip is 40 ms, not 80",
        ),
        OpenParameter(
            "background traffic",
            "1 FTP each way; NewReno, windows that do not bind",
            "the figure shows one FTP each way; with ns-2's window of 20 it would take 4 of 100 Mbit/s, "
            "which nothing would notice. 10, a construct of ours, show what a loaded router does (rows "
            "without a verdict)",
        ),
        WINDOW_OF_65,
        OpenParameter(
            "length", "5 runs of 100 s, not 10 of 200 s", "100 Mbit/s of background take their time"
        ),
        LOSS,
        FILTER,
        THRESHOLDS,
        RECOVERY,
        RTT_MIN,
        WARNING,
    ),
    seeds=5,
)
def w2(ctx: Context) -> Result:
    """As W1, with 20 ms between Router 1 and the base station, and TCP transfers between these two in both
    directions."""
    losses = ctx.pick((0.1, 1.0, 3.0, 5.0), quick=(1.0, 5.0))
    sets = {"duration": ctx.pick("100s", quick="5s")}
    paths = {name: (path, Setting()) for name, path in PATHS.items()}
    found = sweep(ctx, paths, NAMES, losses, sets)
    settings = {name: (PATHS[ONE], setting) for name, setting in SETTINGS.items()}
    varied = sweep(ctx, settings, (VT, NR), losses, sets, ctx.pick(3, quick=1))
    one, alone = found[ONE], found[ALONE]
    return Result(
        rows=[
            *over_westwood_nr(one, varied),
            worst(one),
            ahead_of_new_jersey(one),
            *(kept(name, one, alone) for name in (VT, NEW_JERSEY)),
            constant(one, varied),
            *under_load(found[TEN], alone),
        ],
        figures={
            f"fig2b-{name.split()[0]}": found[name].plot(f"Figure 2(b), {name}", NAMES) for name in (ONE, TEN)
        },
    )


def least(found: Sweep) -> Estimate:
    return min(found.gains(VT, NR).values(), key=lambda gain: gain.mean)


def from_1_percent_on(found: Sweep) -> Sweep:
    return replace(found, runs={loss: runs for loss, runs in found.runs.items() if loss >= 1})


def over_westwood_nr(found: Sweep, varied: Mapping[str, Sweep]) -> list[Row]:
    gains = found.gains(VT, NR)
    at = min(gains, key=lambda loss: gains[loss].mean)
    lost = {name: f"{found.queue_losses(name, at):.0f}" for name in (VT, NR)}
    return [
        gain(
            f"over {NR} at least",
            6,
            least(found),
            note=f"At {at:g} %: {VT} loses {lost[VT]} packets in queues, {NR} {lost[NR]}.",
            tried=[
                Tried("errors from 1 % on", least(from_1_percent_on(found))),
                *(Tried(name, least(swept)) for name, swept in varied.items()),
            ],
        ),
        gain(
            f"over {NR} at most",
            24,
            found.largest_gain(VT, NR),
            tried=[Tried(name, swept.largest_gain(VT, NR)) for name, swept in varied.items()],
        ),
    ]


def worst(found: Sweep) -> Row:
    names = (VT, NR, NEW_JERSEY, RENO)
    last = {loss: min(names, key=lambda name: fmean(found.goodput(name, loss))) for loss in found.runs}
    return claim(
        f"{RENO} is worst",
        set(last.values()) == {RENO},
        evidence="last is " + ", ".join(f"{name} at {loss:g} %" for loss, name in last.items()),
    )


def ahead_of_new_jersey(found: Sweep) -> Row:
    above = {loss: gain.mean for loss, gain in found.gains(VT, NEW_JERSEY).items()}
    return claim(
        f"{VT} is ahead of {NEW_JERSEY} at every error rate",
        all(gain > 0 for gain in above.values()),
        evidence=by_loss(above),
    )


def cost(name: str, found: Sweep, alone: Sweep) -> dict[float, Estimate]:
    """Returns how much of the scheme's goodput is left with background traffic, as a gain."""
    return {loss: gain_of(found.goodput(name, loss), alone.goodput(name, loss)) for loss in found.runs}


def kept(name: str, found: Sweep, alone: Sweep) -> Row:
    """Asks whether background traffic costs the scheme anything."""
    lost = {loss: gain.mean for loss, gain in cost(name, found, alone).items()}
    evidence = f"against the path without background: {by_loss(lost)}"
    if name == NEW_JERSEY:
        return claim(f"{name} falls", max(lost.values()) < 0, evidence=evidence)
    return claim(
        f"{name} keeps its goodput within {-KEPT_PERCENT} %",
        min(lost.values()) > KEPT_PERCENT,
        evidence=evidence,
    )


def constant(found: Sweep, varied: Mapping[str, Sweep]) -> Row:
    """Asks the other half of what the paper says: “regardless of wireless link error rates”."""
    return claim(
        f"{VT} keeps its goodput within {-KEPT_PERCENT} % whatever the error rate",
        fall(found) > KEPT_PERCENT,
        evidence=over_losses(found),
        tried=[
            Tried(name, holds=fall(swept) > KEPT_PERCENT, evidence=over_losses(swept))
            for name, swept in varied.items()
        ],
    )


def fall(found: Sweep) -> float:
    """Returns by how many percent the lowest goodput over the error rates lies below the highest."""
    goodputs = [fmean(found.goodput(VT, loss)) for loss in found.runs]
    return 100 * (min(goodputs) / max(goodputs) - 1)


def over_losses(found: Sweep) -> str:
    shown = ", ".join(f"{fmean(found.goodput(VT, loss)):.2f} at {loss:g} %" for loss in found.runs)
    return f"{shown}: {fall(found):+.0f} %"


def under_load(found: Sweep, alone: Sweep) -> list[Row]:
    """Returns what ten FTPs each way do, of which the paper says nothing."""
    return [
        info(f"{TEN}: over {NR} at least", least(found), "%"),
        info(f"{TEN}: over {NR} at most", found.largest_gain(VT, NR), "%"),
        info(f"{TEN}: over {NEW_JERSEY} at most", found.largest_gain(VT, NEW_JERSEY), "%"),
        *(
            info(
                f"{TEN}: {name} against no background, at worst",
                min(cost(name, found, alone).values(), key=lambda gain: gain.mean),
                "%",
            )
            for name in (VT, NEW_JERSEY)
        ),
    ]


def by_loss(values: Mapping[float, float]) -> str:
    return ", ".join(f"{value:+.1f} % at {loss:g} %" for loss, value in values.items())
