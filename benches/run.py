"""What a delivered data packet costs: CPU time and instructions, airtcp beside ns-2 on the same work.

Each workload runs twice, for a short and for a long simulated time; the difference of both in CPU time
(user + system) and instructions, divided by the difference in delivered packets, leaves set-up and slow start
out. Standard library only.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = ROOT / "target/release/examples/bulk"
NS2_SCRIPT = ROOT / "benches/ns2/bulk.tcl"
RESULTS = ROOT / "out/bench.json"
REPEATS = 3
# valgrind counts each byte of `rep stosb` as an instruction, and ns-2 clears a kilobyte a packet with it.
NO_REP = "glibc.cpu.x86_rep_stosb_threshold=1000000000:glibc.cpu.x86_rep_movsb_threshold=1000000000"


@dataclass(frozen=True)
class Workload:
    """NewReno flows over one drop-tail link; 1040-byte packets, each one acknowledged, a queue of one BDP."""

    name: str
    flows: int
    rate_mbps: int
    # Simulated seconds: the short and the long run, for time and for instructions.
    timed_s: tuple[float, float]
    counted_s: tuple[float, float]
    loss: float = 0.0
    stagger_s: float = 0.0
    rtt_ms: int = 20

    def arguments(self, duration_s: float) -> list[str]:
        """The command line that both bulk programs take."""
        bdp = self.bdp_packets
        values = (self.flows, self.rate_mbps, self.rtt_ms, self.loss, bdp, self.stagger_s, duration_s)
        return [str(value) for value in values]

    @property
    def bdp_packets(self) -> int:
        return round(self.rate_mbps * 1e6 * self.rtt_ms / 1e3 / 8 / 1040)

    def scheme(self) -> str:
        """What ns-2's NewReno does; slow start ends at a flow's share, to be in steady state soon."""
        stack = "newreno:profile=ns2-2.35:receive_window=1GB:window_scaling=true"
        return f"{stack}:initial_ssthresh={max(2, self.bdp_packets // self.flows)}"


def shared(flows: int, timed_s: tuple[float, float], counted_s: tuple[float, float]) -> Workload:
    return Workload(f"{flows} flows, 5 Mbit/s each", flows, 5 * flows, timed_s, counted_s, stagger_s=1.0)


LOSSY = Workload("1 flow, 100 Mbit/s, 1 % loss", 1, 100, (10, 110), (10, 110), loss=0.01)
CLEAN = Workload("8 flows, 100 Mbit/s, no loss", 8, 100, (5, 65), (5, 15))
SHARED = [
    shared(1, (10, 1010), (10, 210)),
    shared(10, (10, 110), (10, 30)),
    shared(100, (5, 15), (4, 5)),
    shared(1_000, (3, 4), (3, 3.2)),
    shared(10_000, (3, 4), (2, 2.1)),
]
# ns-2 needs minutes for the largest, and far longer under valgrind.
NS2_LARGEST_TIMED = 1_000
NS2_LARGEST_COUNTED = 100


@dataclass(frozen=True)
class Finished:
    cpu_s: float
    wall_s: float
    counters: dict[str, int]


def run_once(command: list[str]) -> Finished:
    """Runs a bulk program and reads the `name=value` pairs that it prints."""
    started = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    wall_s = time.perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{' '.join(command)}: exit code {process.returncode}")
    counters = {name: int(value) for name, value in re.findall(r"(\w+)=(\d+)", output)}
    return Finished(usage.ru_utime + usage.ru_stime, wall_s, counters)


def run(command: list[str]) -> Finished:
    """The run that took the least of a few: what else the machine does only ever adds."""
    return min((run_once(command) for _ in range(REPEATS)), key=lambda done: done.cpu_s)


def instructions(command: list[str]) -> int:
    """Instructions that a command executes in user space, counted by valgrind."""
    tool = ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]
    environment = os.environ | {"GLIBC_TUNABLES": NO_REP}
    done = subprocess.run([*tool, *command], capture_output=True, text=True, check=True, env=environment)
    match = re.search(r"I +refs: +([\d,]+)", done.stderr)
    if not match:
        sys.exit(f"no instruction count in valgrind's output:\n{done.stderr}")
    return int(match[1].replace(",", ""))


@dataclass(frozen=True)
class Cost:
    """Per delivered data packet; `None` where it was not measured."""

    ns: float | None
    instructions: float | None
    delivered: int | None


def airtcp(workload: Workload, duration_s: float) -> list[str]:
    return [str(PROGRAM), *workload.arguments(duration_s), workload.scheme()]


def ns2(workload: Workload, duration_s: float) -> list[str]:
    return ["ns", str(NS2_SCRIPT), *workload.arguments(duration_s)]


def cost(
    command: Callable[[Workload, float], list[str]], workload: Workload, *, timed: bool, counted: bool
) -> Cost:
    ns = per_packet = delivered = None
    if timed:
        short, long = (run(command(workload, s)) for s in workload.timed_s)
        delivered = long.counters["delivered"] - short.counters["delivered"]
        ns = 1e9 * (long.cpu_s - short.cpu_s) / delivered
    if counted:
        commands = [command(workload, s) for s in workload.counted_s]
        few, many = (run_once(command).counters["delivered"] for command in commands)
        less, more = (instructions(command) for command in commands)
        per_packet = (more - less) / (many - few)
    return Cost(ns, per_packet, delivered)


def number(value: float | None, *, digits: int = 0) -> str:
    return "-" if value is None else f"{value:,.{digits}f}".replace(",", " ")


def ratio(above: float | None, below: float | None) -> str:
    return "-" if above is None or not below else f"{above / below:.1f}"


def compare(has_valgrind: bool, has_ns2: bool) -> list[dict[str, object]]:
    """Prints a line per workload as soon as it is measured."""
    header = ("workload", "packets", "ns", "instr.", "ns-2 ns", "ns-2 instr.", "ratio ns", "ratio instr.")
    layout = "{:30} {:>12} {:>7} {:>7} {:>8} {:>11} {:>9} {:>12}"
    print("Per delivered data packet:", layout.format(*header), sep="\n", flush=True)
    rows: list[dict[str, object]] = []
    for workload in [LOSSY, CLEAN, *SHARED]:
        ours = cost(airtcp, workload, timed=True, counted=has_valgrind)
        theirs = cost(
            ns2,
            workload,
            timed=has_ns2 and workload.flows <= NS2_LARGEST_TIMED,
            counted=has_ns2 and has_valgrind and workload.flows <= NS2_LARGEST_COUNTED,
        )
        cells = (ours.delivered, ours.ns, ours.instructions, theirs.ns, theirs.instructions)
        ratios = (ratio(theirs.ns, ours.ns), ratio(theirs.instructions, ours.instructions))
        print(layout.format(workload.name, *map(number, cells), *ratios), flush=True)
        rows.append({"workload": asdict(workload), "airtcp": asdict(ours), "ns2": asdict(theirs)})
    return rows


def memory() -> dict[str, int]:
    """Peak resident memory after 10 s and after 100 s of simulated time."""
    short, long = (run_once(airtcp(CLEAN, s)).counters["peak_kib"] for s in (10, 100))
    print(f"\nPeak memory, {CLEAN.name}: {short} KiB after 10 s, {long} KiB after 100 s simulated")
    return {"after_10_s": short, "after_100_s": long}


def parallel() -> dict[str, float]:
    """Wall time of two independent runs in one process, one after the other and on two threads."""
    command = [*airtcp(CLEAN, 400), "2"]
    serial, threaded = (
        min(run_once([*command, threads]).wall_s for _ in range(REPEATS)) for threads in ("1", "2")
    )
    speedup = serial / threaded
    print(f"Two runs: {serial:.2f} s on one thread, {threaded:.2f} s on two ({speedup:.2f} times as fast)")
    return {"serial_s": serial, "threaded_s": threaded, "speedup": speedup}


def smoke(program: str) -> None:
    """One short run: the program works and delivers."""
    delivered = run_once([program, *LOSSY.arguments(1)]).counters["delivered"]
    if not delivered:
        sys.exit("the benchmark delivered nothing")
    print(f"bench-smoke: {delivered} packets delivered")


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
    machine = {"cpu": platform.processor() or platform.machine(), "cores": os.cpu_count()}
    results = {"machine": machine, "costs": compare(has_valgrind, has_ns2)}
    results |= {"peak_kib": memory(), "parallel": parallel()}
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps(results, indent=2) + "\n")
    print(f"\nWritten to {RESULTS.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
