"""A sweep as a user meets it: interrupted, killed, gone on with, and on whatever executor."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import polars as pl
import pytest
from conftest import COMMAND, Cli, Commands, proceed, start, stopped
from hypothesis import given, settings
from hypothesis import strategies as st

import airtcp
from airtcp import Scenario, SweepError
from airtcp.sweep import run as sweeping
from airtcp.sweep.journal import NAME, Journal
from airtcp.sweep.rows import COUNTS, MEASURES, Found, measures
from airtcp.sweep.run import Progress

SWEEP = [
    *("sweep", "--vary", "wireless.loss.ber=1e-7..1e-5:log:12", "--vary", "wireless.delay=10ms,40ms"),
    *("--schemes", "reno,bbr", "--seeds", "5", "--duration", "10s"),
]
RUNS = 12 * 2 * 2 * 5
SMALL = {"wireless.loss.ber": [1e-6, 1e-5]}
IDENTITY = {"scenario": "abc"}


def small(**changes: object) -> Scenario:
    return Scenario.built_in().vary({"schemes": ["reno", "bbr"], "seeds": 3, "duration": "2s", **changes})


def wait_for_lines(process: subprocess.Popen[str], journal: Path, lines: int) -> None:
    while not (journal.exists() and journal.read_bytes().count(b"\n") >= lines):
        assert process.poll() is None, process.communicate()
        time.sleep(0.005)


def assert_same(one: Path, other: Path) -> None:
    for name in ("results.parquet", "sweep.json"):
        assert (one / name).read_bytes() == (other / name).read_bytes(), name


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory, commands: Commands) -> Path:
    """What an uninterrupted sweep on one thread leaves."""
    cli = Cli(tmp_path_factory.mktemp("whole"), commands)
    text = cli.ok(*SWEEP, "--jobs", "1", "--out", "d")
    assert f"24 points × 2 schemes × 5 seeds = {RUNS} runs" in text
    assert "bbr has the best goodput" in text
    return cli.directory / "d"


def test_what_it_leaves(whole: Path) -> None:
    names = {path.name for path in whole.iterdir()}
    figures = {f"{name}.{kind}" for name in ("best", "schemes") for kind in ("png", "svg")}
    assert names == {"results.parquet", "sweep.json", NAME, *figures}
    frame = pl.read_parquet(whole / "results.parquet")
    assert frame.height == RUNS
    assert frame.columns[:5] == ["point", "wireless.loss.ber", "wireless.delay", "scheme", "seed"]
    assert frame["wireless.delay"].unique().sort().to_list() == [0.01, 0.04]
    assert frame.select("point", "scheme", "seed").rows() == [
        (point, scheme, seed) for point in range(1, 25) for scheme in ("reno", "bbr") for seed in range(1, 6)
    ]
    document = json.loads((whole / "sweep.json").read_text())
    assert document["command"].startswith("airtcp sweep --schemes reno,bbr")
    assert [row["scheme"] for row in document["standings"]] == ["reno", "bbr"]


def test_a_row_is_the_run(whole: Path) -> None:
    row = pl.read_parquet(whole / "results.parquet").row(-1, named=True)
    scenario = Scenario.built_in(
        [("wireless.delay", "40ms"), ("wireless.loss.ber", "1e-5"), ("duration", "10s")]
    )
    run = json.loads(scenario.run("bbr", 5).to_json())
    assert row["goodput_bps"] == run["goodput_bps"]
    assert row["timeouts"] == run["flows"][0]["timeouts"]
    # A weighted mean of one value.
    assert row["rtt_p95_ms"] == pytest.approx(run["flows"][0]["rtt_p95_ms"], rel=1e-12)


def test_totals_are_those_of_the_measured_flows() -> None:
    pages = {"name": "pages", "traffic": {"kind": "poisson", "size": "20kB", "interval": "100ms"}}
    flows = [pages, {"count": 2}, {"name": "background", "measure": False}]
    record = small(flow=flows).run("reno", 1)
    run = json.loads(record.to_json())
    measured = [flow for flow in run["flows"] if flow["measured"]]
    assert len(measured) == 3
    samples = [flow["rtt_samples"] for flow in measured]
    times = [time for flow in measured for time in flow["completion_times_s"]]
    totals = record.totals()
    assert times
    assert totals["completed_transfers"] == len(times)
    assert totals["completion_mean_s"] == pytest.approx(sum(times) / len(times))
    assert totals["rtt_min_ms"] == min(flow["rtt_min_ms"] for flow in measured)
    for rtt in ("rtt_p50_ms", "rtt_p95_ms"):
        weighted = sum(flow[rtt] * weight for flow, weight in zip(measured, samples, strict=True))
        assert totals[rtt] == pytest.approx(weighted / sum(samples))
    for name in ("goodput_bps", "bound_bps", "jain_index", "packets_delivered"):
        assert totals[name] == run[name]
    for name in ("throughput_bps", *COUNTS):
        assert totals[name] == pytest.approx(sum(flow[name] for flow in measured))
    assert set(totals) == set(MEASURES)


def test_nothing_measured_is_nothing() -> None:
    totals = small(duration="1ms").run("reno", 1).totals()
    assert (totals["rtt_min_ms"], totals["rtt_p95_ms"], totals["completion_mean_s"]) == (None, None, None)
    assert totals["throughput_bps"] == 0


def test_behind_a_proxy_no_rtt_is_the_paths() -> None:
    record = small().run("reno+split", 1)
    assert record.totals()["rtt_p95_ms"] is not None
    row = dict(zip(MEASURES, measures(record, "reno+split"), strict=True))
    assert {name for name, value in row.items() if value is None} >= {
        "rtt_min_ms",
        "rtt_p50_ms",
        "rtt_p95_ms",
    }
    assert row["goodput_bps"] == record.totals()["goodput_bps"]


@pytest.mark.parametrize("batches", [1, 120])
def test_killed_and_run_again_it_leaves_the_same_bytes(cli: Cli, whole: Path, batches: int) -> None:
    """By SIGKILL, while other batches are under way."""
    journal = cli.directory / "d" / NAME
    with stopped(cli.directory, batches, *SWEEP, "--out", "d", "--jobs", "2") as process:
        process.kill()
    kept = journal.read_bytes()
    assert not (cli.directory / "d" / "results.parquet").exists()
    text = cli.ok(*SWEEP, "--out", "d", "--jobs", "2")
    done = sum(len(json.loads(line[9:])) for line in kept.splitlines()[1:])
    assert f"{done} runs are already done" in text
    assert journal.read_bytes().startswith(kept[: kept.rfind(b"\n") + 1])
    rows = [row for line in journal.read_bytes().splitlines()[1:] for row in json.loads(line[9:])]
    assert sorted(place for place, _ in rows) == list(range(RUNS)), "no run was done twice"
    assert_same(cli.directory / "d", whole)


def test_ctrl_c_says_how_to_go_on_and_it_goes_on(cli: Cli, whole: Path) -> None:
    with stopped(cli.directory, 3, *SWEEP, "--out", "d", "--jobs", "1") as process:
        os.killpg(process.pid, signal.SIGINT)
        out, err = proceed(process)
    assert process.returncode == 130, err
    assert "Run the same command to continue" in " ".join(out.split())
    assert "Traceback" not in err
    cli.ok(*SWEEP, "--out", "d")
    assert_same(cli.directory / "d", whole)


def test_two_sweeps_do_not_write_to_one_directory(cli: Cli) -> None:
    long = ["sweep", "--vary", "wireless.delay=10ms,20ms", "--duration", "100h", "--out", "d"]
    with start(cli.directory, *COMMAND, *long) as process:
        wait_for_lines(process, cli.directory / "d" / NAME, 1)
        second = cli(*long, "--fresh")
        process.kill()
    assert second.returncode == 2
    assert "another sweep is running in d" in second.stderr
    with start(cli.directory, *COMMAND, *long) as process:
        # The kernel has taken the lock back.
        wait_for_lines(process, cli.directory / "d" / NAME, 1)
        time.sleep(0.5)
        assert process.poll() is None
        process.kill()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"duration": "3s"}, "scenario changed"),
        ({"wireless.queue.packets": 20}, "scenario changed"),
        ({"seeds": 4}, "seeds changed"),
        ({"schemes": ["reno", "cubic"]}, "schemes changed"),
    ],
)
def test_runs_of_another_sweep_are_not_mixed_in(change: dict[str, object], said: str, tmp_path: Path) -> None:
    airtcp.sweep(small(), SMALL, out=tmp_path)
    with pytest.raises(SweepError, match=said) as refused:
        airtcp.sweep(small().vary(change), SMALL, out=tmp_path)
    assert "--fresh" in str(refused.value)
    with pytest.raises(SweepError, match="what varies changed"):
        airtcp.sweep(small(), {"wireless.loss.ber": [1e-6]}, out=tmp_path)


def test_a_changed_trace_is_another_sweep(tmp_path: Path) -> None:
    (tmp_path / "t.down").write_text("".join(f"{time_ms}\n" for time_ms in range(1, 100)))
    link = {"name": "air", "trace": str(tmp_path / "t.down"), "delay": "10ms"}
    keys = {"link": [link], "schemes": ["reno"], "seeds": 1, "duration": "1s"}
    vary = {"air.delay": ["1ms", "5ms"]}
    airtcp.sweep(Scenario.build(**keys), vary, out=tmp_path / "d")
    airtcp.sweep(Scenario.build(**keys), vary, out=tmp_path / "d")
    (tmp_path / "t.down").write_text("".join(f"{time_ms}\n" for time_ms in range(1, 200, 2)))
    with pytest.raises(SweepError, match="scenario changed"):
        airtcp.sweep(Scenario.build(**keys), vary, out=tmp_path / "d")
    airtcp.sweep(Scenario.build(**keys), vary, out=tmp_path / "d", fresh=True)


def test_dry_run_writes_nothing(cli: Cli) -> None:
    text = cli.ok(*SWEEP, "--dry-run")
    assert f"= {RUNS} runs" in text
    assert "point 1 (wireless.loss.ber=1e-07, wireless.delay=10ms)" in text
    assert "… and 14 more points" in text
    assert not list(cli.directory.iterdir())


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "--vary"),
        (["--vary", "wireless.loss.ber=2,3"], "2 of 2 points are invalid"),
        (["--vary", "wireless.delay=1ms,2ms", "--executor", "moon"], "threads, processes, or dask://"),
    ],
)
def test_bad_input_is_refused(cli: Cli, arguments: list[str], said: str) -> None:
    done = cli("sweep", *arguments)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("vary", "figures"),
    [
        (["wireless.loss.ber=1e-6..1e-5:log:3"], {"curves"}),
        (["wireless.loss.ber=0,1e-6..1e-5:log:2"], {"curves"}),
        (["profile=linux,rfc"], {"curves"}),
        (["wireless.loss.ber=1e-6,1e-5", "wireless.delay=10ms,20ms", "profile=linux,rfc"], {"best"}),
        (["wireless.loss.ber=1e-6..1e-5:log", "wireless.delay=10ms..20ms", "--lhs"], {"best"}),
        (
            ["wireless.loss.ber=1e-6..1e-5:log", "wireless.delay=1ms..9ms", "profile=rfc", "--lhs"],
            {"overview"},
        ),
    ],
)
def test_figures_that_suit_what_varies(vary: list[str], figures: set[str], tmp_path: Path) -> None:
    lhs = 5 if "--lhs" in vary else None
    keys = dict(option.split("=", 1) for option in vary if option != "--lhs")
    found = airtcp.sweep(small(), keys, lhs=lhs)
    paths = found.save_figures(tmp_path)
    assert {path.name for path in paths} == {f"{name}.{kind}" for name in figures for kind in ("png", "svg")}
    assert all(path.stat().st_size > 5_000 for path in paths)
    assert "<svg" in found._repr_html_()
    page = found.report(tmp_path / "report.html", "airtcp sweep …").read_text()
    assert found.verdict in page
    assert "plotly" in page


@pytest.fixture(scope="module")
def executors() -> Iterator[list[str | Executor]]:
    with ThreadPoolExecutor(2) as threads, ProcessPoolExecutor(2, get_context("spawn")) as processes:
        yield ["threads", threads, processes]


def test_every_executor_gives_the_same(executors: list[str | Executor]) -> None:
    expected = airtcp.sweep(small(), SMALL, jobs=1)
    assert expected.frame.height == 12
    for executor in [*executors, "processes"]:
        found = airtcp.sweep(small(), SMALL, executor=executor)
        assert found.frame.equals(expected.frame), executor


def test_a_comparison_on_every_executor_is_the_same(executors: list[str | Executor]) -> None:
    expected = airtcp.compare(small())
    for executor in executors:
        found = airtcp.compare(small(), executor=executor)
        assert found.runs == expected.runs
        assert found.series.equals(expected.series)


def test_ctrl_c_stops_processes_in_the_middle_of_long_runs(cli: Cli) -> None:
    arguments = ["sweep", "--vary", "wireless.delay=10ms,20ms", "--duration", "1000h", "--out", "d"]
    with start(cli.directory, *COMMAND, *arguments, "--executor", "processes", "--jobs", "2") as process:
        wait_for_lines(process, cli.directory / "d" / NAME, 1)
        time.sleep(3)
        os.kill(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert "Traceback" not in err
    assert "0 of" in out
    deadline_s = time.monotonic() + 20
    while _is_anybody_left(process.pid):
        assert time.monotonic() < deadline_s
        time.sleep(0.1)


def _is_anybody_left(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_worker_process_that_dies_costs_nothing_that_was_finished(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As when the system is out of memory: the sweep says so, and goes on the next time."""
    monkeypatch.setattr(sweeping, "BATCH_S", 0)
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        pool.submit(os.getpid).result()

        def kill(progress: Progress) -> None:
            if progress.done > 2:
                os.kill(pool.submit(os.getpid).result(), signal.SIGKILL)

        with pytest.raises(SweepError, match="run the same command to resume"):
            airtcp.sweep(small(seeds=50), SMALL, executor=pool, out=tmp_path, on_progress=kill)
    resumed = airtcp.sweep(small(seeds=50), SMALL, out=tmp_path)
    assert resumed.frame.equals(airtcp.sweep(small(seeds=50), SMALL).frame)


def test_summary_says_who_is_best_where() -> None:
    found = airtcp.sweep(small(), SMALL)
    assert found.summary.filter(pl.col("best")).select("point", "scheme").rows() == [(1, "bbr"), (2, "bbr")]
    means = found.frame.group_by("point", "scheme", maintain_order=True).agg(pl.col("goodput_bps").mean())
    assert found.summary["goodput_bps"].to_list() == pytest.approx(means["goodput_bps"].to_list())
    assert "2 of 2 points" in found.verdict
    assert "alike" not in found.verdict


def test_seeds_that_repeat_a_recording_are_no_certainty(tmp_path: Path) -> None:
    (tmp_path / "cell.down").write_text("".join(f"{time}\n" for time in range(0, 5000, 5)))
    (tmp_path / "cell.toml").write_text(
        'duration = "3s"\nschemes = ["cubic", "vegas"]\nseeds = 2\n[[link]]\ntrace = "cell.down"\n'
        'delay = "20ms"\nreverse = { rate = "1Mbit/s" }\n'
    )
    started = airtcp.sweep(tmp_path / "cell.toml", {"link.link0.delay": ["20ms", "40ms"]})
    assert "identical" not in started.verdict
    assert "only for this stretch of the recording" in started.verdict
    with (tmp_path / "cell.toml").open("a") as file:
        file.write('[[flow]]\nname = "main"\nstart = "0s"\n')
    found = airtcp.sweep(tmp_path / "cell.toml", {"link.link0.delay": ["20ms", "40ms"]})
    assert "At 2 of 2 points all runs of some scheme are identical" in found.verdict
    assert "only for this stretch of the recording" in found.verdict
    compared = airtcp.compare(tmp_path / "cell.toml")
    assert compared.verdict is not None
    assert "only for this stretch of the recording" in compared.verdict.text


def test_equal_schemes_tie() -> None:
    found = airtcp.sweep(small(schemes=["bbr", "bbr:pacing=true"]), SMALL)
    assert found.summary["tied"].all()
    assert found.judged.standings[0].wins == 0


ROWS = st.lists(
    st.tuples(
        st.integers(0, 99),
        st.one_of(
            st.text(max_size=5),
            st.tuples(
                *[st.one_of(st.none(), st.floats(allow_nan=False, allow_infinity=False))] * len(MEASURES)
            ),
        ),
    ),
    max_size=4,
)


@settings(max_examples=30)
@given(batches=st.lists(ROWS, max_size=4), cut=st.integers(0, 400), noise=st.binary(max_size=9))
def test_a_torn_journal_keeps_the_lines_before(
    tmp_path_factory: pytest.TempPathFactory, batches: list[list[tuple[int, Found]]], cut: int, noise: bytes
) -> None:
    """Whatever the end of the file, a journal opens with what its whole lines say, and can be added to."""
    directory = tmp_path_factory.mktemp("journal")
    journal = Journal(directory, IDENTITY)
    ends = [journal.path.stat().st_size]
    for batch in batches:
        journal.add(batch)
        ends.append(journal.path.stat().st_size)
    journal.close()
    data = journal.path.read_bytes()
    end = max(ends[0], len(data) - cut)
    journal.path.write_bytes(data[:end] + noise.replace(b"\n", b""))
    whole = [batch for batch, its_end in zip(batches, ends[1:], strict=True) if its_end <= end]
    again = Journal(directory, IDENTITY)
    assert again.found == {place: row for batch in whole for place, row in batch}
    again.add([(7, "added")])
    again.close()
    last = Journal(directory, IDENTITY)
    assert last.found[7] == "added"
    last.close()


def test_a_damaged_line_costs_itself_and_what_follows(tmp_path: Path) -> None:
    journal = Journal(tmp_path, IDENTITY)
    for place in range(3):
        journal.add([(place, "row")])
    journal.close()
    data = bytearray(journal.path.read_bytes())
    data[-len(b'00000000 [[1,"row"]]\n00000000 [[2,"row"]]\n') + 12] ^= 1
    journal.path.write_bytes(data)
    again = Journal(tmp_path, IDENTITY)
    assert sorted(again.found) == [0]
    again.close()


def test_a_file_that_is_no_journal_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / NAME).write_text("my notes\nmore of them\n")
    with pytest.raises(SweepError, match="not a sweep journal"):
        Journal(tmp_path, IDENTITY)
    assert (tmp_path / NAME).read_text() == "my notes\nmore of them\n"
