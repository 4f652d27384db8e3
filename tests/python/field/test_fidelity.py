"""The simulator beside the kernel: what is run, kept and told."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from airtcp.cli import faithful, main
from airtcp.compare import Request, compare_all
from airtcp.comparison import Comparison
from airtcp.failure import Failure
from airtcp.fidelity import measure as measuring
from airtcp.fidelity.anchor import ANCHOR_MBPS, section
from airtcp.fidelity.findings import Finding, Journal, Measured, findings
from airtcp.fidelity.grid import Cell, Point, cells, scenario
from airtcp.fidelity.measure import Simulated, measure, planned
from airtcp.fidelity.page import page, verdict
from airtcp.linux import Job, KernelRun
from airtcp.watching import Silent

from .conftest import Fake

NEAR = Cell("reno", Point(10.0, 10.0, 0.0))
FAR = Cell("spectcp", Point(2.0, 200.0, 0.05))
SIMULATED = {NEAR: Simulated([9e6, 9.2e6], 1200.0), FAR: Simulated([1e6, 1.2e6], 90.0)}


def kernel_run(goodput_bps: float, late_us: float = 0.0) -> KernelRun:
    run: Any = {"goodput_bps": goodput_bps}
    host = {"kernel": "6.18.5", "lateness": {"mean_us": late_us}}
    return KernelRun(run, None, host)


@pytest.fixture
def waves(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, list[tuple[str, int]]]]:
    """What was asked of the kernel: how many at a time, and which. The first run of reno is late."""
    asked: list[tuple[int, list[tuple[str, int]]]] = []

    def run_all(jobs: list[Job], at_a_time: int, on_done: Any) -> None:
        is_first = not asked
        asked.append((at_a_time, [(job.scheme, job.seed) for job in jobs]))
        for job in jobs:
            if (job.scheme, job.seed) == ("spectcp", 2):
                on_done(job, Failure("spectcp", 2, "no such thing"))
            else:
                on_done(job, kernel_run(1e6 * job.seed, late_us=600.0 if is_first else 0.0))

    monkeypatch.setattr(measuring, "run_all", run_all)
    return asked


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., int]:
    """`airtcp fidelity` of two cells, in an empty folder: answers with its exit status."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(faithful, "cells", lambda *, quick: [NEAR, FAR] if quick else [])

    def run(*arguments: str) -> int:
        monkeypatch.setattr("sys.argv", ["airtcp", "fidelity", "--quick", "--out", "out", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        assert isinstance(ended.value.code, int)
        return ended.value.code

    return run


def test_every_cell_is_a_scenario_that_loses_data_alone() -> None:
    grid = cells()
    assert len(grid) == len(set(grid)) == 5 * 3 * 3 * 4
    assert {cell.scheme for cell in grid} == {cell.scheme for cell in cells(quick=True)}
    run = json.loads(scenario(FAR).run(FAR.scheme, 1).to_json())
    (forward, reverse) = run["links"]
    assert 0.03 < forward["drops_corruption"] / forward["packets_sent"] < 0.07
    assert reverse["drops_corruption"] == 0


def test_busy_runs_go_alone_and_late_ones_again(
    tmp_path: Path, waves: list[tuple[int, list[tuple[str, int]]]]
) -> None:
    journal = Journal(tmp_path / "kernel.jsonl")
    outcomes: list[object] = []
    measure(SIMULATED, journal, lambda _, outcome: outcomes.append(outcome), seeds=2)
    # Where nothing is lost at random, one run is enough.
    assert waves[:3] == [(12, [("reno", 1)]), (24, [("spectcp", 1)]), (1, [("reno", 1)])]
    assert waves[3] == (24, [("spectcp", 2)])
    assert sum(isinstance(outcome, Failure) for outcome in outcomes) == 1
    assert [(run.cell, run.seed) for run in journal.read(planned(SIMULATED, 2))] == [(FAR, 1), (NEAR, 1)]
    # What failed is tried again, what was kept is not.
    del waves[:]
    measure(SIMULATED, journal, lambda *_: None, seeds=2)
    assert [wave for wave in waves if wave[1]] == [(24, [("spectcp", 2)])]


def test_the_page_tells_what_is_outside() -> None:
    runs = [Measured(NEAR, seed, 9.1e6, 0.0, "6.18.5") for seed in (1, 2)]
    runs += [Measured(FAR, seed, 2e6, 0.0, "6.18.5") for seed in (1, 2)]
    found = findings([NEAR, FAR], {cell: each.goodputs_bps for cell, each in SIMULATED.items()}, runs)
    assert [finding.is_close for finding in found] == [True, False]
    text = page(found, section(runs), "6.18.5", missing=0)
    assert "1 of 2 cells (50 %) are within 10 % of each other: the aim is missed." in text
    assert "| `spectcp` | 2 Mbit/s, 200 ms, 5 % | 1.1 | 2 | +82" in text
    assert "| 2 Mbit/s, 200 ms | 2 · **1.82** |" in text
    assert "ran with\n2 seeds (where" in text


def test_while_runs_are_missing_the_page_claims_nothing() -> None:
    near = Finding(NEAR, [9e6], [9e6])
    text = page([near], [], "6.18.5", missing=2)
    assert "So far 1 of 1 cells (100 %) are within 10 % of each other; on the kernel 2 runs are miss" in text
    assert "ran with\nup to one seed on both" in text
    assert verdict([near], 1).endswith("; on the kernel 1 run is missing.")


def test_the_ratio_is_that_of_the_means() -> None:
    assert Finding(NEAR, [1.0, 3.0], [1.0]).ratio == 0.5


def test_the_anchor_is_a_section_of_its_own() -> None:
    assert len(ANCHOR_MBPS) == 54
    cell, value = next(iter(ANCHOR_MBPS.items()))
    assert list(section([])) == []
    near, far = (Measured(cell, 1, factor * value * 1e6, 0.0, "") for factor in (1.05, 1.2))
    assert "1 of 1 are within 10 %.\n" in list(section([near]))
    assert "0 of 1 are within 10 %.\n" in list(section([far]))


def test_what_an_earlier_plan_had_more_is_left_out(
    command: Callable[..., int], fake: Fake, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    expected: list[int] = []

    class Counting(Silent):
        def expect(self, runs: int) -> None:
            expected.append(runs)

    monkeypatch.setattr(faithful, "watched", lambda _: nullcontext(Counting()))
    assert command("--seeds", "3") == 0
    stray = Measured(Cell("cubic", FAR.point), 1, 1e6, 0.0, "5.4.0")
    Journal(tmp_path / "out/kernel.jsonl").add(stray)
    assert command("--seeds", "2") == 0
    # The simulator counts as one; of the kernel, four runs and then none.
    assert expected == [1, 4, 1, 0]
    assert len([line for line in fake.log if line.startswith("start")]) == 4
    text = (tmp_path / "out/fidelity.md").read_text()
    assert "Linux 6.18.0:" in text
    assert "2 seeds (where" in text


def test_the_documentation_is_written_once_nothing_is_missing(
    command: Callable[..., int], fake: Fake, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "fidelity.md").write_text("as it was")
    fake.behaves(broken=["spectcp"])
    assert command("--docs", "docs") == 1
    said = capsys.readouterr().out
    assert "So far 1 of 1 cells (100 %) are within 10 % of each other; on the kernel 1 run is miss" in said
    assert "docs/ is left as it was until all have run." in said
    assert (docs / "fidelity.md").read_text() == "as it was"
    assert not list(docs.rglob("*.svg"))
    assert "So far" in (tmp_path / "out/fidelity.md").read_text()
    fake.behaves()
    assert command("--docs", "docs") == 0
    assert "2 of 2 cells (100 %) are within 10 % of each other: the aim is" in capsys.readouterr().out
    assert (docs / "fidelity.md").read_text() == (tmp_path / "out/fidelity.md").read_text()
    assert (docs / "figures/fidelity.svg").is_file()


def test_interrupted_on_the_kernel_it_leaves_the_documentation(
    command: Callable[..., int], fake: Fake, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fake.behaves(hanging=["spectcp"])
    fake.interrupted_at("waiting spectcp 1")
    assert command("--docs", "docs") == 130
    said = capsys.readouterr().out
    assert "on the kernel 1 run is missing." in said
    assert "Interrupted: the same command goes on from here." in said
    assert not (tmp_path / "docs/fidelity.md").exists()


def test_interrupted_in_the_simulator_it_does_not_begin_on_the_kernel(
    command: Callable[..., int], fake: Fake, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(requests: list[Request]) -> list[Comparison]:
        return compare_all(requests, jobs=1, on_done=lambda *_: signal.raise_signal(signal.SIGINT))

    monkeypatch.setattr(measuring, "compare_all", interrupted)
    assert command("--seeds", "2") == 130
    assert fake.log == []
