"""Ten paths whose truth is known, measured: `airtcp measure` behind `airtcpd link`, as root; some 35 minutes
on a machine that does nothing else.

    sudo .venv/bin/python scripts/measured_paths.py [--for 60s] [--seed 1] [--only NAME]

Each path is emulated between two network namespaces. What is measured must be what was emulated: rates
within 5 %, the round trip within 2 ms, the loss of each way within the interval that is given for it, and
bursts told from single losses. Exits with 1 where it is not.

The intervals of loss are of 95 %: one in twenty may miss the truth by chance (~), but none may at 99.9 %,
nor more of them than chance brings about once in a hundred runs. Below each path stands what the emulator
itself counted, all traffic included: what was lost by chance, and what it failed to take up.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from scipy.stats import binom, norm

from airtcp.fit import Fit, fit
from airtcp.fit.findings import CONFIDENCE, Value, Z
from airtcp.linux.airtcpd import find
from airtcp.measure.sockets import SMALL_PAYLOAD

TOKEN = "of-the-measured-paths"
PORT, IPERF3_PORT = 7118, 5318
COUNTERS = "counters.json"
BY_CHANCE = 0.01
"""Probability that this many intervals, or more, miss the truth by chance."""
SMALL_BYTES, FULL_BYTES = SMALL_PAYLOAD + 28, 1500


@dataclass(frozen=True)
class Way:
    """The true properties of one direction."""

    rate_mbps: float
    delay_ms: float
    jitter_ms: float = 0.0
    """Mean jitter."""
    packet: float = 0.0
    ber: float = 0.0
    burst: tuple[float, float] | None = None
    """Probabilities per packet of entering and of leaving the bad state, in which all packets are lost."""
    queue: int = 60

    @property
    def loss(self) -> float:
        """The loss of probes, half of which are small."""
        sizes = (SMALL_BYTES, FULL_BYTES)
        bits = sum(1 - (1 - self.ber) ** (8 * size) for size in sizes) / 2
        bursts = self.burst[0] / sum(self.burst) if self.burst else 0.0
        return 1 - (1 - bits) * (1 - self.packet) * (1 - bursts)

    @property
    def toml(self) -> str:
        loss = [f"packet = {self.packet}", f"ber = {self.ber:.12f}"]
        if self.burst:
            loss.append(f"burst = {{ to_bad = {self.burst[0]}, to_good = {self.burst[1]} }}")
        jitter = 'jitter = { distribution = "constant", mean = "0ms" }'
        if self.jitter_ms:
            jitter = (
                f'jitter = {{ distribution = "correlated", mean = "{self.jitter_ms}ms", deviation = '
                f'"{self.jitter_ms / 2}ms", autocorrelation = 0.3, interval = "100ms", overtaking = false }}'
            )
        return (
            f'rate = "{self.rate_mbps}Mbit/s"\ndelay = "{self.delay_ms}ms"\nloss = {{ {", ".join(loss)} }}\n'
            f"queue = {{ packets = {self.queue} }}\n{jitter}\n"
        )


PATHS: dict[str, tuple[Way, Way]] = {
    "clean": (Way(20, 10), Way(20, 10)),
    "slow-up": (Way(1, 30), Way(8, 30)),
    "lossy-there": (Way(10, 20, packet=0.03), Way(10, 20)),
    "lossy-back": (Way(10, 20), Way(10, 20, packet=0.05)),
    "both-lossy": (Way(30, 5, packet=0.01), Way(10, 5, packet=0.04)),
    "bit-errors": (Way(10, 15, ber=1e-5), Way(10, 15)),
    "bursts-there": (Way(10, 25, burst=(0.02, 0.3)), Way(10, 25, packet=0.02)),
    "bursts-back": (Way(5, 40, packet=0.02), Way(20, 40, burst=(0.01, 0.25))),
    "jitter": (Way(20, 20, jitter_ms=8), Way(20, 20, packet=0.01)),
    "satellite": (Way(4, 280, packet=0.01, queue=200), Way(25, 280, burst=(0.015, 0.4), queue=500)),
}


@dataclass
class Verdict:
    """The verdict on one quantity of one path."""

    quantity: str
    true: str
    found: str
    holds: bool
    is_interval: bool = False
    """Whether it has an interval of 95 %."""
    may_be_chance: bool = False
    """It fails, but its interval of 99.9 % holds."""

    @property
    def mark(self) -> str:
        return "✓" if self.holds else "~" if self.may_be_chance else "✗"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--for", dest="for_", default="60s")
    parser.add_argument("--only", choices=PATHS, action="append")
    parser.add_argument("--out", type=Path, default=None)
    parser.add_argument("--load", default="5s")
    parser.add_argument("--seed", type=int, default=1, help="of what the paths lose and delay")
    given = parser.parse_args()
    out = given.out or Path(tempfile.mkdtemp(prefix="measured-paths-"))
    paths = given.only or list(PATHS)
    judged: list[list[Verdict]] = []
    with servers():
        for name in paths:
            judged.append(judge(measured(name, out / name, given), *PATHS[name]))
            print(f"\n{name}")
            for each in judged[-1]:
                print(f"  {each.mark} {each.quantity:22} {each.true:>12}   {each.found}")
            print(counted(out / name), flush=True)
    found = sum(all(each.holds or each.may_be_chance for each in verdicts) for verdicts in judged)
    intervals = [each for verdicts in judged for each in verdicts if each.is_interval]
    hold = sum(each.holds for each in intervals)
    print(f"\n{found} of {len(paths)} paths are as they are. {out}")
    print(f"{hold} of {len(intervals)} intervals of loss (95 %) hold what is true.")
    is_chance = binom.sf(len(intervals) - hold - 1, len(intervals), 1 - CONFIDENCE) >= BY_CHANCE
    sys.exit(0 if found == len(paths) and is_chance else 1)


@contextmanager
def servers() -> Iterator[None]:
    """Starts our server and iperf3's on this host, which is beyond the path."""
    serve = [sys.executable, "-m", "airtcp", "measure", "--serve", "--listen", "0.0.0.0", "--port", str(PORT)]
    environment = {**os.environ, "AIRTCP_TOKEN": TOKEN}
    commands = [serve, ["iperf3", "--server", "--port", str(IPERF3_PORT)]]
    started = [subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL) for command in commands]
    time.sleep(3)
    try:
        yield
    finally:
        for process in started:
            process.terminate()
        for process in started:
            process.wait()


def measured(name: str, folder: Path, given: argparse.Namespace) -> Fit:
    folder.mkdir(parents=True)
    there, back = PATHS[name]
    scenario = folder / "truth.toml"
    scenario.write_text(
        f'name = "{name}"\n[[link]]\nname = "radio"\n{there.toml}\n[link.reverse]\n{back.toml}'
    )
    logs = folder / "logs"
    measure = f'{sys.executable} -m airtcp measure "$AIRTCP_LINK_FAR" --for {given.for_} --port {PORT} '
    measure += f"--iperf3 {IPERF3_PORT} --load {given.load} --no-advise --out {logs}"
    link = [str(find().path), "link", "--quiet", "--seed", str(given.seed), "--json", str(folder / COUNTERS)]
    link += ["--shell", str(scenario)]
    with (folder / "output").open("wb") as output:
        subprocess.run(
            [*link, "--", "sh", "-c", measure],
            env={**os.environ, "AIRTCP_TOKEN": TOKEN},
            stdout=output,
            stderr=output,
            check=True,
        )
    return fit([file for file in sorted(logs.iterdir()) if file.suffix in (".csv", ".json", ".txt")])


def counted(folder: Path) -> str:
    """Returns a line per direction: what the emulator did to its packets."""
    ways = json.loads((folder / COUNTERS).read_text())["ways"]
    shares = (
        f"    emulated {way['name']}: {way['lost_corruption']} of {way['entered_packets']} lost by chance "
        f"({way['lost_corruption'] / max(1, way['entered_packets']):.2%}), {way['missed_packets']} missed"
        for way in ways
    )
    return "\n".join(shares)


def judge(fitted: Fit, there: Way, back: Way) -> list[Verdict]:
    """Compares the findings with the truth."""
    found = []
    evidence, estimates = fitted._evidence, fitted._estimates
    for way, name, is_ in (("forward", "there", there), ("reverse", "back", back)):
        rate = evidence.link_rate.get(way)  # type: ignore[call-overload]
        bps = rate.what.estimate_bps if rate is not None else None
        holds = bps is not None and abs(bps / is_.rate_mbps / 1e6 - 1) <= 0.05
        shown = "none" if bps is None else f"{bps / 1e6:.3f} Mbit/s"
        found.append(Verdict(f"rate {name}", f"{is_.rate_mbps} Mbit/s", shown, holds))
    trip_ms = there.delay_ms + back.delay_ms
    trip_ms += 8 * SMALL_BYTES / 1e3 * (1 / there.rate_mbps + 1 / back.rate_mbps)
    least_ms = fitted.delay.base_s.best * 1e3 if fitted.delay else float("nan")
    shown = f"{least_ms:.2f} ms"
    found.append(Verdict("round trip", f"{trip_ms:.2f} ms", shown, abs(least_ms - trip_ms) <= 2))
    if there.jitter_ms or back.jitter_ms:
        found += _variation(fitted, there, back)
    for way, name, is_ in (("forward", "there", there), ("reverse", "back", back)):
        of = estimates.losses[way]  # type: ignore[index]
        share = of.loss.share
        shown = (
            f"{share.best:.2%} ({share.low or 0:.2%} to {share.high or 0:.2%}), {of.loss.lost} of {of.loss.n}"
        )
        found.append(_of_loss(name, is_.loss, share, shown))
        if is_.loss:
            chosen = of.loss if of.by_size is None or of.by_size.ber is None else of.by_size.rest
            has_bursts = chosen is not None and chosen.chain is not None
            mean = f", mean {of.loss.burst.best:.2f}" if of.loss.burst else ""
            shown = ("in bursts" if has_bursts else "one by one") + mean
            true = "in bursts" if is_.burst else "one by one"
            found.append(Verdict(f"losses {name}", true, shown, has_bursts == (is_.burst is not None)))
            has_ber = of.by_size is not None and of.by_size.ber is not None
            true = "bit errors" if is_.ber else "any length"
            sure = "" if of.by_size is None or of.by_size.is_sure else ", not surely"
            shown = ("bit errors" if has_ber else "any length") + sure
            found.append(Verdict(f"by size {name}", true, shown, has_ber == (is_.ber > 0)))
    return found


def _of_loss(name: str, true: float, share: Value, shown: str) -> Verdict:
    """Without any loss there is no chance."""
    wider = norm.ppf(0.9995) / Z
    low, high = share.low or 0.0, share.high or 0.0
    near = share.best - wider * (share.best - low) <= true <= share.best + wider * (high - share.best)
    return Verdict(f"loss {name}", f"{true:.2%}", shown, share.includes(true), true > 0, true > 0 and near)


def _variation(fitted: Fit, there: Way, back: Way) -> Iterator[Verdict]:
    for way, name, is_ in (("forward", "there", there), ("reverse", "back", back)):
        varies = fitted._estimates.ways[way].variation  # type: ignore[index]
        mean_ms = varies.mean_s * 1e3 if varies else 0.0
        holds = abs(mean_ms - is_.jitter_ms) <= max(1.0, 0.25 * is_.jitter_ms)
        yield Verdict(f"variation {name}", f"{is_.jitter_ms:.1f} ms", f"{mean_ms:.2f} ms", holds)


if __name__ == "__main__":
    main()
