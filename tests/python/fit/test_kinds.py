"""`fit` recognises the kind of air, and does not where there is none."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from airtcp_studies.calibration.air import in_slots, over_lte, over_wifi, without_air, written
from conftest import Cli
from hypothesis import given, settings
from hypothesis import strategies as st

from airtcp._engine import time_in_seconds
from airtcp.facts.scenario import document
from airtcp.fit import Fit, fit, fit_measurements
from airtcp.fit.kinds import Verdict
from airtcp.fit.measurement import Fates, Floats, Measurement, Reordering, RoundTrips

CASES = Path(__file__).parents[4] / "shared" / "cases"
SEEDS = st.integers(0, 1 << 32)
MINUTES_10 = np.arange(600, dtype=np.float64)


def fitted(
    rtt: Floats, time: Floats | None = None, *, began_s: float | None = None, lost: Floats | None = None
) -> Fit:
    """Fits answered pings, one a second unless it is said otherwise; `lost` has the times of others."""
    time = np.arange(len(rtt), dtype=np.float64) if time is None else time
    missing = np.empty(0) if lost is None else lost
    sent = np.concatenate([time, missing])
    order = np.argsort(sent)
    is_lost = (np.arange(len(sent)) >= len(time))[order]
    fates = Fates(is_lost, "both", 84.0, float(np.median(np.diff(time))), sent[order])
    trips = RoundTrips(time, rtt, 84.0, began_s=began_s)
    return fit_measurements([Measurement(Path("ping.log"), "ping", trips, (fates,))])


def verdicts(found: Fit) -> dict[str, Verdict]:
    return {verdict.kind: verdict for verdict in found.kinds}


def seen(found: Fit) -> set[str]:
    return {verdict.kind for verdict in found.kinds if verdict.is_seen}


def link_of(found: Fit) -> dict[str, object]:
    link: dict[str, object] = document(found.scenario)["link"][-1]
    return link


@settings(max_examples=6)
@given(SEEDS, st.sampled_from([1e-6, 1e-5, 1e-4, 1e-3]))
def test_what_no_air_made_is_rarely_taken_for_one(seed: int, grain_s: float) -> None:
    # Each of the three has a false alarm in a thousand at most; two in a hundred are allowed.
    false = [
        (name, seen(found))
        for more in range(6)
        for name, rtt in without_air(seed + more, 600)
        if seen(found := fitted(written(np.maximum(rtt, 1e-3), grain_s)))
    ]
    assert len(false) <= 1, false


@settings(max_examples=8)
@given(seed=st.integers(0, 1 << 30), errors=st.sampled_from([20, 30]))
def test_frames_that_wifi_sends_again_are_seen(
    seed: int, errors: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    rtt = written(over_wifi(seed, 600, tmp_path_factory.mktemp("wifi"), errors=errors), 1e-5)
    found = verdicts(fitted(rtt))
    assert found["Wi-Fi"].certainty == "sure"
    assert not found["LTE"].is_seen


def test_stations_that_send_are_seen_too(tmp_path: Path) -> None:
    rtt = over_wifi(1, 1200, tmp_path, errors=0, stations=3, rate="5Mbit/s")
    assert verdicts(fitted(written(rtt, 1e-5)))["Wi-Fi"].certainty == "sure"


def test_a_log_that_is_too_coarse_says_so(tmp_path: Path) -> None:
    rtt = over_wifi(1, 600, tmp_path, errors=20)
    found = verdicts(fitted(written(0.1 + rtt, 1e-3)))["Wi-Fi"]
    assert found.text.startswith("Wi-Fi cannot be told: the log's grain is 1 ms")
    # Of longer round trips, `ping` prints whole milliseconds only; a few short ones do not make it finer.
    mixed = np.concatenate([written(0.1 + rtt, 1e-3), written(np.full(50, 0.0988), 1e-4)])
    assert "grain is 1 ms" in verdicts(fitted(mixed))["Wi-Fi"].why


def test_wifi_that_loses_or_reorders_is_doubted(tmp_path: Path) -> None:
    rtt = written(over_wifi(1, 600, tmp_path, errors=20), 1e-5)
    found = verdicts(fitted(rtt, lost=np.arange(0.5, 60)))["Wi-Fi"]
    assert (found.certainty, "more is lost" in found.why) == ("perhaps", True)
    trips = RoundTrips(MINUTES_10, rtt, 84.0)
    late = Reordering(600, 30, np.full(30, 1e-3), "both")
    with_late = fit_measurements([Measurement(Path("ping.log"), "ping", trips, reordering=(late,))])
    assert verdicts(with_late)["Wi-Fi"].certainty == "perhaps"


@settings(max_examples=20)
@given(
    SEEDS,
    st.sampled_from([0.0, 0.002, 0.004]),
    st.sampled_from([0.15, 0.25]),
    st.sampled_from([1e-5, 1e-4, 1e-3]),
)
def test_harqs_steps_are_seen_whatever_the_grain(
    seed: int, request_s: float, errors: float, grain_s: float
) -> None:
    found = fitted(written(over_lte(seed, 600, request_s=request_s, errors=errors), grain_s))
    assert verdicts(found)["LTE"].is_seen
    assert "Starlink" not in seen(found)


def test_harqs_steps_become_the_links_jitter() -> None:
    rtt = over_lte(1, 1200, request_s=0.003, errors=0.2)
    found = fitted(written(rtt, 1e-4))
    assert verdicts(found)["LTE"].certainty == "sure"
    jitter = link_of(found)["jitter"]
    assert jitter["distribution"] == "table"  # type: ignore[index]
    ranges = jitter["ranges"]  # type: ignore[index]
    lows_s, highs_s = ([time_in_seconds(each[end]) for each in ranges] for end in ("low", "high"))
    shares = [each["probability"] for each in ranges]
    assert [round(low / 0.008) for low in lows_s[:3]] == [0, 1, 2]
    assert sum(shares) == pytest.approx(1, abs=1e-9)
    base_s = 2 * time_in_seconds(str(link_of(found)["delay"]))
    assert base_s + np.dot(shares, np.add(lows_s, highs_s) / 2) == pytest.approx(rtt.mean(), rel=0.01)


def test_steps_of_another_length_are_not_lte() -> None:
    random = np.random.default_rng(1)
    for step_s in (0.005, 0.0065, 0.010):
        rtt = 0.04 + step_s * (random.geometric(0.8, 1200) - 1) + random.normal(0, 2e-4, 1200)
        assert "LTE" not in seen(fitted(written(rtt, 1e-4))), step_s


def test_one_step_of_8_ms_is_not_yet_sure() -> None:
    random = np.random.default_rng(1)
    rtt = 0.04 + 0.008 * (random.random(600) < 0.2) + random.normal(0, 2e-4, 600)
    found = verdicts(fitted(written(rtt, 1e-4)))["LTE"]
    assert (found.certainty, "second step" in found.why) == ("perhaps", True)


@settings(max_examples=10)
@given(SEEDS, st.sampled_from([0.05, 1.0]), st.floats(0, 15))
def test_levels_that_change_every_15_s_are_seen(seed: int, spacing_s: float, phase_s: float) -> None:
    time = np.arange(0, 600, spacing_s)
    found = fitted(written(in_slots(seed, time, phase_s=phase_s), 1e-4), time)
    assert verdicts(found)["Starlink"].certainty == "sure"
    assert not {"Wi-Fi", "LTE"} & seen(found)
    air = found._estimates.air
    assert air is not None
    assert air.slots is not None
    assert abs((air.slots.phase_s - phase_s + 7.5) % 15 - 7.5) <= 1.5


def test_the_time_of_day_tells_whether_the_changes_are_starlinks() -> None:
    began_s = 1.79e9 + 4
    its_own, another = (
        fitted(in_slots(1, MINUTES_10, phase_s=phase - began_s % 15), began_s=began_s) for phase in (12, 5)
    )
    assert verdicts(its_own)["Starlink"].certainty == "sure"
    assert "as Starlink's assignments do" in verdicts(its_own)["Starlink"].why
    assert (verdicts(another)["Starlink"].certainty, seen(another)) == ("perhaps", {"Starlink"})


def test_other_periods_are_not_starlinks() -> None:
    time = np.arange(0, 1800, 0.5)
    for period_s in (5.0, 7.5, 10.0, 30.0, 60.0):
        assert not seen(fitted(in_slots(1, time, period_s=period_s, phase_s=3.0), time)), period_s


def test_a_coarse_log_that_hardly_changes_has_no_phase() -> None:
    # Most changes are then equal: none.
    for seed in range(10):
        rtt = np.where(np.random.default_rng(seed).random(600) < 0.02, 0.031, 0.03)
        assert not seen(fitted(rtt)), seed
    assert not seen(fitted(np.full(600, 0.03)))


def test_losses_at_the_changes_become_outages_and_leave_the_loss() -> None:
    near = np.arange(7, 600, 15.0)
    time = np.setdiff1d(MINUTES_10, near)
    found = fitted(in_slots(1, time, phase_s=7.0), time, lost=near)
    outages = link_of(found)["outages"]
    assert (time_in_seconds(outages["period"]), outages["handoff"]) == (15, True)  # type: ignore[index]
    assert time_in_seconds(outages["length"]) == pytest.approx(1.0, rel=0.1)  # type: ignore[index]
    assert found.loss is not None
    assert found.loss.lost == 0
    elsewhere = fitted(in_slots(1, time, phase_s=7.0), time, lost=np.arange(0.5, 600, 14.0))
    assert "outages" not in link_of(elsewhere)


def test_what_a_log_cannot_tell_it_says() -> None:
    rtt = np.random.default_rng(1).normal(0.05, 0.003, 600)
    slow, short = fitted(rtt, 5 * MINUTES_10), fitted(rtt, 0.1 * MINUTES_10)
    assert "5 s apart" in verdicts(slow)["Starlink"].text
    assert "60 s are too short" in verdicts(short)["Starlink"].text
    assert fitted(rtt[:99]).kinds == ()


def test_pings_of_two_lengths_tell_nothing() -> None:
    sizes = np.tile([84.0, 1500.0], 300)
    rtt = 0.04 + 1e-3 * (sizes > 100) + np.random.default_rng(1).normal(0, 5e-5, 600)
    fates = Fates(np.zeros(600, dtype=np.bool_), "both", 792.0, 1.0, MINUTES_10, sizes)
    trips = RoundTrips(MINUTES_10, rtt, 792.0)
    assert fit_measurements([Measurement(Path("ping.log"), "ping", trips, (fates,))]).kinds == ()


def test_the_command_says_the_kind_and_how_surely(cli: Cli) -> None:
    rtt_ms = 1e3 * over_lte(1, 600, request_s=0.002, errors=0.2)
    lines = [
        f"[{1.79e9 + place + rtt / 1e3:.6f}] 64 bytes from 192.0.2.1: icmp_seq={place + 1} ttl=56 "
        f"time={rtt:.1f} ms"
        for place, rtt in enumerate(rtt_ms)
    ]
    log = cli.directory / "ping.log"
    log.write_text("\n".join(["PING example.org (192.0.2.1) 56(84) bytes of data.", *lines]) + "\n")
    said = " ".join(cli.ok("fit", "ping.log", "--json", "fit.json", "--figures", "figures").split())
    assert "Kind of air: LTE, sure (p = " in said
    assert "kind of air: LTE, sure. LTE, sure" in " ".join(
        (cli.directory / "ping.toml").read_text().replace("# ", "").split()
    )
    kinds = json.loads((cli.directory / "fit.json").read_text())["kinds"]
    assert [each["certainty"] for each in kinds if each["kind"] == "LTE"] == ["sure"]
    assert fit(log).measurements[0].round_trips.began_s == pytest.approx(1.79e9)  # type: ignore[union-attr]
    assert "reno" in cli.ok("run", "ping.toml", "--duration", "2s", "--scheme", "reno")


@pytest.mark.skipif(not CASES.is_dir(), reason="the shared folder of cases is not here")
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("64d-ping-lte-drx.log", {"LTE"}),
        ("60-ping-idle.log", set()),
        ("64-ping-upload-starts.log", set()),
        ("15-hping3.txt", set()),
        ("27-starlink-history.csv", set()),
    ],
)
def test_logs_from_elsewhere(name: str, expected: set[str]) -> None:
    assert seen(fit(CASES / name)) == expected
