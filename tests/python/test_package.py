"""`import airtcp` in a script or a notebook: all that the command line does, as objects."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from types import ModuleType
from typing import Any, cast

import polars as pl
import pytest
from conftest import Cli, flow, run, runs_of

import airtcp
from airtcp import Comparison, Scenario
from airtcp.advise.asked import controls_of

ROOT = Path(__file__).parents[2]
SCHEMES = ["reno", "cubic"]
VOID = {"meta", "br"}


@pytest.fixture(scope="module")
def found() -> Comparison:
    return airtcp.compare(schemes=SCHEMES, seeds=2, duration="3s")


class Markup(HTMLParser):
    """Checks that what is opened is closed, and keeps tags and text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.words: list[str] = []
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        del attrs
        self.tags.append(tag)
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def test_paths_objects_and_nothing_are_scenarios(tmp_path: Path) -> None:
    scenario = Scenario.built_in().vary(duration="2s", seeds=1, schemes=["reno"])
    (tmp_path / "s.toml").write_text(scenario.to_toml())
    runs = airtcp.compare(scenario).runs
    assert airtcp.compare(tmp_path / "s.toml").runs == runs
    assert airtcp.compare(str(tmp_path / "s.toml")).runs == runs
    assert airtcp.compare(None, ["reno"], 1, duration="2s").runs == runs
    with pytest.raises(OSError, match=r"s\.tom"):
        airtcp.compare(tmp_path / "s.tom")


def test_a_measurement_is_a_scenario(tmp_path: Path) -> None:
    log = tmp_path / "rtt.log"
    lines = [f"64 bytes from 10.0.0.1: icmp_seq={n} ttl=60 time={40 + n % 7} ms" for n in range(1, 200)]
    log.write_text("PING 10.0.0.1 (10.0.0.1) 56(84) bytes of data.\n" + "\n".join(lines) + "\n")
    assert airtcp.run(log, "reno", duration="2s").goodput_bps > 0


def test_python_and_the_command_line_agree(cli: Cli, found: Comparison) -> None:
    options = ["--seeds", "2", "--duration", "3s", "--schemes", ",".join(SCHEMES), "--out", "cli"]
    cli.ok("compare", *options)
    found.save(cli.directory / "python")
    names = {path.name for path in (cli.directory / "cli").iterdir()}
    assert {path.name for path in (cli.directory / "python").iterdir()} == names
    for name in names - {"results.json"}:
        assert (cli.directory / "python" / name).read_bytes() == (cli.directory / "cli" / name).read_bytes()
    ours, theirs = (json.loads((cli.directory / at / "results.json").read_text()) for at in ("python", "cli"))
    assert ours.pop("command") is None
    assert theirs.pop("command").startswith("airtcp compare")
    assert ours == theirs


def test_frames_have_a_row_for_what_they_say(found: Comparison) -> None:
    assert found.summary["scheme"].to_list() == SCHEMES
    assert found.flows.select("scheme", "seed").rows() == [(s, n) for s in SCHEMES for n in (1, 2)]
    assert found.links.height == 2 * 2 * 2
    assert found.circuits.is_empty()
    assert "circuit_name" in found.circuits.columns
    assert set(found.series.select("scheme", "seed").rows()) == {(scheme, 1) for scheme in SCHEMES}
    assert found.queues["link"].unique().sort().to_list() == ["wireless forward", "wireless reverse"]
    assert {"loss", "fast-retransmit"} <= set(found.events["kind"])


def test_the_summary_is_the_summaries(found: Comparison) -> None:
    for row, summary in zip(found.summary.iter_rows(named=True), found.summaries, strict=True):
        assert row["goodput_bps"] == summary.goodput.mean
        assert (row["goodput_low_bps"], row["goodput_high_bps"]) == (
            summary.goodput.low,
            summary.goodput.high,
        )
        assert row["best"] == (summary.scheme in found.best)
    assert found.summary["gain"][0] is None, "the first scheme is the base"
    single = airtcp.compare(schemes=["reno"], seeds=1, duration="1s", series=False)
    assert single.summary["goodput_low_bps"].to_list() == [None], "one seed has no interval"
    assert single.summary.schema == found.summary.schema


def test_columns_keep_their_types_without_values() -> None:
    silent = {**flow(1e6), "rtt_mean_ms": None}
    frame = Comparison(Scenario.built_in(), [run("reno", 1, silent)], {}, False).flows  # type: ignore[arg-type]
    assert frame.schema["rtt_mean_ms"] == pl.Float64
    assert frame.schema["completion_times_s"] == pl.List(pl.Float64)


def test_without_series_it_says_how_to_have_them() -> None:
    compared = airtcp.compare(schemes=["reno"], seeds=1, duration="1s", series=False)
    one = airtcp.run(scheme="reno", duration="1s", series=False)
    for ask in (lambda: compared.series, lambda: one.events, lambda: one.plot("cwnd")):
        with pytest.raises(ValueError, match="series=True"):
            ask()


def test_figures_by_name(found: Comparison) -> None:
    assert found.plot().axes
    for name in ("goodput", "cwnd", "sequence", "queue"):
        assert found.plot(name).axes, name
    with pytest.raises(ValueError, match="there are: goodput, cwnd, queue, sequence"):
        found.plot("completion")


def test_a_notebook_shows_table_verdict_and_figure(found: Comparison) -> None:
    markup = Markup(found._repr_html_())
    assert found.verdict
    for word in ("scheme", "cubic", found.verdict.text):
        assert word in markup.words
    assert markup.tags.count("svg") == 1
    assert "style" not in markup.tags, "a style sheet would hold for the whole notebook"
    assert "currentColor" in found._repr_html_(), "it is to be readable on dark ground"
    assert found._repr_html_() == found._repr_html_()
    one = airtcp.run(scheme="reno", duration="1s")
    assert "reno, seed 1" in Markup(one._repr_html_()).words


def test_names_are_text_and_not_markup() -> None:
    scenario = Scenario.built_in().vary(description='"<script>alert(1)</script>"', duration="1s", seeds=1)
    assert "script" not in Markup(airtcp.compare(scenario, ["reno"])._repr_html_()).tags


def test_a_terminal_shows_table_and_verdict(found: Comparison) -> None:
    assert found.verdict
    assert found.verdict.text in repr(found)
    assert "goodput" in repr(found)
    assert "to corruption" in repr(airtcp.run(scheme="reno", duration="1s"))


def test_an_interrupted_comparison_says_so() -> None:
    found = Comparison(Scenario.built_in(), runs_of(reno=[1.0], bbr=[4.0]), {}, True)
    assert "Interrupted: partial results, 2 of 35 runs." in repr(found)
    nothing = Comparison(Scenario.built_in(), [], {}, True)
    assert "0 of 35" in repr(nothing)
    assert "0 of 35" in nothing._repr_html_()


def test_one_run_in_detail(tmp_path: Path) -> None:
    found = airtcp.run(scheme="bbr", seed=3, duration="2s", interval_s=0.5, pcap=tmp_path / "p.pcapng")
    assert (found.scheme, found.seed) == ("bbr", 3)
    assert found.series["time_s"].to_list() == [0.5, 1.0, 1.5, 2.0]
    assert found.flows["goodput_bps"].to_list() == [found.goodput_bps]
    assert (tmp_path / "p.pcapng").stat().st_size > 1000
    assert {path.name for path in found.save(tmp_path / "d")} >= {"record.json", "series.parquet", "cwnd.svg"}


def test_progress_in_a_pipe_is_silent(capfd: pytest.CaptureFixture[str]) -> None:
    airtcp.compare(schemes=["reno"], seeds=1, duration="1s", series=False, progress=True)
    assert capfd.readouterr() == ("", "")


USER = """
from pathlib import Path
from types import ModuleType
from typing import Any, cast
import airtcp

scenario: airtcp.Scenario = airtcp.Scenario.build(link=[{"rate": "1Mbit/s", "delay": "5ms"}])
found = airtcp.compare(scenario.vary({"link.0.loss.ber": 1e-6}, seeds=2), ["reno", "bbr"], series=False)
means: list[float] = found.summary["goodput_bps"].to_list()
found.plot("goodput").savefig("goodput.svg")
one = airtcp.run(Path("link.toml"), "bbr", seed=3)
text: str = one.flows.write_csv()
if found.verdict:
    print(found.verdict.best.upper())

# An ignored error that is none is an error in strict mode.
found.plot(3)  # type: ignore[arg-type]
airtcp.compare(seeds="2")  # type: ignore[call-overload]
"""


def test_a_users_script_is_type_checked(tmp_path: Path) -> None:
    """The package is marked as typed, and its types hold in mypy's strict mode."""
    (tmp_path / "user.py").write_text(USER)
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(ROOT / ".mypy_cache"), "user.py"]
    checked = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout + checked.stderr


@pytest.mark.parametrize("single", ["reno", airtcp.CongestionControl])
def test_a_single_scheme_is_not_taken_for_its_letters(single: Any) -> None:
    with pytest.raises(TypeError, match="must be a list"):
        airtcp.compare(schemes=single)
    with pytest.raises(TypeError, match="must be a list"):
        airtcp.sweep(None, {"wireless.delay": "1ms,2ms"}, schemes=single)


def test_what_one_controls_is_one_word_or_several() -> None:
    assert controls_of("sender") == controls_of(["sender"]) == ("sender",)
    with pytest.raises(ValueError, match="sender, receiver, both, gateway"):
        airtcp.advise(control=cast(Any, "sendr"))
    with pytest.raises(ValueError, match="bulk, web"):
        airtcp.advise(traffic=cast(Any, "videos"))


HEAVY = {"polars", "numpy", "scipy", "matplotlib", "plotly", "pydantic"}
HELP_OF_ALL = """
from contextlib import suppress
from airtcp.cli.app import app, load
from typer.main import get_command

for name in get_command(app).commands:
    for path in [[name], *([name, below] for below in getattr(load(name), "commands", []))]:
        for option in ("--help", "--no-such-option"):
            with suppress(SystemExit):
                app([*path, option], prog_name="airtcp")
"""


REFUSED = [
    ["sweep"],
    ["sweep", "--vary", "wireless.delay"],
    ["sweep", "--vary", "seeds=1,2"],
    ["sweep", "--vary", "wireless.delay=1ms,2ms", "--set", "wireless.delay=x"],
    ["advise", "--control", "sende"],
    ["advise", "--for", "gaming"],
    ["advise", "--now", "cubik"],
    ["advise", "--role", "server"],
    ["compare", "--seeds", "0"],
    ["compare", "--schemes", "cubik"],
]


def _loaded(work: str) -> tuple[list[str], str]:
    """The modules that a fresh interpreter has after some work, and what that printed."""
    code = f"import sys, atexit; atexit.register(lambda: print(sorted(sys.modules), file=sys.stderr))\n{work}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return ast.literal_eval(done.stderr.splitlines()[-1]), done.stdout


@pytest.mark.parametrize("arguments", [[], ["--help"], ["--version"]], ids=" ".join)
def test_nothing_heavy_is_imported_before_it_is_needed(arguments: list[str]) -> None:
    """Nobody waits half a second for a list of commands."""
    command = f"sys.argv[1:] = {arguments}; import airtcp.cli; airtcp.cli.main()"
    loaded, _ = _loaded(command if arguments else "import airtcp")
    assert "airtcp" in loaded
    assert HEAVY.isdisjoint(loaded)


def test_no_commands_help_loads_what_the_command_runs_with() -> None:
    """Nor does the refusal of an option."""
    loaded, said = _loaded(HELP_OF_ALL)
    for usage in ("airtcp compare [OPTIONS]", "airtcp try [OPTIONS]", "airtcp paper run [OPTIONS]"):
        assert f"Usage: {usage}" in said
    assert HEAVY.isdisjoint(loaded)


@pytest.mark.parametrize("arguments", REFUSED, ids=" ".join)
def test_bad_input_is_refused_before_anything_heavy_is_imported(arguments: list[str]) -> None:
    work = (
        f"import contextlib; sys.argv[1:] = {arguments}; import airtcp.cli\n"
        "with contextlib.suppress(SystemExit): airtcp.cli.main()"
    )
    loaded, said = _loaded(work)
    assert not said
    assert HEAVY.isdisjoint(loaded)


def test_every_public_name_is_there_and_is_no_module() -> None:
    for name in airtcp.__all__:
        assert not isinstance(getattr(airtcp, name), ModuleType), name
    assert set(airtcp.__all__) <= set(dir(airtcp))
    with pytest.raises(AttributeError, match="no attribute 'compair'"):
        _ = airtcp.compair  # type: ignore[attr-defined]
