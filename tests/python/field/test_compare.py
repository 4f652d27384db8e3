"""`compare` on the kernel, and side by side with the simulator."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import jsonschema
import polars as pl
import pytest

import airtcp
from airtcp.cli import main
from airtcp.linux.airtcpd import find
from airtcp.linux.error import LinuxError
from airtcp.linux.forms import LeftOut, forms
from airtcp.results.document import results_schema
from airtcp.results.side_by_side import both_schema

from .conftest import Fake

LACKING = LeftOut("reno+packet-control", "no Linux form yet: packet-control")


class Doubling(airtcp.CongestionControl):
    name = "doubling"
    summary = "Doubles."

    def on_ack(self, ack: airtcp.Ack) -> None:
        self.cwnd += ack.acked_bytes

    def on_loss(self, loss: airtcp.Loss) -> None:
        self.ssthresh = self.cwnd = loss.flight_size_bytes / 2


@pytest.mark.usefixtures("fake")
def test_on_linux_it_is_the_same_comparison_with_its_host(scenario: airtcp.Scenario) -> None:
    told: list[str] = []
    # Its time series have a sample a millisecond, the shortest interval there is.
    scenario = scenario.vary(duration="1.5s")
    found = airtcp.compare(scenario, on="linux", on_done=lambda run: told.append(run["scheme"]))
    assert found.scenario.schemes == ["reno", "cubic", "bbr"]
    assert sorted(told) == sorted(2 * ["reno", "cubic", "bbr"])
    assert found.backend == "linux"
    assert found.host is not None
    assert found.host.airtcpd == airtcp.version()
    assert [run["congestion_control"] for run in found.host.runs] == told
    assert "reno: delayed ACKs are the kernel's own" in found.notes
    # The stand-in answers with the simulator's records.
    simulated = airtcp.compare(scenario, ["reno", "cubic", "bbr"])
    assert simulated.backend == "sim"
    assert found.summary.equals(simulated.summary)
    assert found.series.equals(simulated.series)
    assert found.verdict == simulated.verdict
    assert "on Linux" in repr(found)
    assert "on Linux" in found._repr_html_()


@pytest.mark.usefixtures("fake")
def test_what_has_no_form_on_linux_is_named_with_the_reason(scenario: airtcp.Scenario) -> None:
    asked: list[str | type[airtcp.CongestionControl]] = ["bbr", LACKING.scheme, Doubling]
    found = airtcp.compare(scenario, asked, on="linux", series=False)
    assert found.scenario.schemes == ["bbr", "cubic", "reno"]
    assert [each.scheme for each in found.left_out] == [LACKING.scheme, "doubling"]
    assert found.left_out[0] == LACKING
    assert "Not on Linux: doubling: a congestion control written in Python cannot run on Linux" in found.notes


@pytest.mark.usefixtures("fake")
def test_if_nothing_can_run_it_is_an_error(scenario: airtcp.Scenario) -> None:
    # The stand-in knows nothing of that era, as the kernel's own do not.
    with pytest.raises(LinuxError, match=r"none of the schemes can run on Linux:\nNot on Linux: newreno:pro"):
        forms(find(), scenario.vary(schemes=["newreno:profile=bsd-1998"]))


@pytest.mark.usefixtures("fake")
def test_of_another_era_the_kernels_own_stay_the_kernels(scenario: airtcp.Scenario) -> None:
    found = airtcp.compare(scenario, ["cubic"], 1, on="linux", series=False, duration="200ms")
    assert found.scenario.schemes == ["cubic", "reno", "bbr"]
    old = scenario.vary(profile="bsd-1998")
    found = airtcp.compare(old, ["reno"], 1, on="linux", series=False, duration="200ms")
    own = ["cubic:profile=linux", "reno:profile=linux", "bbr:profile=linux"]
    assert found.scenario.schemes == ["reno", *own]


def test_a_machine_that_does_not_keep_up_is_told(fake: Fake, scenario: airtcp.Scenario) -> None:
    fake.behaves(late=0.2)
    found = airtcp.compare(scenario, ["cubic"], 1, on="linux", series=False)
    assert found.host is not None
    assert found.host.late_share == pytest.approx(0.2)
    assert any("Warning: 20.0 % of the packets left the emulated path late" in note for note in found.notes)


def test_a_machine_that_loses_packets_itself_is_told(fake: Fake, scenario: airtcp.Scenario) -> None:
    fake.behaves(lost=3)
    found = airtcp.compare(scenario, ["cubic"], 1, on="linux", series=False)
    assert found.host is not None
    assert found.host.lost == 3 * len(found.host.runs)
    assert any(f"this machine lost {found.host.lost} packets" in note for note in found.notes)


def test_both_side_by_side(fake: Fake, scenario: airtcp.Scenario, tmp_path: Path) -> None:
    fake.behaves(scale=0.9)
    found = airtcp.compare(scenario, ["cubic", LACKING.scheme], on="both")
    assert [row.scheme for row in found.sim.summaries] == ["cubic", LACKING.scheme, "reno", "bbr"]
    assert [row.scheme for row in found.linux.summaries] == ["cubic", "reno", "bbr"]
    # Who runs on one alone is in the table, too.
    alone = next(line for line in repr(found).splitlines() if line.strip().startswith(LACKING.scheme))
    assert " ± " in alone
    assert alone.count("–") >= 2
    ratio = found.ratio
    assert ratio["scheme"].to_list() == ["cubic", "reno", "bbr"]
    assert ratio["ratio"].to_list() == pytest.approx(3 * [0.9])
    assert (ratio["ratio_low"] <= 0.9).all()
    assert ratio["goodput_linux_bps"].to_list() == pytest.approx((0.9 * ratio["goodput_sim_bps"]).to_list())
    assert found.agreement is not None
    assert not found.agreement.contradictions
    assert "The kernel's goodput is 0.90 times the simulator's." in found.notes[0]
    assert f"Not on Linux: {LACKING.scheme}: {LACKING.reason}" in found.notes
    assert "Linux / sim" in repr(found)
    assert "<svg" in found._repr_html_()
    written = {path.relative_to(tmp_path / "out").as_posix() for path in found.save(tmp_path / "out")}
    assert {"results.json", "ratio.parquet", "pairs.png", "pairs.svg"} <= written
    assert {"sim/results.json", "linux/results.json", "linux/series.parquet", "sim/cwnd.svg"} <= written
    assert pl.read_parquet(tmp_path / "out/ratio.parquet").equals(ratio)
    document = json.loads((tmp_path / "out/results.json").read_text())
    jsonschema.Draft202012Validator(both_schema()).validate(document)
    assert document["linux"]["backend"] == "linux"
    assert document["linux"]["left_out"] == [{"scheme": LACKING.scheme, "reason": LACKING.reason}]
    page = found.report(tmp_path / "both.html").read_text()
    for title in (
        "Side by side",
        "On Linux",
        "In the simulator",
        "Machine",
        "Goodput on Linux and in the",
    ):
        assert title in page


def test_an_interrupt_leaves_what_was_finished(fake: Fake, scenario: airtcp.Scenario) -> None:
    fake.behaves(hanging=["cubic"])

    def stop(_: object) -> None:
        signal.raise_signal(signal.SIGINT)

    found = airtcp.compare(scenario, on="linux", series=False, on_done=stop)
    assert found.interrupted
    assert [run["scheme"] for run in found.runs] == ["reno"]
    assert "Interrupted: partial results, 1 of 6 runs." in found.notes
    # Stopped in the simulator, it does not begin with what takes long.
    starts = len(fake.log)
    both = airtcp.compare(scenario, on="both", series=False, on_done=stop)
    assert both.interrupted
    assert not both.linux.runs
    assert len(fake.log) == starts
    (row,) = both.rows
    assert row.sim
    assert (row.linux, row.ratio) == (None, None)
    assert f"\n {row.scheme} " in repr(both)


@pytest.mark.usefixtures("fake")
def test_a_place_that_does_not_exist_and_an_executor_are_refused(scenario: airtcp.Scenario) -> None:
    with pytest.raises(ValueError, match="expected sim, linux, or both"):
        airtcp.compare(scenario, on="moon")  # type: ignore[call-overload]
    with pytest.raises(airtcp.ExecutorError, match="take place on this host"):
        airtcp.compare(scenario, on="linux", executor="processes")


def test_one_run_on_linux(fake: Fake, scenario: airtcp.Scenario) -> None:
    found = airtcp.run(scenario, "reno", 7, on="linux", interval_s=0.01)
    assert found.run == airtcp.run(scenario, "reno", 7, interval_s=0.01).run
    assert found.host is not None
    assert "delayed ACKs are the kernel's own" in repr(found)
    assert len(found.series)
    with pytest.raises(ValueError, match="cannot be captured"):
        airtcp.run(scenario, "reno", on="linux", pcap="reno.pcapng")
    with pytest.raises(ValueError, match="no_shortcuts"):
        airtcp.run(scenario, "reno", on="linux", no_shortcuts=True)
    with pytest.raises(LinuxError, match=r"Not on Linux: doubling: .* in Python"):
        airtcp.run(scenario, Doubling, on="linux")
    fake.behaves(broken=["reno"])
    with pytest.raises(LinuxError, match="cannot load reno: it is broken"):
        airtcp.run(scenario, "reno", on="linux")


@pytest.mark.usefixtures("fake")
def test_the_command_of_one_run(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    asked = ("--on", "linux", "--scheme", "cubic", "--duration", "1s")
    assert _command(monkeypatch, *asked, "--report", "run.html", command="run") == 0
    assert "flow main: goodput" in capsys.readouterr().out
    assert "--seed 1 --on linux" in (tmp_path / "run.html").read_text()
    assert _command(monkeypatch, *asked, "--pcap", "run.pcapng", command="run") == 2
    assert "--pcap captures simulator runs" in capsys.readouterr().err


def _command(monkeypatch: pytest.MonkeyPatch, *arguments: str, command: str = "compare") -> int:
    monkeypatch.setattr("sys.argv", ["airtcp", command, *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    assert isinstance(ended.value.code, int)
    return ended.value.code


SHORT = ("--duration", "1s", "--seeds", "1", "--schemes")


@pytest.mark.usefixtures("fake")
def test_the_command_says_beforehand_what_it_will_do(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    asked = f"cubic,{LACKING.scheme}"
    assert _command(monkeypatch, "--on", "linux", *SHORT, asked, "--report", "on-linux.html") == 0
    said = capsys.readouterr().out
    assert said.count(f"Not on Linux: {LACKING.scheme}: {LACKING.reason}") == 1
    assert "Not on Linux: 1 of the schemes; see below the table." in said
    assert ": 3 runs in real time, one at a time: 3 s." in said
    assert "Figures and data: airtcp-out/lossy-wireless-link-linux/, report: on-linux.html" in said
    document = json.loads((tmp_path / "airtcp-out/lossy-wireless-link-linux/results.json").read_text())
    jsonschema.Draft202012Validator(results_schema()).validate(document)
    assert document["backend"] == "linux"
    assert document["command"].endswith("--on linux")
    page = (tmp_path / "on-linux.html").read_text()
    assert "results vary slightly from run to run" in page


def test_the_command_on_both_fails_where_a_run_has_failed(
    fake: Fake, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fake.behaves(broken=["bbr"])
    monkeypatch.chdir(tmp_path)
    assert _command(monkeypatch, "--on", "both", *SHORT, "cubic", "--out", "out", "--json", "-") == 1
    said = capsys.readouterr()
    assert "On Linux: bbr failed with seed 1:\ncannot load bbr: it is broken" in said.err
    assert json.loads(said.out)["linux"]["failures"][0]["scheme"] == "bbr"
    assert (tmp_path / "out/pairs.svg").is_file()


def test_the_command_says_at_once_that_it_was_interrupted(
    fake: Fake, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fake.behaves(hanging=["cubic"])
    fake.interrupted_at("waiting cubic 1")
    monkeypatch.chdir(tmp_path)
    assert _command(monkeypatch, "--on", "linux", *SHORT, "reno,cubic") == 130
    said = capsys.readouterr()
    assert said.err.count("Interrupted, finishing …") == 1
    assert "Interrupted: partial results, 1 of 3 runs." in said.out


def test_the_command_without_airtcpd_says_how_to_get_it(
    fake: Fake, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    fake.path.unlink()
    assert _command(monkeypatch, "--on", "linux", *SHORT, "cubic") == 2
    assert "give the path of airtcpd" in capsys.readouterr().err
    monkeypatch.setenv("AIRTCPD", "/bin/true")
    assert _command(monkeypatch, "--on", "linux", *SHORT, "cubic") == 2
    assert "is not airtcpd" in capsys.readouterr().err
    assert not (tmp_path / "airtcp-out").exists()
