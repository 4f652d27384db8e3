"""What a delivered packet costs, beside ns-2 on the same work; how that grows; and what a user waits for.

Standard library only; `workloads.py` says what is measured, `waiting.py` times the command line.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median_low

from measure import LIMIT_S, REPEATS, Finished, instructions, run, run_once
from waiting import waiting
from workloads import ALONE, BESIDE_NS2, CLEAN, CROWDS, GROWTH, LARGE, LOSSY, OTHERS, RATES_MBPS, Workload

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = ROOT / "target/release/examples/bulk"
NS2_SCRIPT = ROOT / "benches/ns2/bulk.tcl"
FOLDER = ROOT / "out/bench"
RESULTS = ROOT / "out/bench.json"
# ns-2 needs minutes for the largest, and far longer under valgrind.
NS2_LARGEST_TIMED = 1_000
NS2_LARGEST_COUNTED = 100
PEAK_RUNS = 11
FEW_FLOWS = 10_000


@dataclass(frozen=True)
class Cost:
    """Per delivered data packet; `None` where it was not measured, or was given up."""

    ns: float | None = None
    instructions: float | None = None
    delivered: int | None = None


Command = Callable[[float], list[str]]
"""The one that simulates so many seconds."""


def airtcp(workload: Workload, program: Path | str = PROGRAM) -> Command:
    """Leaves the scenario in a file, where whoever wonders can run it again."""
    letters = "".join(letter if letter.isalnum() else "-" for letter in workload.name)
    file = FOLDER / f"{letters}.toml"
    FOLDER.mkdir(parents=True, exist_ok=True)
    file.write_text(workload.scenario, encoding="utf-8")
    return lambda duration_s: [str(program), str(file), f"duration={duration_s}s"]


def ns2(workload: Workload) -> Command:
    arguments = [str(value) for value in workload.ns2 or ()]
    return lambda duration_s: ["ns", str(NS2_SCRIPT), *arguments, str(duration_s)]


def cost(command: Command, workload: Workload, *, timed: bool, counted: bool) -> Cost:
    ns = per_packet = delivered = None
    if timed:
        short, long = (run(command(duration_s)) for duration_s in workload.timed_s)
        if short and long:
            delivered = long.counters["delivered"] - short.counters["delivered"]
            ns = 1e9 * (long.cpu_s - short.cpu_s) / delivered
    # What was given up natively would take an age under valgrind.
    if counted and workload.counted_s and (ns or not timed):
        commands = [command(duration_s) for duration_s in workload.counted_s]
        less, more = (instructions(each) for each in commands)
        few, many = (run_once(each) for each in commands)
        if less and more and few and many:
            per_packet = (more - less) / (many.counters["delivered"] - few.counters["delivered"])
    return Cost(ns, per_packet, delivered)


def number(value: float | None, digits: int = 0) -> str:
    return "-" if value is None else f"{value:,.{digits}f}".replace(",", " ")


def ratio(above: float | None, below: float | None) -> str:
    return "-" if above is None or not below else f"{above / below:.1f}"


def beside_ns2(has_valgrind: bool, has_ns2: bool) -> list[dict[str, object]]:
    """Prints a line per workload as soon as it is measured."""
    header = ("workload", "packets", "ns", "instr.", "ns-2 ns", "ns-2 instr.", "ratio ns", "ratio instr.")
    layout = "{:33} {:>10} {:>7} {:>7} {:>8} {:>11} {:>9} {:>12}"
    print("Per delivered data packet, NewReno over one link (ns-2's script has one):")
    print(layout.format(*header), flush=True)
    rows: list[dict[str, object]] = []
    for workload in BESIDE_NS2:
        assert workload.ns2
        flows = workload.ns2[0]
        ours = cost(airtcp(workload), workload, timed=True, counted=has_valgrind)
        timed = has_ns2 and flows <= NS2_LARGEST_TIMED
        counted = has_ns2 and has_valgrind and flows <= NS2_LARGEST_COUNTED
        theirs = cost(ns2(workload), workload, timed=timed, counted=counted)
        cells = (ours.delivered, ours.ns, ours.instructions, theirs.ns, theirs.instructions)
        ratios = (ratio(theirs.ns, ours.ns), ratio(theirs.instructions, ours.instructions))
        print(layout.format(workload.name, *map(number, cells), *ratios), flush=True)
        rows.append({"workload": asdict(workload), "airtcp": asdict(ours), "ns2": asdict(theirs)})
    return rows


def others(has_valgrind: bool) -> list[dict[str, object]]:
    layout = "{:42} {:>10} {:>7} {:>7}"
    print("\nIn profile linux, 100 Mbit/s, 20 ms:")
    print(layout.format("workload", "packets", "ns", "instr."), flush=True)
    rows: list[dict[str, object]] = []
    for workload in [*OTHERS, *LARGE]:
        found = cost(airtcp(workload), workload, timed=True, counted=has_valgrind)
        print(
            layout.format(workload.name, *map(number, (found.delivered, found.ns, found.instructions))),
            flush=True,
        )
        rows.append({"workload": asdict(workload), "airtcp": asdict(found)})
    return rows


def growth(has_valgrind: bool) -> list[dict[str, object]]:
    layout = "{:38}" + " {:>8}" * 8
    rates = [f"{rate}" for rate in RATES_MBPS]
    print(f"\nHow it grows, at {', '.join(rates)} Mbit/s; -: given up after {LIMIT_S} s:")
    heads = [*(f"ns {rate}" for rate in rates), "ratio", *(f"i. {rate}" for rate in rates), "ratio"]
    print(layout.format("workload", *heads), flush=True)
    rows: list[dict[str, object]] = []
    for make in GROWTH:
        workloads = [make(rate) for rate in RATES_MBPS]
        found = [cost(airtcp(workload), workload, timed=True, counted=has_valgrind) for workload in workloads]
        ns, counts = [each.ns for each in found], [each.instructions for each in found]
        cells = [
            *map(number, ns),
            ratio(ns[-1], ns[0]),
            *map(number, counts),
            ratio(counts[-1], counts[0]),
        ]
        print(layout.format(workloads[0].name, *cells), flush=True)
        rows += [
            {"rate_mbps": rate, "workload": asdict(workload), "airtcp": asdict(each)}
            for rate, workload, each in zip(RATES_MBPS, workloads, found, strict=True)
        ]
    return rows


def done(command: list[str]) -> Finished:
    finished = run_once(command)
    return finished or sys.exit(f"{' '.join(command)}: more than {LIMIT_S} s")


def memory() -> dict[str, int]:
    """Peak resident memory after 10 s and after 100 s of simulated time, and that of one flow among many.

    Medians, because where libraries and the stack lie moves a peak by some hundred KiB.
    """

    def peak_kib(workload: Workload, duration_s: float, runs: int = PEAK_RUNS) -> int:
        command = airtcp(workload)(duration_s)
        return median_low(done(command).counters["peak_kib"] for _ in range(runs))

    short, long = (peak_kib(CLEAN, duration_s) for duration_s in (10, 100))
    print(f"\nPeak memory, {CLEAN.name}: {short} KiB after 10 s, {long} KiB after 100 s simulated")
    alone = peak_kib(ALONE, 2)
    found = {"after_10_s": short, "after_100_s": long}
    for flows, workload in CROWDS:
        # Of a large peak, some hundred KiB are nothing.
        peak = peak_kib(workload, 2, runs=1 if flows > FEW_FLOWS else PEAK_RUNS)
        more = 1024 * (peak - alone) / flows
        print(f"Peak memory, {workload.name}: {peak} KiB, {number(more)} bytes more a flow")
        found[f"of_{workload.name}"] = peak
    return found


def parallel() -> dict[str, float]:
    """Two independent runs in one process, one after the other and on two threads.

    Wall times say something on two quiet cores alone; CPU times grow where threads disturb each other.
    """
    program, *rest = airtcp(CLEAN)(400)
    found = {}
    for threads in (1, 2):
        command = [program, "--threads", str(threads), *rest, "seeds=2"]
        runs = [done(command) for _ in range(REPEATS)]
        found[f"wall_s_{threads}"] = min(each.wall_s for each in runs)
        found[f"cpu_s_{threads}"] = min(each.cpu_s for each in runs)
    print(
        f"Two runs: {found['wall_s_1']:.2f} s on one thread, {found['wall_s_2']:.2f} s on two "
        f"({found['wall_s_1'] / found['wall_s_2']:.2f} times as fast; "
        f"CPU time {found['cpu_s_1']:.2f} s and {found['cpu_s_2']:.2f} s)"
    )
    return found


def smoke(program: str) -> None:
    """A short run of each workload: the scenarios are valid, the program works and delivers."""
    growing = [make(RATES_MBPS[0]) for make in GROWTH]
    for workload in [LOSSY, *OTHERS, *growing]:
        delivered = done([*airtcp(workload, program)(0.5), "seeds=1"]).counters["delivered"]
        if not delivered:
            sys.exit(f"{workload.name}: the benchmark delivered nothing")
        print(f"bench-smoke: {workload.name}: {delivered} packets delivered")


def revision() -> str:
    """What was measured, as git names it; `+` where files have changed since."""
    command = ["git", "-C", str(ROOT), "describe", "--always", "--exclude=*", "--dirty=+"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip() or "unknown"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--smoke", metavar="PROGRAM", help="only check that the benchmark program runs")
    parser.add_argument("--alone", action="store_true", help="leave ns-2 out")
    options = parser.parse_args()
    if options.smoke:
        smoke(options.smoke)
        return
    has_valgrind = shutil.which("valgrind") is not None
    has_ns2 = shutil.which("ns") is not None and not options.alone
    if not has_valgrind:
        print("instructions: not available (no valgrind)")
    if not has_ns2:
        print("ns-2: not run" if options.alone else "ns-2: not available")
    results: dict[str, object] = {
        "revision": revision(),
        "machine": {"cpu": platform.processor() or platform.machine(), "cores": os.cpu_count()},
        "costs": beside_ns2(has_valgrind, has_ns2),
        "others": others(has_valgrind),
        "growth": growth(has_valgrind),
        "peak_kib": memory(),
        "parallel": parallel(),
        "waiting": waiting(ROOT / ".venv/bin"),
    }
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps(results, indent=2) + "\n")
    print(f"\nWritten to {RESULTS.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
