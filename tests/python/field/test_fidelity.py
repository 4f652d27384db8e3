"""The simulator beside the kernel: what is run, how often, what is kept, judged and told."""

from __future__ import annotations

import json
import re
import signal
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from airtcp_studies.cli import faithful
from airtcp_studies.fidelity import findings
from airtcp_studies.fidelity import measure as measuring
from airtcp_studies.fidelity.anchor import ANCHOR_MBPS, section
from airtcp_studies.fidelity.circuit_journal import CIRCUITS, CircuitJournal, OnLinux, Told, told
from airtcp_studies.fidelity.circuit_page import SEEDS, CircuitRuns, circuit_section, papers_rows
from airtcp_studies.fidelity.circuits import KEPT_ROWS, PAPERS_ROWS, Row, Setting
from airtcp_studies.fidelity.findings import Finding
from airtcp_studies.fidelity.grid import SCHEMES, Cell, Point, between_kernels, cells, scenario
from airtcp_studies.fidelity.journal import Journal, Measured, Outcome, outcome
from airtcp_studies.fidelity.judge import (
    COMPLETION,
    GOODPUT,
    RETRANSMITTED,
    RTT,
    SHARE,
    Compared,
    Verdict,
    tally,
)
from airtcp_studies.fidelity.kernels import FINDINGS, PAGE, journal_of, kernels_page
from airtcp_studies.fidelity.measure import Comparer, Repeats, Simulator
from airtcp_studies.fidelity.page import page, verdict
from hypothesis import given, settings
from hypothesis import strategies as st

from airtcp._engine import Scenario
from airtcp.cli import main
from airtcp.facts.failure import Failure
from airtcp.facts.scenario import document
from airtcp.linux.runs import Job, KernelRun
from airtcp.running.watching import Silent

from .conftest import Fake

NEAR = Cell("reno", Point(10.0, 10.0))
FAR = Cell("spectcp", Point(2.0, 200.0, 0.05))
SHORT = Cell("cubic", Point(10.0, 50.0), size_kb=100)
PAIR = Cell("bbr", Point(10.0, 50.0, queue_packets=42), beside="cubic")
RUN = Outcome(9e6, 1.0, 0.01, 60.0, 0, None)


def goodputs(*values: float) -> list[Outcome]:
    return [replace(RUN, goodput_bps=value) for value in values]


def measured(cell: Cell, seed: int, goodput_bps: float = 9e6) -> Measured:
    return Measured(cell, seed, replace(RUN, goodput_bps=goodput_bps), 0.0, "6.18.5", "2026-11-23")


def simulated_run(cell: Cell, traces: Path | None = None) -> Any:
    return json.loads(scenario(cell, 1, traces).run(cell.scheme, 1).to_json())


# What is run.


def test_the_grid_has_every_kind_of_cell_once() -> None:
    grid = cells(traces=Path())
    assert len(grid) == len(set(grid)) == len({str(cell) for cell in grid})
    stations = [cell for cell in grid if cell.point.station]
    assert len(stations) == (4 + 2 + 2) + 3 * 3 + 3 * 4
    others = [cell for cell in grid if cell not in stations]
    unlimited = [cell for cell in others if not (cell.size_kb or cell.beside or cell.point.queue_packets)]
    heavy = [cell for cell in unlimited if cell.point.loss >= 0.1 or cell.point.overtaking_ms]
    assert len(heavy) == 2 * 4 + 2
    assert len(unlimited) - len(heavy) == 5 * 3 * 3 * 4
    for kind in (
        lambda cell: cell.size_kb == 10,
        lambda cell: cell.beside,
        lambda cell: cell.point.trace,
        lambda cell: cell.point.queue_packets == 10,
        lambda cell: cell.point.queue_packets == 667,
    ):
        assert any(map(kind, grid))
    assert not any(cell.point.trace for cell in cells())
    assert {cell.scheme for cell in cells(quick=True)} == set(SCHEMES)


def test_packet_control_stands_between_two_links() -> None:
    (cell, *_) = [cell for cell in cells() if "P2" in cell.point.station and "packet-control" in cell.scheme]
    links = simulated_run(cell)["links"]
    lost = [(link["name"], link["direction"], link["drops_corruption"] > 0) for link in links]
    assert {("wired", "forward", False), ("wireless", "forward", True)} <= set(lost)


def test_every_cell_is_a_scenario_that_loses_data_alone() -> None:
    (forward, reverse) = simulated_run(FAR)["links"]
    assert 0.03 < forward["drops_corruption"] / forward["packets_sent"] < 0.07
    assert reverse["drops_corruption"] == 0


def test_where_data_overtakes_its_acks_do_not() -> None:
    late = Cell("bbr", Point(10.0, 100.0, overtaking_ms=100.0))
    assert str(late) == "bbr: 10 Mbit/s, 100 ms, 0 %, overtaking within 100 ms"
    (link,) = document(scenario(late, 1))["link"]
    assert link["jitter"]["overtaking"]
    assert link["reverse"]["jitter"]["distribution"] == "constant"


def test_short_transfers_are_all_completed_where_nothing_is_lost() -> None:
    found = simulated_run(SHORT)
    assert len(found["flows"]) == 20
    completion_s = outcome(found).completion_s
    assert completion_s is not None
    assert 0.15 < completion_s < 0.5


def test_a_second_flow_has_its_own_scheme_and_a_share() -> None:
    found = simulated_run(PAIR)
    assert [flow["scheme"] for flow in found["flows"]] == ["bbr", "cubic"]
    assert 0.1 < outcome(found).first < 0.95


def test_each_seed_enters_a_recording_later(tmp_path: Path) -> None:
    for way in ("down", "up"):
        (tmp_path / f"walk.{way}").write_text("\n".join(str(ms) for ms in range(2, 30_000, 2)))
    cell = Cell("cubic", Point(0.0, 40.0, queue_packets=200, trace="walk"))
    assert scenario(cell, 3, tmp_path).duration_s - scenario(cell, 1, tmp_path).duration_s == 10.0
    assert outcome(simulated_run(cell, tmp_path)).goodput_bps > 5e6


# How often, and what is kept.


@pytest.fixture
def waves(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, list[tuple[str, int]]]]:
    """What was asked of the kernel: how many at a time, and which. The first run of reno is late.

    Reno's runs are all alike, those of spectcp are not.
    """
    asked: list[tuple[int, list[tuple[str, int]]]] = []

    def run_all(jobs: list[Job], at_a_time: int, on_done: Any, **_: Any) -> None:
        is_first = not asked
        asked.append((at_a_time, [(job.scheme, job.seed) for job in jobs]))
        for job in jobs:
            told = json.loads(job.scenario.run(job.scheme, job.seed).to_json())
            for flow in told["flows"]:
                flow["goodput_bps"] *= job.seed if job.scheme == "spectcp" else 1
            late_us = 600.0 if is_first else 0.0
            on_done(job, KernelRun(told, None, {"kernel": "6.18.5-x", "lateness": {"mean_us": late_us}}))

    monkeypatch.setattr(measuring, "run_all", run_all)
    return asked


def test_a_cell_is_repeated_until_its_interval_is_narrow(
    tmp_path: Path, waves: list[tuple[int, list[tuple[str, int]]]]
) -> None:
    comparer = Comparer(Simulator(), Journal(tmp_path / "kernel.jsonl"), Repeats(most=4))
    rounds: list[int] = []
    comparer.measure([NEAR, FAR], rounds.append, lambda *_: None)
    # Busy runs go alone, and the late one of reno again.
    assert waves[:3] == [(12, [("reno", 1)]), (24, [("spectcp", 1)]), (1, [("reno", 1)])]
    assert rounds == [2, 2, 1, 1]
    assert [len(cell.measured) for cell in comparer.compared([NEAR, FAR])] == [2, 4]
    assert comparer.missing([NEAR, FAR]) == []
    # All of it is in the file.
    kept = Journal(tmp_path / "kernel.jsonl")
    assert [run.seed for run in kept.of(FAR, 4)] == [1, 2, 3, 4]
    assert kept.of(NEAR, 1)[0].kernel == "6.18.5"


def test_a_cell_that_failed_is_left_and_tried_again_by_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def run_all(jobs: list[Job], _: int, on_done: Any, **__: Any) -> None:
        for job in jobs:
            asked.append(job.scheme)
            on_done(job, Failure(job.scheme, job.seed, "no such thing"))

    monkeypatch.setattr(measuring, "run_all", run_all)
    comparer = Comparer(Simulator(), Journal(tmp_path / "kernel.jsonl"), Repeats())
    comparer.measure([NEAR], lambda _: None, lambda *_: None)
    comparer.measure([NEAR], lambda _: None, lambda *_: None)
    assert asked == ["reno", "reno"]
    assert comparer.missing([NEAR]) == [(NEAR, 1)]


def test_the_journal_gives_back_what_it_was_given(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "kernel.jsonl")
    for cell in (NEAR, FAR, SHORT, PAIR):
        journal.add(measured(cell, 1))
    journal.add(measured(NEAR, 3))
    again = Journal(tmp_path / "kernel.jsonl")
    for cell in (NEAR, FAR, SHORT, PAIR):
        # The second seed of NEAR is missing, so that the third does not count yet.
        assert again.of(cell, 12) == [measured(cell, 1)]


# How it is judged.


def test_the_ratio_is_that_of_the_means() -> None:
    judged = Compared(NEAR, goodputs(1.0, 3.0), goodputs(1.0, 1.0)).judged(GOODPUT)
    assert judged is not None
    assert judged.apart.mean == -0.5


@pytest.mark.parametrize(
    ("kernel", "expected"),
    [
        ((9.1e6, 9.0e6, 9.05e6), Verdict.CLOSE),
        ((9.6e6, 9.7e6, 9.65e6), Verdict.OUTSIDE),
        ((8e6, 9e6, 10e6), Verdict.UNDECIDED),
        ((9e6,), Verdict.UNDECIDED),
    ],
)
def test_a_wide_interval_decides_nothing(kernel: tuple[float, ...], expected: Verdict) -> None:
    judged = Compared(NEAR, goodputs(*[9e6] * len(kernel)), goodputs(*kernel)).judged(GOODPUT)
    assert judged is not None
    assert judged.verdict is expected


def test_retransmissions_differ_in_percentage_points() -> None:
    more = [replace(RUN, retransmitted=share) for share in (0.016, 0.017)]
    found = Compared(NEAR, [RUN, RUN], more)
    judged = found.judged(RETRANSMITTED)
    assert judged is not None
    assert judged.apart.mean == pytest.approx(0.0065)
    assert judged.verdict is Verdict.OUTSIDE
    assert tally(RETRANSMITTED, [found]).close == 0
    assert tally(RTT, [found]).is_reached


def test_a_transfer_that_never_ends_has_no_completion_time() -> None:
    ended = replace(RUN, completion_s=0.2)
    assert Compared(SHORT, [RUN], [ended]).judged(COMPLETION) is None
    some = Compared(SHORT, [RUN, ended], [ended, replace(RUN, completion_s=0.25)]).judged(COMPLETION)
    assert some is not None
    assert some.apart.n == 1


def test_what_a_cell_is_there_for() -> None:
    aspects = {cell: Compared(cell, [RUN], [RUN]).main for cell in (NEAR, SHORT, PAIR)}
    assert aspects == {NEAR: GOODPUT, SHORT: COMPLETION, PAIR: SHARE}
    assert SHARE in Compared(PAIR, [RUN], [RUN]).aspects


# What is told.

BOTH = [
    Compared(NEAR, goodputs(9e6, 9e6), goodputs(9.05e6, 9.05e6)),
    Compared(FAR, goodputs(1e6, 1.2e6), goodputs(2e6, 2.2e6)),
]
FOUND = Finding("Few marks", "2026-11-23", ("spectcp: 2 Mbit/s, *",), "One decides a run.")


def test_the_page_tells_what_is_outside_and_why() -> None:
    text = page(BOTH, [FOUND], section([]), "6.18.5", "2026-11-23")
    assert "goodput: 1 of 2 decided cells (50 %) within 5 %: the aim is missed." in text
    assert "1 decided beyond 10 %, 0 of them unexplained." in text
    assert "| 2 Mbit/s, 200 ms, 5 % | 2 | 1.1 · 2.1 (**+90.9 ± 0.0 %**) |" in text
    assert "| spectcp: 2 Mbit/s, 200 ms, 5 % | goodput | 1.1 · 2.1 | +90.9 ± 0.0 % | 1 |" in text
    assert "1. **Few marks** (2026-11-23) One decides a run." in text
    assert "ran with 2 seeds:" in text
    assert "1 of them unexplained." in "\n".join(verdict(BOTH, []))


def test_while_runs_are_missing_it_claims_nothing() -> None:
    said = verdict(BOTH[:1], [], missing=1)
    assert said[0] == "So far, goodput: 1 of 1 decided cells (100 %) within 5 %."
    assert said[-1] == "On the kernel 1 run is missing."


def test_findings_are_read_from_beside_the_runs(tmp_path: Path) -> None:
    path = tmp_path / "findings.toml"
    assert findings.read(path) == ()
    path.write_text(
        '[[finding]]\ntitle = "Few marks"\nmeasured = 2026-11-23\ncells = ["spectcp: 2 Mbit/s, *"]\n'
        'text = """\nOne decides a run.\n"""\n'
    )
    assert findings.read(path) == (FOUND,)
    assert findings.explained(FAR, [FOUND]) == [1]
    assert findings.explained(NEAR, [FOUND]) == []
    path.write_text("[[finding]]\n")
    with pytest.raises(findings.FindingsError, match="title"):
        findings.read(path)


def test_the_anchor_is_a_section_of_its_own() -> None:
    assert len(ANCHOR_MBPS) == 54
    cell, value = next(iter(ANCHOR_MBPS.items()))
    assert list(section([])) == []
    near, far = (measured(cell, 1, factor * value * 1e6) for factor in (1.05, 1.2))
    assert "1 of 1 are within 10 %.\n" in list(section([near]))
    assert "0 of 1 are within 10 %.\n" in list(section([far]))


# Circuits.


LINE = """
[[link]]
name = "link"
rate = "1Mbit/s"
delay = "5ms"
[[flow]]
name = "one"
scheme = "reno+decoupling"
"""


def test_settings_of_circuits_are_scenarios_with_names_of_their_own() -> None:
    settings = {setting for row in (*PAPERS_ROWS, *KEPT_ROWS) for setting in row.settings}
    assert len({setting.name for setting in settings}) == len(settings)
    assert {setting.scenario().duration_s for setting in settings} == {35.0}


def test_a_row_of_circuits_has_both_sides(tmp_path: Path) -> None:
    setting = Setting("a circuit", LINE)
    simulated = told(json.loads(setting.scenario().run("reno", 1).to_json()))
    assert 3 < simulated.overhead_percent[0] < 4
    assert 8e5 < simulated.goodput_bps["one"] < 1e6
    row = replace(PAPERS_ROWS[0], settings=(setting,))
    runs = CircuitRuns(CircuitJournal(tmp_path / "circuits.jsonl"))
    assert [seed for _, seed in runs.missing([row])] == list(range(1, SEEDS + 1))
    assert list(circuit_section(runs, [row])) == []
    linux = Told({"one": 8e6}, {"one": 8.4e6}, 0, 10, 1, 1)
    for seed in range(1, SEEDS + 1):
        runs.journal.add(OnLinux(setting.name, seed, linux, 0.1, "6.18.5", "2026-11-23"))
    again = CircuitRuns(CircuitJournal(tmp_path / "circuits.jsonl"))
    again.simulate([row])
    in_simulator, on_linux = again.values(row)
    assert in_simulator == pytest.approx(simulated.goodput_bps["one"] / 8e3, rel=0.1)
    assert on_linux == 1000.0


@settings(max_examples=20)
@given(st.sets(st.sampled_from(sorted({s.name for row in PAPERS_ROWS for s in row.settings}))))
def test_the_papers_page_has_the_rows_that_linux_has_run(ran: set[str]) -> None:
    linux = Told({"one1": 8e6, "other2": 4e6}, {"one1": 8e6, "other2": 4e6}, 0, 10, 1, 1)
    with TemporaryDirectory() as folder:
        journal = CircuitJournal(Path(folder) / CIRCUITS)
        for name in ran:
            for seed in range(1, SEEDS + 1):
                journal.add(OnLinux(name, seed, linux, 0.1, "6.18.5", "2026-11-23"))
        found = papers_rows(CircuitJournal(Path(folder) / CIRCUITS))
    whole = [row for row in PAPERS_ROWS if {setting.name for setting in row.settings} <= ran]
    assert [what for rows in found.values() for what, *_ in rows] == [row.what for row in whole]
    assert list(found) == list(dict.fromkeys(row.experiment for row in whole))


@pytest.mark.parametrize("row", [row for row in PAPERS_ROWS if row.experiment == "D8" and "[%]" in row.what])
def test_a_feature_of_the_papers_data_tcp_is_worth_what_its_absence_costs(row: Row) -> None:
    whole, without = (setting.path for setting in row.settings)
    lacks = {"F1", "F2", "F3"} if "none" in row.what else {row.what.partition(" ")[0]}
    assert {key.upper() for key in ("f1", "f2", "f3") if f":{key}=false" in without} == lacks
    assert re.sub(r":f\d=false", "", without) == whole
    half = [Told({"one1": goodput}, {}, 0, 1, 1, 1) for goodput in (8e6, 4e6)]
    assert row.value(half) == 100.0


# Kernels beside each other.

DOCS = Path(__file__).parents[3] / "docs"
APART = Finding("One halves", "2026-11-28", ("reno: *",), "It does.")


def on_kernels(folder: Path, **goodput_bps: float) -> str:
    """Returns the page on one cell, which each kernel and the host have run once."""
    for version, value in goodput_bps.items():
        kernel = version.removeprefix("linux").replace("_", ".")
        Journal(journal_of(folder, kernel)).add(measured(NEAR, 1, value))
    host = Journal(folder / "host")
    host.add(measured(NEAR, 1, 9.5e6))
    return kernels_page(folder, host, Simulator(), [NEAR], 1, [APART])


def test_a_row_is_apart_if_kernels_differ_by_more_than_seeds(tmp_path: Path) -> None:
    near = on_kernels(tmp_path / "near", linux5_10=9.6e6, linux6_1=9.5e6)
    assert "None of 3 rows. No kernel here asks for a profile" in near
    assert "| reno: 10 Mbit/s, 10 ms, 0 % | 9.65 |" in near
    far = on_kernels(tmp_path / "far", linux6_1=9.5e6, linux5_10=4.8e6)
    assert "1 of 3 rows.\n" in far
    assert "| reno: 10 Mbit/s, 10 ms, 0 % | goodput | 1 |" in far
    (row,) = [line for line in far.splitlines() if line.startswith("| **reno: 10 Mbit/s, 10 ms, 0 %**")]
    assert row.endswith("| 4.8 | 9.5 | 9.5 |")


def test_the_page_on_kernels_is_what_the_records_give() -> None:
    folder = DOCS / "fidelity"
    causes = findings.read(folder / FINDINGS)
    text = kernels_page(folder, Journal(folder / "kernel.jsonl"), Simulator(), between_kernels(), 1, causes)
    assert (DOCS / PAGE).read_text() == text
    assert "unexplained" not in text


# The command.


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., int]:
    """`airtcp fidelity` of two cells, in an empty folder: answers with its exit status."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(faithful, "cells", lambda **_: [NEAR, FAR])

    def run(*arguments: str) -> int:
        monkeypatch.setattr("sys.argv", ["airtcp", "fidelity", "--quick", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        assert isinstance(ended.value.code, int)
        return ended.value.code

    return run


@pytest.mark.usefixtures("fake")
def test_what_has_run_is_not_run_again(
    command: Callable[..., int], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    expected: list[int] = []

    class Counting(Silent):
        def expect(self, runs: int) -> None:
            expected.append(runs)

    monkeypatch.setattr(faithful, "watched", lambda _: nullcontext(Counting()))
    assert command("--out", "out") == 0
    # Where nothing is lost at random two are enough, as the fake gives what the simulator gives.
    assert expected == [2, 2, 1]
    assert command("--out", "out") == 0
    assert expected == [2, 2, 1]
    assert "Linux 6.18.0 (" in (tmp_path / "out/fidelity.md").read_text()
    assert (tmp_path / "out/figures/fidelity.svg").is_file()


def test_recorded_runs_are_judged_without_the_kernel(
    command: Callable[..., int], fake: Fake, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    journal = Journal(tmp_path / "docs/fidelity/kernel.jsonl")
    assert command("--recorded", "--docs", "docs") != 0
    assert "has no runs of these cells" in capsys.readouterr().err
    for seed in (1, 2):
        journal.add(measured(NEAR, seed, 9.5e6))
    assert command("--recorded", "--docs", "docs") == 0
    assert "goodput: 1 of 1 decided cells (100 %) within 5 %: the aim is reached." in capsys.readouterr().out
    assert "## reno" in (tmp_path / "docs/fidelity.md").read_text()
    assert fake.log == []


def test_the_page_is_written_once_nothing_is_missing(
    command: Callable[..., int], fake: Fake, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "fidelity.md").write_text("as it was")
    fake.behaves(broken=["spectcp"])
    assert command("--docs", "docs") == 1
    said = capsys.readouterr().out
    assert "So far, goodput: 1 of 1 decided cells (100 %) within 5 %." in said
    assert "The page is written once all cells have run." in said
    assert (docs / "fidelity.md").read_text() == "as it was"
    fake.behaves()
    assert command("--docs", "docs") == 0
    assert "2 of 2 decided cells (100 %) within 5 %: the aim is reached." in capsys.readouterr().out
    assert (docs / "figures/fidelity.svg").is_file()
    assert (docs / "fidelity/kernel.jsonl").is_file()


def test_interrupted_on_the_kernel_it_goes_on_from_there(
    command: Callable[..., int], fake: Fake, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fake.behaves(hanging=["spectcp"])
    fake.interrupted_at("waiting spectcp 1")
    assert command("--docs", "docs") == 130
    said = capsys.readouterr().out
    assert "On the kernel" in said
    assert "Interrupted: run the same command to continue." in said
    assert not (tmp_path / "docs/fidelity.md").exists()


def test_interrupted_in_the_simulator_it_does_not_begin_on_the_kernel(
    command: Callable[..., int], fake: Fake, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(cell: Cell, seed: int, traces: Path | None = None) -> Scenario:
        signal.raise_signal(signal.SIGINT)
        return scenario(cell, seed, traces)

    monkeypatch.setattr(measuring, "scenario", interrupted)
    assert command("--out", "out") == 130
    assert fake.log == []
