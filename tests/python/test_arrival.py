"""Where nothing arrives, nobody wins and nobody ties: every answer says so."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from conftest import SHORT, Cli, flow, run
from hypothesis import given
from hypothesis import strategies as st

import airtcp
from airtcp.facts.arrival import nothing_arrived
from airtcp.facts.records import Flow
from airtcp.facts.verdict import verdict

LOST = ["--set", "wireless.loss.packet=100%"]
BACK = ["--set", "wireless.reverse.loss.packet=100%"]


def empty(**changes: int | bool) -> Flow:
    lost = {"data_packets_sent": 0, "losses_corruption": 0, "losses_congestion": 0}
    return {**flow(0.0), "bytes_received": 0, **lost, **changes}  # type: ignore[typeddict-item]


def test_nothing_says_what_became_of_what_was_sent() -> None:
    runs = [run("reno", seed, empty(data_packets_sent=9, losses_corruption=8)) for seed in (1, 2)]
    assert nothing_arrived(runs) == (
        "Nothing arrived: no measured flow received a byte, so there is nothing to judge. Of 18 data packets"
        " sent, 16 corrupted."
    )
    assert "no connection was established" in (nothing_arrived([run("reno", 1, empty())]) or "")
    assert nothing_arrived([]) is None


@given(st.lists(st.tuples(st.integers(0, 2), st.booleans()), min_size=1), st.integers(1, 3))
def test_one_byte_of_a_measured_flow_is_something(flows: list[tuple[int, bool]], schemes: int) -> None:
    """Whatever unmeasured flows receive, and however many schemes there are: no winner and no tie."""
    own = [empty(bytes_received=received, measured=measured) for received, measured in flows]
    runs = [run(f"scheme{number}", seed, *own) for number in range(schemes) for seed in (1, 2)]
    arrived = any(received and measured for received, measured in flows)
    is_measured = any(measured for _, measured in flows)
    assert (nothing_arrived(runs) is None) == (arrived or not is_measured)
    judged = verdict(runs)
    if is_measured and not arrived:
        assert judged is not None
        assert (judged.best, judged.tied) == ("", ())


@pytest.mark.parametrize("lost", [LOST, BACK])
def test_a_comparison_says_so_everywhere_and_fails(cli: Cli, lost: list[str]) -> None:
    done = cli("compare", *SHORT, *lost, "--out", "d", "--report", "r.html")
    assert done.returncode == 1
    assert "Nothing arrived" in done.stdout
    assert "cannot be separated" not in done.stdout
    found = json.loads((cli.directory / "d" / "results.json").read_text())
    assert found["verdict"]["best"] == ""
    assert "Nothing arrived" in found["verdict"]["text"]
    page = (cli.directory / "r.html").read_text()
    assert "Nothing arrived" in page
    assert "statistical ties." not in page


def test_a_run_says_so(cli: Cli) -> None:
    assert "Nothing arrived" in cli.ok("run", "--duration", "3s", *LOST)


def test_one_scheme_alone_says_so(cli: Cli) -> None:
    done = cli("compare", "--duration", "3s", "--seeds", "1", "--schemes", "reno", *LOST)
    assert (done.returncode, "Nothing arrived" in done.stdout) == (1, True)


def test_a_sweep_counts_the_points_at_which_nothing_arrives(cli: Cli) -> None:
    vary = ["--vary", "wireless.loss.packet=0%,100%"]
    text = cli.ok("sweep", *SHORT, *vary, "--report", "r.html")
    assert "Nothing arrived at 1 of 2 points" in text
    assert "Nothing arrived at 1 of 2 points" in (cli.directory / "r.html").read_text()


def test_a_sweep_without_any_arrival_has_no_winner() -> None:
    lost = airtcp.Scenario.built_in([("wireless.loss.packet", "1.0"), ("duration", "3s"), ("seeds", "2")])
    found = airtcp.sweep(lost, {"wireless.delay": "5ms,10ms"}, schemes=["reno", "cubic"])
    assert (
        found.verdict == "Nothing arrived at 2 of 2 points, whatever the scheme: there is nothing to judge."
    )
    assert not found.summary["best"].any()
    assert found.verdict in str(found)
    assert found.verdict in found._repr_html_()


def test_advice_is_none(cli: Cli) -> None:
    done = cli("advise", "--quick", "--duration", "3s", *LOST, "--json", "-")
    assert done.returncode == 1
    assert "Nothing arrived" in done.stderr
    found = json.loads(done.stdout)
    assert found["recommendation"] is None
    assert "Nothing arrived" in found["nothing_arrived"]


def test_a_comparison_in_a_notebook_has_no_best() -> None:
    found = airtcp.compare(schemes=["reno", "cubic"], seeds=2, duration="3s")
    nothing = [run(each["scheme"], each["seed"], empty()) for each in found.runs]
    without = replace(found, runs=nothing)
    assert without.best == []
    assert "Nothing arrived" in without._repr_html_()
