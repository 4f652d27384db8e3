"""Really runs schemes over a path, one at a time, and more often where chance could decide."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean

from airtcp.advise.ask import NOW
from airtcp.advise.deployment import CONGESTION_CONTROLS
from airtcp.facts.failure import Failure
from airtcp.linux.airtcpd import Airtcpd
from airtcp.linux.forms import forms
from airtcp.linux.runs import Job, KernelRun, run_all
from airtcp_studies.calibration.paths import KnownPath
from airtcp_studies.calibration.tried.asking import DURATION_S
from airtcp_studies.fidelity.measure import MOST_LATE, circumstances

FILE = "runs.jsonl"
FIRST_SEED = 101
HOPELESS = 0.6
"""A scheme that reaches less than this share of the best in the simulator, on the true path, does not run."""
AGAIN = 2
"""So many of the best schemes run twice, and so do the advised and the present one."""
CLOSE = 0.05
TWICE, MOST = 2, 4
"""Runs of a scheme; the most, where an advised scheme is not within `CLOSE` of the best."""
ATTEMPTS = 3
"""To run without being disturbed by the machine."""
LATEST = 0.25
"""Share of the round trip: a run in which a packet left later was disturbed."""


@dataclass(frozen=True)
class Ran:
    """One run on this kernel."""

    scheme: str
    seed: int
    goodput_bps: float
    late_ms: float
    """Mean lateness of packets that left the emulator."""
    kernel: str
    date: str


def on_this_kernel(path: KnownPath, schemes: Sequence[str], airtcpd: Airtcpd) -> list[str]:
    """Returns the schemes that are a congestion control of this kernel or loaded into it."""
    found = forms(airtcpd, path.scenario.vary(schemes=list(schemes)))
    return [scheme for scheme in found.schemes if scheme not in OWN_STACK]


OWN_STACK = frozenset({"bbr3"})
"""Runs on airtcp's own TCP, which is no kernel's."""


def hopeful(simulated_bps: Mapping[str, float]) -> list[str]:
    """Returns the congestion controls that may be the best, and the present one; what changes loss recovery
    alone runs only if it is advised."""
    best = max(simulated_bps.values())
    controls = [name for name in simulated_bps if name in CONGESTION_CONTROLS]
    return [name for name in controls if name == NOW or simulated_bps[name] >= HOPELESS * best]


def run_schemes(
    path: KnownPath,
    schemes: Sequence[str],
    advised: Sequence[str],
    folder: Path,
    airtcpd: Airtcpd,
    on_done: Callable[[Ran], object] = lambda _: None,
    *,
    duration_s: float = DURATION_S,
) -> list[Ran]:
    """Returns all runs of the path, those in its folder first. Raises RuntimeError if one fails."""
    file = folder / FILE
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    ran = [Ran(**json.loads(line)) for line in lines]
    while todo := missing(schemes, advised, ran):
        done = _run(path, *todo[0], airtcpd, duration_s)
        with file.open("a", encoding="utf-8") as out:
            out.write(json.dumps(asdict(done)) + "\n")
        ran.append(done)
        on_done(done)
    return ran


def missing(schemes: Sequence[str], advised: Sequence[str], ran: Sequence[Ran]) -> list[tuple[str, int]]:
    """Returns the runs still to make, in order: each scheme once, then those that matter again."""
    counts = {scheme: sum(each.scheme == scheme for each in ran) for scheme in schemes}
    if first := [scheme for scheme, count in counts.items() if not count]:
        return [(scheme, FIRST_SEED) for scheme in first]
    reached = {scheme: fmean(run.goodput_bps for run in ran if run.scheme == scheme) for scheme in schemes}
    best, *others = sorted(schemes, key=reached.__getitem__, reverse=True)
    wanted = dict.fromkeys([best, *others[: AGAIN - 1], NOW, *advised], TWICE)
    for scheme in advised:
        # Chance may have put it behind the best, or behind the present one.
        if reached[scheme] < max((1 - CLOSE) * reached[best], reached[NOW]):
            wanted |= dict.fromkeys((best, NOW, scheme), MOST)
    short = [scheme for scheme in schemes if counts[scheme] < wanted.get(scheme, 1)]
    return [(scheme, FIRST_SEED + counts[scheme]) for scheme in sorted(short, key=counts.__getitem__)]


def _run(path: KnownPath, scheme: str, seed: int, airtcpd: Airtcpd, duration_s: float) -> Ran:
    job = Job(path.scenario.vary(duration=f"{duration_s}s"), scheme, seed)
    for _ in range(ATTEMPTS):
        (told,) = run_all([job], place=airtcpd)
        if isinstance(told, Failure):
            raise RuntimeError(f"path {path.number}, {scheme}: {told.text}")
        found = _ran(scheme, seed, told)
        if not _is_disturbed(told, 2 * path.delay_s):
            break
    return found


def _is_disturbed(told: KernelRun, rtt_s: float) -> bool:
    """Returns whether the machine lost packets or held them up."""
    late: dict[str, float] = told.host["lateness"]
    times = ((late["mean_us"], MOST_LATE), (late["max_us"], LATEST))
    return told.host["lost_by_machine"] > 0 or any(us > 1e6 * share * rtt_s for us, share in times)


def _ran(scheme: str, seed: int, told: KernelRun) -> Ran:
    goodput_bps = told.run["goodput_bps"]
    return Ran(scheme, seed, goodput_bps, *circumstances(told))
