"""The command as a user meets it: what it prints, what it writes, how it ends."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import jsonschema
import polars as pl
import pytest
from conftest import COMMAND, SHORT, Cli, start

OVER_TIME = ("cwnd", "sequence", "queue", "rtt", "rtt-distribution", "goodput-over-time")
FIGURES = [f"{name}.{kind}" for name in ("goodput", *OVER_TIME) for kind in ("png", "svg")]
FRAMES = ["flows.parquet", "series.parquet", "queues.parquet", "events.parquet"]


def test_version_and_help(cli: Cli) -> None:
    assert cli.ok("--version").startswith("airtcp ")
    assert cli.started("--version") == cli.ok("--version")
    assert "compare" in cli.ok("--help")


def test_a_run_without_shortcuts_says_the_same(cli: Cli) -> None:
    told = [cli.ok("run", "--duration", "2s", *switch) for switch in ([], ["--no-shortcuts"])]
    assert told[0] == told[1]
    assert "leave it out" in cli.refused("run", "--on", "linux", "--no-shortcuts")


@pytest.mark.parametrize("command", ["compare", "run", "paper", "trace", "schemes", "profiles", "schema"])
def test_every_command_has_help_with_an_example(cli: Cli, command: str) -> None:
    text = cli.ok(command, "--help")
    assert "Example" in text
    assert f"  airtcp {command}" in text


def test_listings(cli: Cli) -> None:
    assert "reno" in cli.ok("schemes")
    assert {scheme["name"] for scheme in json.loads(cli.ok("schemes", "--json"))} >= {"reno", "cubic"}
    assert "rto.min" in cli.ok("schemes", "--keys")
    assert "linux" in cli.ok("profiles")
    jsonschema.Draft202012Validator.check_schema(json.loads(cli.ok("schema")))


def test_a_trace_of_a_cell_goes_into_another_link(cli: Cli) -> None:
    (cli.directory / "cell.toml").write_text(
        '[[link]]\nname = "cell"\nchannel = { users = 2 }\n[link.reverse]\nrate = "1Mbit/s"\ndelay = "50ms"\n'
    )
    text = cli.ok("trace", "cell.toml", "--packets", "50")
    times = [float(line) for line in text.splitlines()[1:]]
    assert len(times) == 50
    assert min(times) >= 50
    assert text == cli.ok("trace", "cell.toml", "--packets", "50")
    (cli.directory / "rtt.txt").write_text(text)
    jitter = 'link.wireless.jitter={distribution="series", file="rtt.txt", share="100%"}'
    assert "goodput" in cli.ok("run", "--duration", "2s", "--set", jitter)
    assert "the links are: cell" in cli.refused("trace", "cell.toml", "--link", "x")


def test_compare_prints_a_plain_table_and_writes_data(cli: Cli) -> None:
    text = cli.ok("compare", *SHORT)
    assert "\x1b" not in text
    assert "reno" in text
    assert "vs reno" in text
    directory = cli.directory / "airtcp-out" / "lossy-wireless-link"
    assert f"Data: {directory.relative_to(cli.directory)}/ (with figures: --out DIR)" in text
    assert {path.name for path in directory.iterdir()} == {"results.json", *FRAMES}
    series = pl.read_parquet(directory / "series.parquet")
    assert set(series["scheme"].unique()) == {"reno", "cubic"}
    flows = pl.read_parquet(directory / "flows.parquet")
    assert flows.select("scheme", "seed").rows() == [("reno", 1), ("reno", 2), ("cubic", 1), ("cubic", 2)]


def test_compare_draws_figures_where_it_is_told_to(cli: Cli) -> None:
    assert "Figures and data: d/\n" in cli.ok("compare", *SHORT, "--out", "d")
    assert {path.name for path in (cli.directory / "d").iterdir()} == {"results.json", *FIGURES, *FRAMES}
    for name in FIGURES:
        assert (cli.directory / "d" / name).stat().st_size > 8_000, name


def test_pdf_asks_for_figures_without_out_too(cli: Cli) -> None:
    for command, folder, figure in (
        (["compare", *SHORT], "lossy-wireless-link", "goodput.pdf"),
        (["sweep", *SHORT, "--vary", "wireless.delay=1ms,2ms"], "lossy-wireless-link-sweep", "curves.pdf"),
    ):
        assert f"Figures and data: airtcp-out/{folder}/\n" in cli.ok(*command, "--pdf")
        assert (cli.directory / "airtcp-out" / folder / figure).read_bytes().startswith(b"%PDF")


def test_the_readmes_long_schemes_are_drawn(cli: Cli) -> None:
    path = Path(__file__).parents[2] / "scenarios/lossy-ethernet.toml"
    assert "Figures and data: d/" in cli.ok(
        "compare", str(path), "--seeds", "2", "--duration", "2s", "--out", "d"
    )
    assert {"goodput.png", "sequence.svg", "cwnd.png"} <= {
        file.name for file in (cli.directory / "d").iterdir()
    }


def test_short_transfers_are_compared_by_their_completion_times(cli: Cli) -> None:
    (cli.directory / "short.toml").write_text(
        'schemes = ["reno", "bbr"]\nseeds = 2\nduration = "10s"\n'
        '[[link]]\nrate = "10Mbit/s"\ndelay = "25ms"\n'
        '[[flow]]\ntraffic = { kind = "poisson", size = "50kB", interval = "0.5s" }\n'
    )
    text = cli.ok("compare", "short.toml", "--out", "d")
    assert "completion" in text
    assert "winner in completion time" in text
    names = {path.name for path in (cli.directory / "d").iterdir()}
    assert "completion.svg" in names
    # Their sequence numbers begin anew with each transfer.
    assert "sequence.svg" not in names


def test_results_obey_their_schema_and_repeat_their_command(cli: Cli) -> None:
    document = json.loads(cli.ok("compare", *SHORT, "--json", "-"))
    schema = json.loads(cli.ok("schema", "--results"))
    jsonschema.Draft202012Validator(schema).validate(document)
    assert document["seeds"] == [1, 2]
    assert document["fitted"] is None
    assert [row["scheme"] for row in document["schemes"]] == ["reno", "cubic"]
    program, *arguments = document["command"].split()
    assert program == "airtcp"
    assert json.loads(cli.started(*arguments, "--json", "-")) == document


def test_the_same_bytes_whatever_the_number_of_jobs(cli: Cli) -> None:
    cli.started("compare", *SHORT, "--jobs", "1", "--out", "one")
    cli.ok("compare", *SHORT, "--jobs", "2", "--out", "two")
    for path in sorted((cli.directory / "one").iterdir()):
        other = cli.directory / "two" / path.name
        if path.suffix == ".parquet":
            assert pl.read_parquet(path).equals(pl.read_parquet(other)), path.name
        else:
            assert path.read_bytes() == other.read_bytes(), path.name


def test_a_change_of_the_scenario_changes_the_result(cli: Cli) -> None:
    def goodput(*arguments: str) -> float:
        document = json.loads(cli.ok("compare", *SHORT, *arguments, "--json", "-"))
        mean: float = document["schemes"][0]["goodput"]["mean"]
        return mean

    assert goodput("--set", "link.wireless.loss.packet=0.2") < goodput("--set", "link.wireless.loss.packet=0")


def test_json_goes_to_a_file(cli: Cli) -> None:
    cli.ok("compare", *SHORT, "--json", "there.json", "--out", "d")
    assert (cli.directory / "there.json").read_bytes() == (cli.directory / "d" / "results.json").read_bytes()


def test_colours_only_where_a_person_watches(cli: Cli) -> None:
    assert "\x1b" not in cli.ok("compare", *SHORT, NO_COLOR="1")
    narrow = cli.ok("compare", *SHORT, COLUMNS="50")
    assert max(len(line) for line in narrow.splitlines()) <= 50


def test_run_tells_the_truth_and_writes_series_and_capture(cli: Cli) -> None:
    text = cli.ok(
        "run", "--scheme", "reno", "--duration", "3s", "--series", "s.csv", "--pcap", "p.pcapng", "--out", "d"
    )
    for word in ("spurious", "to corruption", "to congestion", "link wireless forward"):
        assert word in text
    series = pl.read_csv(cli.directory / "s.csv")
    assert {"time_s", "cwnd_bytes", "una_bytes"} <= set(series.columns)
    # A pcapng file begins with a section header block.
    assert (cli.directory / "p.pcapng").read_bytes()[:4] == b"\x0a\x0d\x0d\x0a"
    assert {"record.json", "series.parquet", "queues.parquet", "events.parquet", "cwnd.png"} <= {
        path.name for path in (cli.directory / "d").iterdir()
    }


def test_run_and_compare_agree(cli: Cli) -> None:
    """Recording time series, or running beside others, changes nothing."""
    cli.ok("compare", *SHORT, "--out", "c")
    cli.ok("run", "--scheme", "cubic", "--seed", "2", "--duration", "3s", "--out", "r")
    compared = json.loads((cli.directory / "c" / "results.json").read_text())["runs"][3]
    alone = json.loads((cli.directory / "r" / "record.json").read_text())
    # Samples are events of the engine.
    assert alone.pop("events") > compared.pop("events")
    assert alone == compared


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["compare", "no-such.toml"], "no-such.toml"),
        (["compare", "--schemes", "reno,cubik"], "cubic"),
        (["compare", "--set", "link.wireless.lss.packet=1"], "loss"),
        (["compare", "--schemes", "reno,reno"], "--schemes reno,reno: schemes[1]: `reno` duplicates"),
        (["sweep", "--vary", "wireless.delay=1ms,2ms", "--schemes", "bbr,bbr"], "`bbr` duplicates"),
        (["compare", "--schemes", "westwood-vt:alpha=20"], "alpha = 20 exceeds beta = 16"),
        (["run", "--scheme", "vegas:beta=1"], "alpha = 2 exceeds beta = 1: lower alpha to 1 or less"),
        (["compare", "--set", "nonsense"], "KEY=VALUE"),
        (["compare", "--duration", "10 parsecs"], "parsecs"),
        (["compare", "--profile", "linus"], "linux"),
        (["compare", "--seeds", "0"], "--seeds"),
        (["compare", "--frobnicate"], "--frobnicate"),
        (["compare", "--out", "/proc/nowhere"], "/proc/nowhere"),
        (["run", "--scheme", "bogus"], "bogus"),
        (["run", "--pcap", "p.pcapng", "--link", "moon"], "moon"),
        (["run", "--link", "wireless"], "--link has no effect without --pcap"),
        (["run", "--pdf"], "--pdf has no effect without --out"),
        (["run", "--interval", "10ms"], "--interval has no effect without --series or --out or --report"),
        (["run", "--pcap", "p.pcap"], "packets are written as pcapng; name a file ending in .pcapng"),
        (["run", "--report", "r.json"], "a report is an HTML page; name a file ending in .html or .htm"),
        (["compare", "--json", "r.csv"], "results are written as JSON; name a file ending in .json"),
        (["fit", "ping.log", "--out", "x.json"], "a scenario is a TOML file; name a file ending in .toml"),
        (["play", "--out", "x.pdf"], "the playground is an HTML page; name a file ending in .html"),
        (["sweep", "--vary", "wireless.delay=1ms", "--sample-seed", "3"], "has no effect without --lhs"),
        (["advise", "--role", "sender"], "--role has no effect without --apply or --format"),
        (["advise", "--persistent"], "--persistent has no effect without --apply"),
        (["advise", "--format", "openwrt", "--json", "-"], "only one of them can write to standard output"),
        (["apply", "bbr", "--format", "openwrt", "--yes"], "--yes has no effect with --format"),
        (["try", "--download", "true", "--transfer", "3"], "--transfer has no effect with --download"),
        (["measure", "host", "--limit", "1Mbit/s"], "--limit has no effect without --serve"),
        (["measure", "host", "--load", "3s"], "--load has no effect without --iperf3"),
        (["measure", "host", "--dense", "3s"], "--dense has no effect without a server"),
        (["measure", "--serve", "--no-advise"], "--no-advise has no effect with --serve"),
        (["schema", "--results", "--both"], "--results and --both: choose one of them"),
        (["model", "window", "--no-run", "--seeds", "3"], "--seeds has no effect with --no-run"),
        (["run", "--pcap", "no/such/place.pcapng"], "no/such/place.pcapng: no such directory: no/such"),
        (["run", "--series", "no/such/place.csv", "--duration", "1s"], "cannot write no/such/place.csv"),
        (["run", "--series", "x.txt"], ".parquet or .csv"),
        (["run", "--report", "no/r.html"], "no such directory: no"),
        (["compare", "--report", "no/r.html"], "no such directory: no"),
        (["compare", "--report", "r.pdf"], "a report is an HTML page; name a file ending in .html"),
        (["run", "--interval", "0.01"], "--interval 0.01: `0.01` has no unit"),
        (["compare", "--set", "wireless.rate=20M"], "did you mean `20Mbit/s`"),
        (["compare", "--schemes", "bbr @ fq-codl"], "unknown queue `fq-codl` (did you mean `fq-codel`?)"),
        (["compare", "--duration", "1e9s"], "35 runs of 1e+09 s would take about "),
        (["compare", "--json", "no/r.json"], "no such directory: no"),
        (["compare", "--json", "."], "it is a directory, not a file"),
        (["compare", "."], ". is a directory; name a file in it"),
        (["advise", "--report", "no/r.html"], "no such directory: no"),
        (["sweep", "--vary", "wireless.delay=1ms,2ms", "--report", "no/r.html"], "no such directory: no"),
        (["paper", "D3", "--report", "no/r.html"], "no such directory: no"),
        (["frobnicate"], "frobnicate"),
    ],
)
def test_bad_input_is_refused_in_a_few_words(cli: Cli, arguments: list[str], said: str) -> None:
    assert said in cli.refused(*arguments)


def test_a_file_is_no_folder_for_results(cli: Cli) -> None:
    (cli.directory / "taken").write_text("")
    for command in ("compare", "run"):
        assert "it is a file, not a directory" in cli.refused(command, "--out", "taken")


def test_a_typo_in_a_scenario_is_shown_with_its_place(cli: Cli) -> None:
    (cli.directory / "bad.toml").write_text('[[link]]\nrate = "10Mbit/s"\ndelay = "5ms"\nlos.packet = 0.1\n')
    message = cli.refused("compare", "bad.toml")
    assert "bad.toml:4" in message
    assert "loss" in message


def test_of_a_proxy_the_senders_round_trips_are_none_of_the_path(cli: Cli) -> None:
    """They are 0.0 where it stands beside the sender."""
    document = json.loads(
        cli.ok("compare", "--duration", "1s", "--seeds", "1", "--schemes", "cubic,cubic+split", "--json", "-")
    )
    cubic, split = document["schemes"]
    assert cubic["rtt_p50_ms"] > 0
    assert (split["rtt_p50_ms"], split["rtt_p95_ms"]) == (None, None)
    assert "RTT with the proxy 0.0 ms" in cli.ok("run", "--duration", "1s", "--scheme", "cubic+split")


def _interrupt(cli: Cli, *arguments: str, after_s: float) -> subprocess.CompletedProcess[str]:
    with start(cli.directory, *COMMAND, *arguments) as process:
        time.sleep(after_s)
        os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=60)
        return subprocess.CompletedProcess(process.args, process.returncode, out, err)


def test_ctrl_c_keeps_and_shows_what_is_finished(cli: Cli) -> None:
    """Many short runs: some are done when it comes, some are not."""
    done = _interrupt(cli, "compare", "--seeds", "2000", "--duration", "30s", "--out", "d", after_s=6)
    assert done.returncode == 130, done.stderr
    assert "partial" in done.stdout
    assert "Traceback" not in done.stderr
    document = json.loads((cli.directory / "d" / "results.json").read_text())
    assert document["interrupted"]
    assert 0 < len(document["runs"]) < 14_000


def test_ctrl_c_stops_a_long_run(cli: Cli) -> None:
    done = _interrupt(cli, "run", "--duration", "1000h", after_s=3)
    assert done.returncode == 130
    assert "Traceback" not in done.stderr


def test_ctrl_c_keeps_the_experiments_that_are_done(cli: Cli) -> None:
    results = cli.directory / "d" / "results.json"
    with start(cli.directory, *COMMAND, "paper", "D0", "W2", "--seeds", "20", "--out", "d") as process:
        while not results.exists():
            assert process.poll() is None
            time.sleep(0.1)
        os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=60)
    done = subprocess.CompletedProcess(process.args, process.returncode, out, err)
    assert done.returncode == 130, done.stderr
    assert "Interrupted" in done.stdout
    assert "Traceback" not in done.stderr
    document = json.loads(results.read_text())
    assert document["interrupted"]
    assert [found["id"] for found in document["papers"][0]["experiments"]] == ["D0"]


def test_all_of_it_from_python(cli: Cli) -> None:
    script = (
        "import airtcp; s = airtcp.Scenario.built_in([('seeds', '1'), ('duration', '2s')]);"
        "again = airtcp.Scenario.parse(s.to_toml());"
        "print(airtcp.compare(s).runs == airtcp.compare(again).runs)"
    )
    done = subprocess.run(
        [COMMAND[0], "-c", script], cwd=cli.directory, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "True"
