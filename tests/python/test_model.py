"""`airtcp model`: closed forms as the papers quote them, and runs that come near."""

from __future__ import annotations

import json
from typing import Any

import pytest
from airtcp_studies.model.tc_red import TcRed, weight_exponent
from conftest import Cli
from hypothesis import given as given_values
from hypothesis import strategies as st


def values(cli: Cli, *arguments: str) -> dict[str, Any]:
    found = json.loads(cli.ok("model", *arguments, "--json"))
    return {value["name"]: value for value in found["values"]}


@pytest.mark.parametrize("model", ["window", "mat", "red", "gain", "bianchi"])
def test_every_model_has_help_with_an_example(cli: Cli, model: str) -> None:
    assert f"  airtcp model {model}" in cli.ok("model", model, "--help")


def test_the_window_is_the_papers_and_the_simulators(cli: Cli) -> None:
    """Paper 000, §8.3: BER 2e-6 and 52 B leave W = 56; a real sender's cwnd grows as far before each loss."""
    window = values(cli, "window", "--ber", "2e-6", "--packet", "52B", "--seeds", "2")["W"]
    assert window["closed_form"] == pytest.approx(56, abs=0.5)
    for simulated in window["simulated"].values():
        assert simulated["mean"] == pytest.approx(window["closed_form"], rel=0.1)


def test_the_throughput_is_the_papers_and_the_simulators(cli: Cli) -> None:
    """Paper 000, §8.3: 652 500 B/s, of which 615 KB/s are useful."""
    given = ("--ber", "2e-6", "--packet", "1500B", "--window-packet", "52B", "--rtt", "100ms")
    found = values(cli, "mat", *given, "--seeds", "2")
    assert found["MAT"]["closed_form"] == pytest.approx(652.5 * 8, rel=0.01)
    assert found["goodput bound"]["closed_form"] == pytest.approx(615 * 8, rel=0.01)
    for simulated in found["MAT"]["simulated"].values():
        assert simulated["mean"] == pytest.approx(found["MAT"]["closed_form"], rel=0.15)


def test_what_does_not_follow_is_printed_with_both_sides(cli: Cli) -> None:
    text = cli.ok("model", "mat", "--no-run")
    assert "26" in text
    assert "38.4" in text
    assert "does not follow" in text
    assert "losses" not in text


def test_the_queue_of_the_run_is_near_eq_8(cli: Cli) -> None:
    maximum = values(cli, "red", "--seeds", "2")["Q̄max"]
    assert maximum["simulated"]["simulated"]["mean"] == pytest.approx(maximum["closed_form"], rel=0.15)


def test_red_is_recommended_as_a_line_for_tc(cli: Cli) -> None:
    """Table III: 8 packets lose none where Q̄max is 7.3 (here 7.7)."""
    text = cli.ok("model", "red", "--no-run").replace("\\\n", "")
    line = next(line.split() for line in text.splitlines() if "tc qdisc" in line)
    given = dict(zip(line[7:-1:2], line[8::2], strict=True))
    assert (given["min"], given["max"], given["avpkt"]) == ("5000", "8000", "1000")
    assert given["probability"] == "0.1"
    assert given["bandwidth"] == "5000kbit"
    assert line[-1] == "ecn"
    # `tc` warns of a burst that is too large from a weight of 1/1024 on: 66 is its first.
    assert (int(given["burst"]), weight_exponent(65, 5), weight_exponent(66, 5)) == (65, 9, 10)
    # man tc-red: the limit lies above the maximum and a burst.
    assert int(given["limit"]) >= int(given["max"]) + 1000 * int(given["burst"])


@given_values(low=st.integers(1, 100), more=st.integers(1, 300), exponent=st.integers(8, 14))
def test_tc_derives_the_weight_that_was_wanted(low: int, more: int, exponent: int) -> None:
    burst = TcRed(low, low + more, 0.1, 0.5**exponent, 1e6).burst
    assert weight_exponent(burst, low) <= exponent < weight_exponent(burst + 1, low)


def test_the_gain_goes_with_the_root_of_the_sizes(cli: Cli) -> None:
    found = values(cli, "gain", "--mtu", "1500B", "--header-packet", "15B", "--no-run")
    assert found["gain"]["closed_form"] == pytest.approx(10)


def test_wrong_inputs_are_told(cli: Cli) -> None:
    assert "no unit" in cli.refused("model", "mat", "--rtt", "3")
    assert "between 0 and 1" in cli.refused("model", "window", "--per", "200%")
    assert "not both" in cli.refused("model", "window", "--per", "1%", "--ber", "1e-6")
    assert "above --min-threshold" in cli.refused("model", "red", "--max-threshold", "5")


def test_a_saturated_wifi_cell_carries_what_bianchi_says(cli: Cli) -> None:
    """Bianchi 2000 with a retry limit, of datagrams with 1472 B at 54 Mbit/s."""
    found = values(cli, "bianchi", "--stations", "1,10", "--seeds", "1")
    for name, mbps in (("S, n = 1", 29.9), ("S, n = 10", 26.9)):
        assert found[name]["closed_form"] == pytest.approx(mbps, abs=0.05)
        assert found[name]["simulated"]["simulated"]["mean"] == pytest.approx(mbps, rel=0.03)
    assert found["p, n = 10"]["closed_form"] == pytest.approx(0.389, abs=0.001)


def test_rts_spares_a_full_cell_its_long_collisions(cli: Cli) -> None:
    """Bianchi 2000, eq. 17: RTS is a cost where nobody collides, and a gain where many do at 6 Mbit/s."""
    given = ("bianchi", "--stations", "1,50", "--mcs", "0")
    plain, rts = values(cli, *given, "--no-run"), values(cli, *given, "--rts", "--seeds", "1")
    for number in (1, 50):
        value = rts[f"S, n = {number}"]
        assert value["simulated"]["simulated"]["mean"] == pytest.approx(value["closed_form"], rel=0.03)
    assert rts["S, n = 1"]["closed_form"] < plain["S, n = 1"]["closed_form"]
    assert rts["S, n = 50"]["closed_form"] > 1.3 * plain["S, n = 50"]["closed_form"]


@pytest.mark.parametrize("stations", ["0", "a", "1,,2", "201"])
def test_numbers_of_stations_are_checked(cli: Cli, stations: str) -> None:
    assert "--stations" in cli.refused("model", "bianchi", "--stations", stations)
