"""`airtcp fit`, and measurements where a command takes a scenario."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import numpy as np
import pytest
from conftest import Cli

import airtcp
from airtcp.fit.document import fit_schema
from airtcp.fit.readers import FileError
from airtcp.results.document import results_schema

TRACES = Path(__file__).parents[4] / "shared" / "traces"
SHORT = ["--duration", "2s", "--seeds", "2", "--schemes", "reno,cubic"]


def ping_log(path: Path, n: int = 200, every_lost: int = 25) -> Path:
    above = np.random.default_rng(1).lognormal(np.log(10), 0.6, n)
    lines = [
        f"64 bytes from 192.0.2.1: icmp_seq={place + 1} ttl=56 time={50 + above[place]:.1f} ms"
        for place in range(n)
        if (place + 1) % every_lost
    ]
    path.write_text(
        "\n".join(
            [
                "PING example.org (192.0.2.1) 56(84) bytes of data.",
                *lines,
                "",
                "--- example.org ping statistics ---",
                f"{n} packets transmitted, {len(lines)} received, 4% packet loss, time {n * 1000}ms",
            ]
        )
        + "\n"
    )
    return path


def test_a_ping_log_becomes_a_scenario_that_runs(cli: Cli) -> None:
    ping_log(cli.directory / "ping.log")
    said = cli.ok("fit", "ping.log", "--rate", "5Mbit/s", "--figures", "figures")
    assert "Scenario: ping.toml. Next: airtcp compare ping.toml" in said
    assert (cli.directory / "figures" / "rtt-cdf.svg").exists()
    # 8 of 200 there or back.
    assert "loss 4 %" in " ".join(said.split())
    scenario = airtcp.Scenario.load(cli.directory / "ping.toml")
    assert scenario.schemes[0] == "cubic"
    assert "cubic, seed 1" in cli.ok("run", "ping.toml", "--duration", "1s")


def test_nothing_is_written_over_without_force(cli: Cli) -> None:
    ping_log(cli.directory / "ping.log")
    (cli.directory / "ping.toml").write_text("mine")
    assert "--force" in cli.refused("fit", "ping.log")
    assert (cli.directory / "ping.toml").read_text() == "mine"
    ping_log(cli.directory / "log.toml")
    assert "is a measurement file" in cli.refused("fit", "log.toml", "--out", "log.toml", "--force")
    assert "name a file ending in .toml" in cli.refused("fit", "ping.log", "--out", "ping.log", "--force")


def test_on_standard_output_it_is_the_scenario_alone(cli: Cli) -> None:
    ping_log(cli.directory / "ping.log")
    text = cli.ok("fit", "ping.log", "--out", "-")
    assert airtcp.Scenario.parse(text).links == ["wireless"]
    assert "needs a scenario file beside" in cli.refused("fit", "ping.log", "--replay", "--out", "-")


def test_the_findings_can_be_read_by_programs(cli: Cli) -> None:
    ping_log(cli.directory / "ping.log")
    found = json.loads(cli.ok("fit", "ping.log", "--json", "-"))
    jsonschema.Draft202012Validator(fit_schema()).validate(found)
    assert "rate" in [unknown["quantity"] for unknown in found["unknown"]]
    assert found["loss"]["lost"] == 8
    assert (cli.directory / "ping.toml").exists()
    assert "--json -" in cli.refused("fit", "ping.log", "--out", "-", "--json", "-")


def test_a_replay_finds_its_file_from_another_folder(cli: Cli) -> None:
    ping_log(cli.directory / "ping.log")
    (cli.directory / "deep").mkdir()
    cli.ok("fit", "ping.log", "--replay", "--out", "deep/replayed.toml")
    assert "cubic, seed 1" in cli.ok("run", "deep/replayed.toml", "--duration", "1s")


def test_a_trace_is_named_from_where_the_scenario_is(cli: Cli) -> None:
    (cli.directory / "links").mkdir()
    for way, step in (("down", 3), ("up", 9)):
        lines = "".join(f"{place}\n" for place in range(step, 3000, step))
        (cli.directory / "links" / f"my.{way}").write_text(lines)
    cli.ok("fit", "links/my.down", "links/my.up", "--out", "links/my.toml")
    text = (cli.directory / "links" / "my.toml").read_text()
    assert 'trace = "my.down"' in text
    assert 'trace = "my.up"' in text.partition("[link.reverse]")[2]
    assert "cubic, seed 1" in cli.ok("run", "links/my.toml", "--duration", "1s")


def test_compare_takes_a_ping_log_and_says_what_it_found_and_assumes(cli: Cli) -> None:
    ping_log(cli.directory / "ping.log")
    changes = ["--set", "link.wireless.rate=4Mbit/s"]
    done = cli("compare", "ping.log", *SHORT, *changes, "--out", "out", "--report", "report.html")
    assert done.returncode == 0
    assert "Fitted to ping.log (ping (Linux, IPv4)): round trip without a queue" in done.stderr
    assert "Assumed: rate: 10 Mbit/s assumed" in done.stderr
    document = json.loads((cli.directory / "out" / "results.json").read_text())
    jsonschema.Draft202012Validator(results_schema()).validate(document)
    rate = next(each for each in document["fitted"] if each["what"] == "rate")
    assert "10 Mbit/s" in rate["default"]
    assert all(rate.values())
    assert_assumed(cli.directory / "report.html", rate["default"])
    command = document["command"]
    assert command.startswith("airtcp compare ping.log --set")
    # The command repeats it, byte for byte.
    again = cli(*command.split()[1:], "--out", "again", "--json", "-")
    assert json.loads(again.stdout) == document


def assert_assumed(report: Path, default: str) -> None:
    page = report.read_text()
    assert page.index(default) < page.rindex(">Reproduce<")


def test_run_and_sweep_say_on_their_page_what_was_assumed(cli: Cli) -> None:
    ping_log(cli.directory / "ping.log")
    cli.ok("run", "ping.log", "--duration", "2s", "--report", "run.html")
    assert_assumed(cli.directory / "run.html", "10 Mbit/s assumed")
    vary = ["--vary", "link.wireless.rate=4Mbit/s,8Mbit/s"]
    cli.ok("sweep", "ping.log", *SHORT, *vary, "--out", "sweep", "--report", "sweep.html", "--json", "s.json")
    assert (cli.directory / "s.json").read_text() == (cli.directory / "sweep" / "sweep.json").read_text()
    assert_assumed(cli.directory / "sweep.html", "10 Mbit/s assumed")
    assert json.loads((cli.directory / "sweep" / "sweep.json").read_text())["fitted"]


def test_several_measurements_of_one_path_stand_for_its_scenario(cli: Cli) -> None:
    ping_log(cli.directory / "ping.log")
    ping_log(cli.directory / "more.log", n=300)
    assert "Mbit/s" in cli.ok("run", "ping.log", "more.log", "--duration", "1s")
    (cli.directory / "s.toml").write_text('[[link]]\nrate = "1Mbit/s"\n')
    assert "s.toml is not a measurement" in cli.refused("run", "ping.log", "s.toml")


def test_two_paths_in_one_fit_are_refused(tmp_path: Path) -> None:
    near = ping_log(tmp_path / "near.log")
    far = tmp_path / "far.log"
    far.write_text(near.read_text().replace("time=", "time=1"))
    with pytest.raises(FileError, match=r"in near.log and .* in far.log: these are different paths"):
        airtcp.fit([near, far])


def test_trace_takes_a_measurement_too(cli: Cli) -> None:
    ping_log(cli.directory / "ping.log")
    assert cli.ok("trace", "ping.log", "--packets", "2").count("\n") == 3


def test_what_is_neither_a_scenario_nor_a_measurement_is_refused(cli: Cli) -> None:
    (cli.directory / "odd.txt").write_text("once upon a time\n" * 9)
    assert "odd.txt" in cli.refused("compare", "odd.txt")
    assert "odd.txt" in cli.refused("fit", "odd.txt")
    assert "nothing.log" in cli.refused("fit", "nothing.log")
    ping_log(cli.directory / "ping.log")
    assert "rate fast" in cli.refused("fit", "ping.log", "--rate", "fast")
    (cli.directory / "mine").write_text('[[link]]\nrate = "1Mbit/s"\n')
    assert "cubic, seed 1" in cli.ok("run", "mine", "--scheme", "cubic", "--duration", "1s")


@pytest.mark.skipif(not TRACES.is_dir(), reason="the shared folder of real traces is not here")
def test_every_real_trace_is_fitted_and_runs() -> None:
    logs = sorted(TRACES.glob("3g-logs/*.json"))
    down = sorted(TRACES.glob("mahimahi/*.down"))
    assert (len(logs), len(down)) == (8, 3)
    for paths in [*([log] for log in logs), *([path, path.with_suffix(".up")] for path in down)]:
        fitted = airtcp.fit(paths)
        run = json.loads(fitted.scenario.vary(duration="10s").run("cubic", 1).to_json())
        # A tenth of the mean is far from what CUBIC reaches; a second of silence at the start may be.
        assert run["goodput_bps"] > 0.1 * fitted.rate_bps or "up" in str(paths), paths
        assert "rate" not in {unknown.quantity for unknown in fitted.unknown}
