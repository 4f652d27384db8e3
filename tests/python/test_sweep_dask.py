"""A sweep on a Dask cluster: a scheduler and two workers, which are real processes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from conftest import Cli, Commands, proceed, stopped

from airtcp.running import executors

pytest.importorskip("distributed")

SWEEP = [
    "sweep",
    "--vary",
    "wireless.loss.ber=1e-7..1e-5:log:10",
    "--schemes",
    "reno,bbr",
    "--seeds",
    "10",
    "--duration",
    "30s",
]


class Cluster:
    """A scheduler on the loopback, and its workers."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.processes: list[subprocess.Popen[bytes]] = []
        file = directory / "scheduler.json"
        self._start("scheduler", "--host", "127.0.0.1", "--port", "0", "--scheduler-file", str(file))
        while not file.exists():
            time.sleep(0.05)
        self.address = json.loads(file.read_text())["address"].removeprefix("tcp://")

    def start_worker(self, **environment: str) -> subprocess.Popen[bytes]:
        options = ("--nthreads", "1", "--no-nanny", "--local-directory", str(self.directory))
        return self._start("worker", f"tcp://{self.address}", *options, **environment)

    def _start(self, *words: str, **environment: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "dask", *words, "--no-dashboard"]
        environment = {**os.environ, "DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "5s", **environment}
        self.processes.append(
            subprocess.Popen(
                command,
                env=environment,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd=self.directory,
            )
        )
        return self.processes[-1]

    def stop_worker(self, process: subprocess.Popen[bytes]) -> None:
        process.terminate()
        process.wait()

    def stop(self) -> None:
        for process in reversed(self.processes):
            process.kill()
            process.wait()


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    found = Cluster(tmp_path)
    try:
        yield found
    finally:
        found.stop()


@pytest.fixture(scope="module")
def threads(tmp_path_factory: pytest.TempPathFactory, commands: Commands) -> Path:
    """What the sweep leaves without a cluster."""
    cli = Cli(tmp_path_factory.mktemp("threads"), commands)
    cli.ok(*SWEEP, "--out", "d")
    return cli.directory / "d"


def assert_same(one: Path, other: Path) -> None:
    for name in ("results.parquet", "sweep.json"):
        assert (one / name).read_bytes() == (other / name).read_bytes(), name


def test_a_worker_is_killed_half_way_and_the_bytes_are_those_of_threads(
    cli: Cli, cluster: Cluster, threads: Path
) -> None:
    first, _ = cluster.start_worker(), cluster.start_worker()
    journal = cli.directory / "dask" / "journal.jsonl"
    command = [*SWEEP, "--out", "dask", "--executor", f"dask://{cluster.address}"]
    with stopped(cli.directory, 100, *command) as process:
        first.kill()
        out, err = proceed(process)
    assert process.returncode == 0, err
    assert "200 runs" in out
    assert len(journal.read_bytes().splitlines()) > 101, "it was not half-way"
    assert_same(cli.directory / "dask", threads)


def test_a_scheduler_that_dies_is_said_and_the_sweep_goes_on_without_it(
    cli: Cli, cluster: Cluster, threads: Path
) -> None:
    cluster.start_worker()
    command = [*SWEEP, "--out", "d", "--executor", f"dask://{cluster.address}"]
    with stopped(cli.directory, 100, *command) as process:
        cluster.processes[0].kill()
        _, err = proceed(process)
    assert process.returncode == 2, err
    assert "the cluster is lost" in err
    assert "runs are already done" in cli.ok(*SWEEP, "--out", "d")
    assert_same(cli.directory / "d", threads)


def test_no_scheduler_no_worker_and_a_foreign_worker_are_said_with_their_cure(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(executors, "CONNECT_S", 1)
    where = f"dask://{cluster.address}"
    assert "start one with `dask scheduler`" in _refusal("dask://127.0.0.1:9")
    assert "has no worker" in _refusal(where)
    (tmp_path / "hidden" / "airtcp").mkdir(parents=True)
    (tmp_path / "hidden" / "airtcp" / "__init__.py").touch()
    foreign = cluster.start_worker(PYTHONPATH=str(tmp_path / "hidden"))
    monkeypatch.setattr(executors, "CONNECT_S", 20)
    assert "install the same version of airtcp" in _refusal(where)
    cluster.stop_worker(foreign)
    cluster.start_worker()
    monkeypatch.setattr(executors, "engine", lambda: "0.0.0-another")
    assert "a worker's engine" in _refusal(where)


def test_a_scheduler_without_workers_or_a_lost_one_is_given_up_after_a_minute(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # A client that has given up its scheduler knows nothing, not even "workers".
    infos = iter([{"workers": {"tcp://one": {}}}, {"workers": {}}, {}, {}])
    times_s = iter([0.0, 50.0, 109.0, 110.0, 111.1])
    monkeypatch.setattr(executors, "monotonic", lambda: next(times_s))
    client = SimpleNamespace(scheduler_info=lambda **_: next(infos))
    check = executors._watch(client, "dask://127.0.0.1:9")
    for _ in range(3):
        check()
    with pytest.raises(executors.ExecutorError, match="no worker for 60 s"):
        check()


def _refusal(where: str) -> str:
    with pytest.raises(executors.ExecutorError) as refused, executors.opened(where, None):
        pass
    return str(refused.value)
