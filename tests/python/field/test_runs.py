"""Runs by `airtcpd`: what they answer, how they fail, and how they are ended."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import pytest

import airtcp
from airtcp.linux import airtcpd as program
from airtcp.linux.error import LinuxError
from airtcp.linux.runs import Job, KernelRun, run_all

from .conftest import Fake


def test_runs_answer_in_order_with_what_the_simulator_would_say(
    fake: Fake, scenario: airtcp.Scenario
) -> None:
    jobs = [Job(scenario, scheme, 7, interval) for scheme, interval in (("reno", 0.1), ("cubic", None))]
    told: list[Job] = []
    reno, cubic = run_all(jobs, 2, lambda job, _: told.append(job))
    assert sorted(told, key=jobs.index) == jobs
    assert isinstance(reno, KernelRun)
    assert isinstance(cubic, KernelRun)
    direct = airtcp.run(scenario, "reno", 7, interval_s=0.1)
    assert reno.run == direct.run
    assert direct.time_series is not None
    assert reno.series is not None
    for part in ("flows", "queues", "events", "deliveries", "rtts"):
        assert getattr(reno.series, part).equals(getattr(direct.time_series, part)), part
    assert cubic.series is None
    assert cubic.host["congestion_control"] == "cubic"
    assert len(fake.log) == 4


@pytest.mark.usefixtures("fake")
def test_time_series_without_a_row_have_the_columns_and_types_of_others(scenario: airtcp.Scenario) -> None:
    clean = scenario.vary({"radio.loss.packet": 0, "duration": "20ms"})
    (found,) = run_all([Job(clean, "reno", 1, 0.01)])
    direct = airtcp.run(scenario, "reno", 1, interval_s=0.1).time_series
    assert isinstance(found, KernelRun)
    assert found.series is not None
    assert direct is not None
    assert found.series.events.is_empty()
    assert found.series.events.schema == direct.events.schema
    assert found.series.flows.schema == direct.flows.schema


def test_a_run_that_fails_says_why_and_the_others_go_on(fake: Fake, scenario: airtcp.Scenario) -> None:
    fake.behaves(broken=["reno"])
    failed, fine = run_all([Job(scenario, "reno", 1), Job(scenario, "cubic", 1)])
    assert failed == airtcp.Failure("reno", 1, "cannot load reno: it is broken")
    assert isinstance(fine, KernelRun)


def test_an_interrupt_ends_the_run_under_way_and_starts_no_other(
    fake: Fake, scenario: airtcp.Scenario
) -> None:
    fake.behaves(hanging=["cubic"])
    finished: list[str] = []

    def interrupt_once_it_waits() -> None:
        if "waiting cubic 1" in fake.log:
            signal.raise_signal(signal.SIGINT)

    jobs = [Job(scenario, scheme, seed) for seed in (1, 2) for scheme in ("reno", "cubic")]
    with pytest.raises(KeyboardInterrupt):
        run_all(jobs, 1, lambda job, _: finished.append(job.scheme), check=interrupt_once_it_waits)
    assert finished == ["reno"]
    assert fake.log == ["start reno 1", "end reno 1", "start cubic 1", "waiting cubic 1", "undone cubic 1"]


def test_an_interrupt_is_told_before_the_run_is_undone(fake: Fake, scenario: airtcp.Scenario) -> None:
    fake.behaves(hanging=["cubic"])
    before: list[list[str]] = []

    def interrupt_once_it_waits() -> None:
        if "waiting cubic 1" in fake.log:
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        run_all(
            [Job(scenario, "cubic", 1)],
            check=interrupt_once_it_waits,
            on_interrupt=lambda: before.append(fake.log),
        )
    assert before == [["start cubic 1", "waiting cubic 1"]]
    assert fake.log[-1] == "undone cubic 1"


@pytest.mark.usefixtures("fake")
def test_its_files_are_in_a_scratch_folder(
    scenario: airtcp.Scenario, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    seen: set[Path] = set()
    run_all([Job(scenario, "reno", 1)], check=lambda: seen.update(tmp_path.glob("airtcp-scratch-*/recipe-*")))
    assert seen
    assert not list(tmp_path.glob("airtcp-scratch-*"))


def test_a_run_that_does_not_end_is_ended(
    fake: Fake, scenario: airtcp.Scenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake.behaves(hanging=["reno"])
    monkeypatch.setattr("airtcp.linux.runs.SPARE_S", 1.0)
    (failed,) = run_all([Job(scenario, "reno", 1)])
    assert isinstance(failed, airtcp.Failure)
    assert "still running 1 s after its planned end" in failed.text
    assert fake.log[-1] == "undone reno 1"


def test_a_run_that_leaves_nothing_is_a_failure(fake: Fake, scenario: airtcp.Scenario) -> None:
    fake.path.write_text(f'#!/bin/sh\n[ "$1" != --version ] || echo airtcpd {airtcp.version()}\n')
    (failed,) = run_all([Job(scenario, "reno", 1)])
    assert isinstance(failed, airtcp.Failure)
    assert "left no readable record" in failed.text


@pytest.mark.usefixtures("fake")
def test_without_airtcpd_it_says_how_to_get_it(
    scenario: airtcp.Scenario, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("AIRTCPD", str(tmp_path / "nowhere"))
    with pytest.raises(LinuxError, match="nowhere is not executable"):
        run_all([Job(scenario, "reno", 1)])
    monkeypatch.delenv("AIRTCPD")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    monkeypatch.setattr(program, "_checkout", lambda: tmp_path)
    with pytest.raises(LinuxError, match="`make field`"):
        run_all([Job(scenario, "reno", 1)])


def test_airtcpd_is_found_beside_python_in_path_and_in_the_checkout(
    fake: Fake, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("AIRTCPD")
    monkeypatch.setattr(program, "_checkout", lambda: tmp_path)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "bin" / "python"))
    monkeypatch.setenv("PATH", f"{tmp_path / 'path'}{os.pathsep}/usr/bin{os.pathsep}/bin")
    for place in ("target/debug", "path", "bin"):
        (tmp_path / place).mkdir(parents=True)
        (tmp_path / place / "airtcpd").symlink_to(fake.path)
        assert program.find().path == tmp_path / place / "airtcpd"


def test_another_version_is_refused(fake: Fake) -> None:
    fake.behaves(version="9.9.9")
    with pytest.raises(LinuxError, match=r"is version 9\.9\.9, this airtcp is"):
        program.find()


@pytest.mark.usefixtures("fake")
def test_another_system_and_missing_privileges_are_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(LinuxError, match=r"need root.*sudo.*`airtcpd doctor`"):
        program.find().check_privileges()
    monkeypatch.setattr(sys, "platform", "darwin")
    with pytest.raises(LinuxError, match="this is darwin"):
        program.find()
