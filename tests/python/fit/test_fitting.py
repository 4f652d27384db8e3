"""From measurements to a scenario: what it says, what it assumes, and what it refuses."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import airtcp
from airtcp.fit import Fit, NothingArrives, fit_measurements
from airtcp.fit.measurement import (
    Direction,
    Fates,
    LossCount,
    Measurement,
    Reordering,
    RoundTrips,
    Skipped,
    Throughput,
    Transfer,
)
from airtcp.fit.rate import Given
from airtcp.fit.readers import FileError


def ping(
    rtt_s: list[float], lost: list[bool] | None = None, name: str = "ping.log", step: float = 1.0
) -> Measurement:
    sent = np.arange(len(lost or rtt_s)) * step
    fates = np.array(lost if lost is not None else [False] * len(rtt_s))
    trips = RoundTrips(sent[~fates], np.array(rtt_s), 84.0) if rtt_s else None
    return Measurement(Path(name), "ping (Linux, IPv4)", trips, (Fates(fates, "both", 84.0, step),))


def rates(
    name: str, direction: Direction, bps: list[float], *, is_capacity: bool, rtt: list[float] | None = None
) -> Measurement:
    n = len(bps)
    series = Throughput(
        np.arange(n, dtype=np.float64),
        np.ones(n),
        np.array(bps),
        direction,
        is_capacity,
        None if rtt is None else np.array(rtt),
    )
    return Measurement(Path(name), "CSV", throughput=(series,))


def varied(n: int, seed: int = 1, base: float = 0.05) -> list[float]:
    above = np.random.default_rng(seed).lognormal(np.log(0.01), 0.6, n)
    return [base + float(value) for value in above]


def quantities(fitted: Fit) -> set[str]:
    return {unknown.quantity for unknown in fitted.unknown}


def link(fitted: Fit) -> str:
    return fitted.scenario.to_toml().partition("[measurement")[0]


def test_a_ping_log_says_delay_and_loss_and_assumes_the_rate() -> None:
    lost = [place % 40 == 0 for place in range(600)]
    fitted = fit_measurements([ping(varied(585), lost)])
    assert fitted.scenario.name == "ping"
    assert fitted.scenario.links == ["wireless"]
    assert {
        "rate",
        "capacity in the reverse direction",
        "in which direction packets were lost",
    } <= quantities(fitted)
    assert "# ASSUMED. rate: No input shows" in fitted.toml
    # 15 of 600 there or back: 1 − √(1 − 0.025) each way.
    assert "packet = 0.01258" in fitted.toml
    assert 'interval = "1s"' in fitted.toml
    assert fitted.scenario.vary(duration="1s").run("cubic", 1) is not None


def test_the_same_measurements_give_the_same_bytes() -> None:
    first, second = (fit_measurements([ping(varied(300))]).toml for _ in range(2))
    assert first == second


def test_rates_given_by_the_user_stand_above_all() -> None:
    given = Given(25e6, 1.5e6)
    fitted = fit_measurements(
        [ping(varied(100)), rates("a.csv", "forward", [1e6] * 9, is_capacity=True)], given=given
    )
    assert 'rate = "25Mbit/s"' in fitted.toml
    assert 'rate = "1.5Mbit/s"' in fitted.toml.partition("[link.reverse]")[2]
    assert "rate" not in quantities(fitted)


def test_bursts_of_pings_are_bursts_in_time() -> None:
    random = np.random.default_rng(5)
    lost = np.zeros(900, dtype=bool)
    for start in random.integers(0, 880, 12):
        lost[start : start + 5] = True
    fitted = fit_measurements([ping(varied(int((~lost).sum())), lost.tolist())])
    assert fitted.loss is not None
    assert fitted.loss.model == "Gilbert"
    assert "to_bad" in fitted.toml
    assert 'interval = "1s" } }' in fitted.toml


def test_a_transfers_losses_are_of_packets() -> None:
    lost = np.zeros(20_000, dtype=bool)
    for start in np.random.default_rng(5).integers(0, 19_900, 100):
        lost[start : start + 4] = True
    capture = Measurement(
        Path("x.pcap"),
        "capture (pcap)",
        RoundTrips(np.arange(500.0), np.array(varied(500))),
        (Fates(lost, "forward", 1500.0, 0.001),),
        transfer=Transfer(20_000, 400),
    )
    fitted = fit_measurements([capture])
    assert "burst" in fitted.toml
    assert "interval =" not in fitted.toml
    # A transfer's round trips hold its own queue.
    assert "jitter" not in link(fitted)
    assert "variation of delay without load" in quantities(fitted)


def test_two_ways_and_a_ping_are_put_together() -> None:
    down = rates("x.down", "forward", [5e6, 9e6, 1e6] * 20, is_capacity=True)
    up = rates("x.up", "reverse", [1e6, 2e6] * 30, is_capacity=True)
    fitted = fit_measurements([down, up, ping(varied(300))])
    assert set(fitted.files) == {"x-and-2-more.log.json", "x-and-2-more.reverse.log.json"}
    steps = json.loads(fitted.files["x-and-2-more.log.json"])
    assert steps[:2] == [
        {"duration_ms": 1000.0, "bandwidth_kbps": 5000.0},
        {"duration_ms": 1000.0, "bandwidth_kbps": 9000.0},
    ]
    assert "rate" not in quantities(fitted)
    assert fitted.scenario.vary(duration="2s").run("cubic", 1) is not None


def test_runs_last_as_long_as_what_they_replay_up_to_five_minutes() -> None:
    for seconds, duration in ((30, 60), (200, 200), (900, 300)):
        log = rates("a.csv", "forward", [5e6] * seconds, is_capacity=True)
        assert fit_measurements([log]).scenario.duration_s == duration


def test_a_log_with_latency_needs_no_ping() -> None:
    log = rates("a.csv", "forward", [5e6] * 30, is_capacity=True, rtt=[0.08, float("nan"), 0.1] * 10)
    fitted = fit_measurements([log])
    assert "round trip" not in quantities(fitted)
    assert json.loads(fitted.files["a.log.json"])[1]["latency_ms"] == pytest.approx(90.0)
    assert "delay =" not in fitted.toml


def test_what_a_transfer_reached_is_a_bound() -> None:
    fitted = fit_measurements([rates("iperf.json", "forward", [8e6, 9e6, 10e6] * 7, is_capacity=False)])
    assert 'rate = "10Mbit/s"' in fitted.toml
    assert "at least 10Mbit/s" in fitted.toml
    assert "capacity in the forward direction" in quantities(fitted)


def test_retransmissions_are_the_last_resort() -> None:
    transfer = Measurement(Path("i.json"), "iperf3", transfer=Transfer(990, 10))
    assert "packet = 0.01" in fit_measurements([transfer]).toml
    both = fit_measurements([transfer, ping(varied(300))])
    assert "packet = 0.01" not in both.toml


def test_a_count_of_lost_packets_tells_no_bursts() -> None:
    udp = Measurement(Path("u.json"), "iperf3 (UDP)", loss_counts=(LossCount(5000, 100, "forward", 1470.0),))
    fitted = fit_measurements([udp])
    assert "packet = 0.02" in fitted.toml
    assert "a count does not show which were lost" in fitted.toml


def test_packets_out_of_order_overtake_each_other() -> None:
    late = Reordering(1000, 30, np.linspace(0.002, 0.01, 30), "forward")
    measured = Measurement(Path("x.pcap"), "capture", transfer=Transfer(1000, 0), reordering=(late,))
    fitted = fit_measurements([measured])
    assert fitted.scenario.links == ["reordering", "wireless"]
    assert "overtaking = true" in link(fitted)


def test_contradictions_are_said() -> None:
    near, far = ping(varied(100)), ping(varied(200, base=0.2), name="far.log")
    with pytest.raises(FileError, match=r"the least round trip is .* in far\.log: these are different paths"):
        fit_measurements([near, far])
    full = replace(far, transfer=Transfer(2000, 100))
    assert "a queue that never emptied" in " ".join(fit_measurements([near, full]).notes)
    lossy = Measurement(
        Path("x.pcap"),
        "capture",
        fates=(Fates(np.arange(2000) % 20 == 0, "forward"),),
        transfer=Transfer(2000, 100),
    )
    clean = ping(varied(1000))
    assert "lost 5 % in the forward direction" in " ".join(fit_measurements([lossy, clean]).notes)
    slow = rates("a.csv", "forward", [1e6] * 9, is_capacity=True)
    fast = rates("b.json", "forward", [5e6] * 9, is_capacity=False)
    assert "reached more" in " ".join(fit_measurements([slow, fast]).notes)


def test_all_pings_lost() -> None:
    with pytest.raises(NothingArrives, match="Nothing came back"):
        fit_measurements([ping([], [True] * 20)])


def test_three_pings_and_constant_ones() -> None:
    few = fit_measurements([ping([0.05, 0.06, 0.052])])
    assert "3 round trips are too few" in few.toml
    assert 'delay = "25ms"' in few.toml
    same = fit_measurements([ping([0.05] * 100)])
    assert "All round trips are equal." in same.toml
    for fitted in (few, same):
        assert "jitter" not in link(fitted)
        # The rule of three.
        assert "3/n" in " ".join(finding.how for finding in fitted.found)


def test_huge_round_trips_are_a_valid_scenario() -> None:
    for trips in (varied(100, base=90.0), [1e5, 1e-6] * 50, [float(place) for place in range(1, 200)]):
        fitted = fit_measurements([ping(trips)])
        assert fitted.scenario.vary(duration="1s").run("cubic", 1) is not None


def test_a_replay_has_the_round_trips_themselves(tmp_path: Path) -> None:
    trips = varied(50)
    lost = [place == 10 for place in range(51)]
    fitted = fit_measurements([ping(trips, lost)], replay=True)
    series = fitted.files["ping.rtt.txt"].split()
    # What was lost is as the one before.
    # The file has what is above the least, which is `delay`.
    least_ms = float(min(trips)) * 1e3
    assert [least_ms + float(value) for value in series[9:12]] == pytest.approx(
        [trips[9] * 1e3, trips[9] * 1e3, trips[10] * 1e3], abs=1e-3
    )
    assert f'delay = "{least_ms / 2:.4g}ms"' in fitted.toml
    assert 'distribution = "series"' in fitted.toml
    written = fitted.write(tmp_path / "replayed.toml")
    assert airtcp.Scenario.load(written).vary(duration="1s").run("cubic", 1) is not None
    # The scenario has its files with it, though the folder that they were read from is gone.
    assert pickle.loads(pickle.dumps(fitted.scenario)) == fitted.scenario
    with pytest.raises(FileError, match="give a ping log"):
        fit_measurements([rates("a.csv", "forward", [1e6], is_capacity=True)], replay=True)


def test_names_cannot_write_into_the_scenario() -> None:
    name = 'a"\n[[link]]\nrate="1bit/s"\n#\x1b[31m.log'
    odd = ping(varied(60), name=name)
    fitted = fit_measurements(
        [Measurement(odd.source, odd.format, odd.round_trips, odd.fates, skipped=Skipped(2, name))]
    )
    assert fitted.scenario.links == ["wireless"]
    assert "\x1b" not in fitted.toml + "".join(fitted.summary())


def test_nothing_of_use_is_refused() -> None:
    with pytest.raises(FileError, match="contains no round trips, loss or rate"):
        fit_measurements([Measurement(Path("x"), "CSV")])
    with pytest.raises(FileError, match="at least one measurement file"):
        fit_measurements([])


def test_the_figures_that_can_be_drawn_are(tmp_path: Path) -> None:
    lost = [place % 40 == 0 for place in range(600)]
    down = rates("x.down", "forward", [5e6, 9e6, 1e6] * 20, is_capacity=True)
    drawn = fit_measurements([ping(varied(585), lost), down]).draw(tmp_path)
    assert sorted(path.name for path in drawn if path.suffix == ".png") == [
        "loss-runs.png",
        "rtt-cdf.png",
        "rtt.png",
        "throughput.png",
    ]
    assert all(path.stat().st_size > 1000 for path in drawn)


def test_a_transfer_shows_the_queue_that_it_filled_beside_a_ping_too() -> None:
    under_load = RoundTrips(np.arange(1000.0), 0.06 + 0.2 * np.linspace(0, 1, 1000))
    transfer = Measurement(Path("x.pcap"), "capture", under_load, transfer=Transfer(1000, 0))
    for others in ([], [ping(varied(100))]):
        fitted = fit_measurements([transfer, *others], given=Given(10e6))
        # 0.198 s at 10 Mbit/s are 165 packets of 1500 bytes.
        assert "queue = { packets = 165 }" in fitted.toml


seconds = st.floats(0, 1e5)


@given(
    st.lists(st.tuples(seconds, seconds), max_size=60),
    st.lists(st.booleans(), max_size=60),
    st.lists(st.tuples(st.floats(1e-9, 1e4), st.floats(0, 1e12)), max_size=5),
    st.floats(1e-12, 1e5),
    st.sampled_from(["forward", "reverse", "both"]),
    st.booleans(),
)
@settings(max_examples=150)
def test_whatever_was_measured_makes_a_valid_scenario(
    trips: list[tuple[float, float]],
    lost: list[bool],
    steps: list[tuple[float, float]],
    interval_s: float,
    direction: Direction,
    is_transfer: bool,
) -> None:
    time, rtt = (np.array([trip[side] for trip in trips]) for side in (0, 1))
    lengths, bps = (np.array([step[side] for step in steps]) for side in (0, 1))
    sent = np.arange(len(lost), dtype=np.float64) * interval_s
    measured = Measurement(
        Path("x"),
        "any",
        RoundTrips(np.sort(time), rtt, 84.0) if trips else None,
        (Fates(np.array(lost, dtype=np.bool_), direction, None, interval_s, sent),),
        throughput=(
            Throughput(np.cumsum(lengths), lengths, bps, direction, is_capacity=bool(bps.sum() > 1e3)),
        )
        if steps
        else (),
        transfer=Transfer(100, 3) if is_transfer else None,
    )
    try:
        fitted = fit_measurements([measured])
    except (FileError, NothingArrives):
        return
    assert fitted.scenario.links[-1] == "wireless"


def test_a_file_that_answers_nothing_is_named_with_its_reason() -> None:
    long, short = ping(varied(60), name="long.log"), ping(varied(40), name="short.log")
    fitted = fit_measurements([long, short])
    assert "short.log: not used; long.log has more probes." in fitted.notes
    assert "# short.log: not used; long.log has more probes." in fitted.toml
    assert 'description = "Fitted to long.log."' in fitted.toml
    assert fitted.summary()[0].startswith("Fitted to long.log (ping (Linux, IPv4)): ")


def test_files_that_each_answer_something_are_all_used() -> None:
    down = rates("link.down", "forward", [5e6] * 30, is_capacity=True)
    up = rates("link.up", "reverse", [1e6] * 30, is_capacity=True)
    fitted = fit_measurements([down, up, ping(varied(60))])
    assert not any("not used" in note for note in fitted.notes)


def test_two_ways_of_one_link_have_its_name() -> None:
    down = rates("link.down", "forward", [5e6] * 30, is_capacity=True)
    up = rates("link.up", "reverse", [1e6] * 30, is_capacity=True)
    assert fit_measurements([down, up]).name == "link"
    assert fit_measurements([down, ping(varied(60))]).name == "link-and-1-more"


def test_the_measured_deviation_stands_beside_the_fitted_one() -> None:
    fitted = fit_measurements([ping(varied(60))])
    assert fitted.delay is not None
    assert fitted.delay.variation is not None
    shown = f"(measured {fitted.delay.variation.measured_deviation_s * 1e3:.4g} ms)"
    assert any(shown in finding.text for finding in fitted.found)
    assert shown in " ".join(fitted.toml.replace("# ", "").split())
    assert fitted.delay.variation.measured_deviation_s == pytest.approx(np.std(varied(60)), rel=1e-9)


def test_of_few_probes_it_is_said_first() -> None:
    few = fit_measurements([ping([0.05, 0.06, 0.07])])
    assert few.notes[0] == few.summary()[0]
    assert few.notes[0].startswith("Only 3 probes in ping.log: ")
    assert few.summary().count(few.notes[0]) == 1
    assert not any("Only" in note for note in fit_measurements([ping(varied(20))]).notes)


def test_a_fit_prints_as_its_summary() -> None:
    fitted = fit_measurements([ping(varied(60))])
    assert str(fitted) == repr(fitted) == "\n".join(fitted.summary())
