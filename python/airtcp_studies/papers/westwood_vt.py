"""Paper 004: WestwoodVT, which attributes a loss to corruption while the path's buffers are nearly empty."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from airtcp.facts.stats import Estimate
from airtcp_studies.frame import (
    Case,
    Context,
    OpenParameter,
    Paper,
    Result,
    Row,
    Runs,
    SweepPlot,
    altered,
    claim,
    experiment,
    gain,
    gain_of,
    info,
    ratio,
    ratio_of,
)

NS2_NEWRENO = "recovery=newreno"
NS2_CLOCK = f"{NS2_NEWRENO}:rtt_min_tick_s=0.01"
VT = "WestwoodVT"
NR = "WestwoodNR"
NEW_JERSEY = "TCP New Jersey"
RENO = "TCP Reno"
NEWRENO = "TCP NewReno"
EXACT = "WestwoodNR with an exact RTTmin"
PLUS = "Westwood+"
SCHEMES = {
    VT: f"westwood-vt:{NS2_CLOCK}",
    NR: f"westwood-nr:{NS2_CLOCK}",
    NEW_JERSEY: f"new-jersey:{NS2_NEWRENO}",
    RENO: "reno",
    NEWRENO: "newreno",
}
FLOOR = "rto.min=1s"
VT_FLOOR = f"{VT} with an RTO floor of 1 s"
RENO_FLOOR = f"{RENO}, both with an RTO floor of 1 s,"
VARIANTS = {
    EXACT: f"westwood-nr:{NS2_NEWRENO}",
    PLUS: f"westwood-plus:{NS2_NEWRENO}",
    VT_FLOOR: f"{SCHEMES[VT]}:{FLOOR}",
    RENO_FLOOR: f"{SCHEMES[RENO]}:{FLOOR}",
}
"""What changes the gains: the baseline's estimate, and the floor of ns-2 before October 2004."""

ESTIMATE = (
    "the baseline's estimate of the bandwidth: with an exact RTTmin WestwoodNR comes closer, with "
    "Westwood+'s estimate, once a round trip, it falls behind as far as quoted and further (rows of W1)."
)
WINDOWS = {"window 20": "receive_window=20kB", "window 65": "receive_window=65kB"}
LARGE = "window 65"
LOSSES_PERCENT = (0.1, 1.0, 2.0, 3.0, 4.0, 5.0)

WIRELESS = """
[[link]]
name = "wireless"
rate = "2Mbit/s"
delay = "1ms"
queue = { discipline = "congestion-warning", packets = 20 }
reverse = { loss = {} }
"""
SIMPLE = f"""
profile = "ns2-2.35"
duration = "200s"
[[link]]
name = "wired-1"
rate = "100Mbit/s"
delay = "10ms"
queue = {{ discipline = "congestion-warning", packets = 20 }}
[[link]]
name = "wired-2"
rate = "100Mbit/s"
delay = "10ms"
queue = {{ discipline = "congestion-warning", packets = 20 }}
{WIRELESS}"""
COMPLEX = f"""
profile = "ns2-2.35"
[[link]]
name = "access"
rate = "100Mbit/s"
delay = "10ms"
queue = {{ discipline = "congestion-warning", packets = 20 }}
[[link]]
name = "backbone"
rate = "100Mbit/s"
delay = "20ms"
queue = {{ discipline = "congestion-warning", packets = 20 }}
{WIRELESS}"""


def cross(flows: int) -> str:
    """Adds that many transfers each way between Router 1 and the base station, beside the measured one."""
    each_way = (("forward", "forward"), ("backward", "reverse"))
    return '[[flow]]\nname = "main"\n' + "".join(
        f"""
[[flow]]
name = "{name}"
scheme = "newreno:receive_window=4MB:window_scaling=true"
count = {flows}
direction = "{direction}"
enter = "backbone"
leave = "backbone"
measure = false
"""
        for name, direction in each_way
    )


SIMULATOR = OpenParameter(
    "simulator",
    "profile ns2-2.35: 1000 B of data a packet (1040 B on the wire), RTO floor 0.2 s, tick 10 ms",
    "the paper names none; WestwoodNR's code exists for ns-2 only, whose RTO floor is 0.2 s since October "
    "2004 (the paper is of 2007); packets of ns-2's default size",
)
WINDOW = OpenParameter(
    "window",
    "20 packets, and 65, which does not bind",
    "20 is ns-2's default, but then Δ stays below α: the queue holds 9 packets at most; 65 lets the queues "
    "of 20 fill, from which the paper derives α and β",
)
LOSS = OpenParameter(
    "wireless error",
    "packets lost independently on the way to the receiver",
    "“error rate” without a unit is a packet's; ns-2's error models stand on one direction of a link",
)
RECOVERY = OpenParameter(
    "loss recovery",
    "NewReno's for WestwoodVT, WestwoodNR and New Jersey; Reno's own for TCP Reno, with NewReno beside it",
    "WestwoodNR is on NewReno, and WestwoodVT on it; of New Jersey, and which Reno is meant, nothing is said",
)
RTT_MIN = OpenParameter(
    "RTTmin of WestwoodNR and WestwoodVT",
    "in whole ticks of 10 ms, rounded down",
    "WestwoodNR's code reads it from ns-2's tick counter; the row with an exact RTTmin shows what it matters",
)
WARNING = OpenParameter(
    "congestion warning (New Jersey)",
    "every packet is marked while the average queue, of weight 0.2, is above 5 packets",
    "not stated; 5 is RED's minimum threshold in ns-2, the weight lets a warning come before 20 packets "
    "overflow; the other schemes are not ECN-capable and see a DropTail queue of 20",
)
LINK_RATES = OpenParameter(
    "“MB” in Fig. 1", "Mbit/s", "ns-2 writes Mbit/s as Mb; goodputs of 2 MB/s would be 16 Mbit/s"
)


@dataclass(frozen=True)
class Sweep:
    """Schemes over error rates."""

    schemes: Mapping[str, str]
    """The schemes as run, by the paper's name."""
    runs: Mapping[float, Runs]
    """By error rate in percent."""

    def goodput(self, name: str, loss: float) -> list[float]:
        """Returns Mbit/s, one value per seed."""
        return self.runs[loss].goodput(self.schemes[name], "Mbit/s", "main")

    def gain(self, name: str, base: str, loss: float) -> Estimate:
        """Returns the gain in percent."""
        return gain_of(self.goodput(name, loss), self.goodput(base, loss))

    def gains(self, name: str, base: str) -> dict[float, Estimate]:
        return {loss: self.gain(name, base, loss) for loss in self.runs}

    def largest_gain(self, name: str, base: str) -> Estimate:
        return max(self.gains(name, base).values(), key=lambda found: found.mean)

    def queue_losses(self, name: str, loss: float) -> float:
        """Returns the mean number of the scheme's packets lost to queue overflow, per run."""
        scheme = self.schemes[name]
        return fmean(self.runs[loss].total(scheme, lambda flow: flow["losses_congestion"], "main"))

    def plot(self, caption: str, names: Sequence[str]) -> SweepPlot:
        curves = {name: {loss: self.goodput(name, loss) for loss in self.runs} for name in names}
        return SweepPlot("wireless error rate [%]", "goodput [Mbit/s]", curves, caption)


def sweep(
    ctx: Context,
    scenarios: Mapping[str, str],
    schemes: Mapping[str, str],
    losses: Sequence[float],
    sets: Mapping[str, object],
    *,
    windows: Mapping[str, str],
) -> dict[tuple[str, str], Sweep]:
    """Returns sweeps by the names of scenario and window."""
    with_window = {
        window: {name: f"{scheme}:{key}" for name, scheme in schemes.items()}
        for window, key in windows.items()
    }
    found = ctx.sweep(
        {
            (path, window, loss): Case(
                scenario, list(ran.values()), {**sets, "link.wireless.loss.packet": loss / 100}
            )
            for path, scenario in scenarios.items()
            for window, ran in with_window.items()
            for loss in losses
        }
    )
    return {
        (path, window): Sweep(ran, {loss: found[path, window, loss] for loss in losses})
        for path in scenarios
        for window, ran in with_window.items()
    }


@experiment(
    "W1",
    where="§3, Figs 1(a) and 2(a)",
    title="Goodput against the wireless error rate",
    parameters=(SIMULATOR, WINDOW, LOSS, RECOVERY, RTT_MIN, WARNING, LINK_RATES),
)
def w1(ctx: Context) -> Result:
    """Sender, router, base station, receiver: 100 Mbit/s and 10 ms twice, then 2 Mbit/s and 1 ms; queues of
    20 packets. One long transfer of 200 s; errors of 0.1 and 1 to 5 %."""
    losses = ctx.pick(LOSSES_PERCENT, quick=(1.0, 2.0, 5.0))
    sets = {"duration": ctx.pick("200s", quick="20s")}
    found = sweep(ctx, {"": SIMPLE}, SCHEMES | VARIANTS, losses, sets, windows=WINDOWS)
    by_window = {window: swept for (_, window), swept in found.items()}
    return Result(
        rows=[row for window, swept in by_window.items() for row in gains(window, swept)],
        figures={
            f"fig2a-{key}": swept.plot(f"Figure 2(a), {key.replace('-', ' ')}", tuple(SCHEMES))
            for key, swept in ((window.replace(" ", "-"), swept) for window, swept in by_window.items())
        },
        notes=(
            "The gains over “TCP Reno” come out over Reno with ns-2's window of 20, and not over NewReno.",
            "New Jersey pays 12 of 1000 bytes for the timestamps that it needs.",
        ),
    )


def gains(window: str, found: Sweep) -> list[Row]:
    """Compares with what §3 says of Fig. 2(a)."""
    quoted = {NR: (3, 11, 41), RENO: (21, 54, 118)}
    rows = []
    for base, (at_1, at_2, largest) in quoted.items():
        why = ESTIMATE if base == NR else ""
        rows += [
            gain(f"{window}: over {base} at 1 %", at_1, found.gain(VT, base, 1.0), moved_by=why),
            gain(f"{window}: over {base} at 2 %", at_2, found.gain(VT, base, 2.0), moved_by=why),
            gain(f"{window}: over {base} at most", largest, found.largest_gain(VT, base), moved_by=why),
        ]
    rows += [
        info(f"{window}: over {base} at most", found.largest_gain(name, base), "%", paper=quoted[like][2])
        for name, base, like in (
            (VT, NEWRENO, RENO),
            (VT_FLOOR, RENO_FLOOR, RENO),
            (VT, EXACT, NR),
            (VT, PLUS, NR),
        )
    ]
    return [*rows, level_with_new_jersey(window, found), above_all(window, found), trap(window, found)]


def level_with_new_jersey(window: str, found: Sweep) -> Row:
    ratios = [
        ratio_of(found.goodput(VT, loss), found.goodput(NEW_JERSEY, loss)) for loss in found.runs if loss <= 4
    ]
    farthest = max(ratios, key=lambda found: abs(found.mean - 1))
    return ratio(f"{window}: over {NEW_JERSEY} up to 4 %, farthest from 1", 1, farthest)


def above_all(window: str, found: Sweep) -> Row:
    least = {base: min(gain.mean for gain in found.gains(VT, base).values()) for base in (NR, RENO)}
    return claim(
        f"{window}: above {NR} and {RENO} at every error rate",
        all(gain > 0 for gain in least.values()),
        evidence="least gain " + ", ".join(f"{gain:+.1f} % over {base}" for base, gain in least.items()),
        moved_by="at 0.1 % the link is nearly full whatever the scheme.",
    )


def trap(window: str, found: Sweep) -> Row:
    """Asks whether there is any congestion to tell from corruption."""
    lost = max(found.queue_losses(VT, loss) for loss in found.runs)
    return info(
        f"{window}: losses in the queue, WestwoodVT, in a run at most",
        lost,
        note="with 20 packets Δ is 10 at most: all losses are errors, and every one is judged one."
        if window != LARGE
        else "",
    )


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
            "1 FTP each way, and 10; NewReno, windows that do not bind",
            "the figure shows one FTP each way; with ns-2's window of 20 it would take 4 of 100 Mbit/s, "
            "which nothing would notice; 10 show what a loaded router does",
        ),
        OpenParameter("window", "65 packets, which does not bind", "W1 has 20 beside it"),
        OpenParameter(
            "length", "5 runs of 100 s, not 10 of 200 s", "100 Mbit/s of background take their time"
        ),
        LOSS,
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
    paths = {"": COMPLEX, "1 FTP each way": COMPLEX + cross(1), "10 FTPs each way": COMPLEX + cross(10)}
    found = sweep(ctx, paths, SCHEMES, losses, sets, windows={LARGE: WINDOWS[LARGE]})
    alone = found.pop(("", LARGE))
    return Result(
        rows=[row for (path, _), swept in found.items() for row in background(path, swept, alone)],
        figures={
            f"fig2b-{path.split()[0]}": swept.plot(f"Figure 2(b), {path}", tuple(SCHEMES))
            for (path, _), swept in found.items()
        },
    )


def background(path: str, found: Sweep, alone: Sweep) -> list[Row]:
    """Compares with what §3 says of Fig. 2(b)."""
    return [
        *over_westwood_nr(path, found),
        worst(path, found),
        ahead_of_new_jersey(path, found),
        *(kept(path, name, found, alone) for name in (VT, NEW_JERSEY)),
    ]


def over_westwood_nr(path: str, found: Sweep) -> list[Row]:
    gains = found.gains(VT, NR)
    least = min(gains, key=lambda loss: gains[loss].mean)
    lost = {name: f"{found.queue_losses(name, least):.0f}" for name in (VT, NR)}
    return [
        gain(
            f"{path}: over {NR} at least",
            6,
            gains[least],
            note=f"At {least:g} %: {VT} loses {lost[VT]} packets in queues, {NR} {lost[NR]}.",
            moved_by="at 0.1 % there is little corruption to tell from congestion; and where Router 1 drops, "
            "Δ is small and the window stays: more is lost in queues.",
        ),
        gain(f"{path}: over {NR} at most", 24, found.largest_gain(VT, NR), moved_by=ESTIMATE),
    ]


def worst(path: str, found: Sweep) -> Row:
    names = (VT, NR, NEW_JERSEY, RENO)
    last = {loss: min(names, key=lambda name: fmean(found.goodput(name, loss))) for loss in found.runs}
    return claim(
        f"{path}: {RENO} is worst",
        set(last.values()) == {RENO},
        evidence="last is " + ", ".join(f"{name} at {loss:g} %" for loss, name in last.items()),
        moved_by="at 0.1 % there are hardly any errors to make up for; with ten FTPs Router 1 warns New "
        "Jersey more often than it drops.",
    )


def ahead_of_new_jersey(path: str, found: Sweep) -> Row:
    above = {loss: gain.mean for loss, gain in found.gains(VT, NEW_JERSEY).items()}
    return claim(
        f"{path}: {VT} is ahead of {NEW_JERSEY} at every error rate",
        all(gain > 0 for gain in above.values()),
        evidence=by_loss(above),
        moved_by="the background: with ten FTPs, which warn New Jersey more often, it is.",
    )


def kept(path: str, name: str, found: Sweep, alone: Sweep) -> Row:
    """Asks whether background traffic costs the scheme anything."""
    lost = {loss: gain_of(found.goodput(name, loss), alone.goodput(name, loss)).mean for loss in found.runs}
    evidence = f"against the path without background: {by_loss(lost)}"
    if name == NEW_JERSEY:
        return claim(f"{path}: {name} falls", max(lost.values()) < 0, evidence=evidence)
    return claim(
        f"{path}: {name} keeps its goodput within 15 %",
        min(lost.values()) > -15,
        evidence=evidence,
        note="The paper says “constantly, regardless of wireless link error rates or background traffics”; "
        "no scheme's goodput is constant over the error rate here.",
        moved_by="the background: with one FTP each way it does.",
    )


def by_loss(values: Mapping[float, float]) -> str:
    return ", ".join(f"{value:+.1f} % at {loss:g} %" for loss, value in values.items())


PAPER = Paper(
    "westwood-vt",
    "004",
    "Sender-based TCP scheme for improving performance in wireless environment (WestwoodVT)",
    experiments=(w1, w2),
    links={"two-percent": altered(SIMPLE, {"link.wireless.loss.packet": 0.02})},
)
