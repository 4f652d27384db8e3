"""The round trip is closed: on the fitted path, the measured transfer does again what it did."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from airtcp_studies.calibration.iperf3 import iperf3_tcp
from airtcp_studies.calibration.ss import ss_log
from hypothesis import Phase, example, given, settings
from hypothesis import strategies as st

import airtcp
from airtcp import Fit, Scenario, fit
from airtcp.advise.gateway import wireless
from airtcp.advise.surroundings import loss_of
from airtcp.facts.scenario import document
from airtcp.fit.bottleneck import Settled
from airtcp.fit.closure.closing import NOT_CLOSED, settle
from airtcp.fit.closure.seen import measured, misfit
from airtcp.fit.detect import read
from airtcp.fit.document import fit_document
from airtcp.fit.estimates import estimate
from airtcp.fit.evidence import gather
from airtcp.results.document import plain

PATH = """
profile = "linux"
[[link]]
name = "path"
rate = "{rate}kbit/s"
delay = "{delay}ms"
queue = {queue}
loss = {{ packet = {loss} }}
[link.reverse]
loss = {{}}
"""


def path(rate: float, rtt_ms: float, room: int, loss: float = 0.0) -> Scenario:
    queue = f"{{ packets = {room} }}"
    return Scenario.parse(PATH.format(rate=rate, delay=rtt_ms / 2, queue=queue, loss=loss))


def policed(rate: float, rtt_ms: float, burst_kb: float) -> Scenario:
    policer = f'{{ discipline = "token-bucket", rate = "{rate}kbit/s", burst = "{burst_kb}kB", packets = 0 }}'
    return Scenario.parse(PATH.format(rate=100_000, delay=rtt_ms / 2, queue=policer, loss=0))


def fitted(folder: Path, text: str, *more: Path, name: str = "result.json") -> Fit:
    (folder / name).write_text(text)
    return fit([folder / name, *more])


def settled(found: Fit) -> Settled:
    assert found._settled is not None
    return found._settled.what


def shown(found: Fit, quantity: str) -> str:
    return next((each.shown for each in found.found if each.quantity.startswith(quantity)), "")


@pytest.fixture(scope="module")
def bloated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """CUBIC for 25 s over 5 Mbit/s, 100 ms and a queue of half a second."""
    place = tmp_path_factory.mktemp("bloated") / "result.json"
    place.write_text(iperf3_tcp(path(5000, 100, 208), duration_s=25.0))
    return place


def test_a_transfer_s_own_queue_is_not_the_link_s(bloated: Path) -> None:
    found = fit(bloated)
    assert found.rate_bps == pytest.approx(5e6, rel=0.04)
    assert settled(found).best.cause == "own queue"
    assert settled(found).best.base_s == pytest.approx(0.1, rel=0.45)
    assert settled(found).best.room_packets == pytest.approx(208, rel=0.1)
    assert shown(found, "loss") == "none"
    assert "capacity in the forward direction" not in {each.quantity for each in found.unknown}
    assert found.check is not None
    assert found.check.holds
    line = next(line for line in found.summary() if line.startswith("The measured transfer again"))
    assert "retransmissions of" in line
    assert line in found.toml.replace("\n# ", " ")
    assert plain(fit_document(found))["check"]["goodput_bps"] == pytest.approx(4.75e6, rel=0.03)


def test_an_idle_ping_settles_the_round_trip(bloated: Path, tmp_path: Path) -> None:
    ping = tmp_path / "ping.log"
    lines = [f"64 bytes from 192.0.2.1: icmp_seq={n} ttl=60 time=100.{n % 4} ms" for n in range(1, 101)]
    ping.write_text("PING 192.0.2.1 (192.0.2.1) 56(84) bytes of data.\n" + "\n".join(lines) + "\n")
    found = fit([bloated, ping])
    assert found.rate_bps == pytest.approx(5e6, rel=0.03)
    assert settled(found).best.base_s == pytest.approx(0.1, rel=0.01)


@given(
    rate=st.integers(2000, 12_000),
    rtt_ms=st.integers(20, 150),
    queue_ms=st.integers(60, 500),
    scheme=st.sampled_from(["cubic", "reno"]),
)
@settings(max_examples=3, deadline=None, phases=[Phase.generate], derandomize=True)
def test_what_overflowed_a_queue_gives_back_the_rate(
    tmp_path_factory: pytest.TempPathFactory, rate: int, rtt_ms: int, queue_ms: int, scheme: str
) -> None:
    room = max(10, rate * queue_ms // 12_000)
    text = iperf3_tcp(path(rate, rtt_ms, room), scheme, duration_s=10.0)
    found = fitted(tmp_path_factory.mktemp("known"), text)
    assert found.rate_bps == pytest.approx(1e3 * rate, rel=0.08)
    assert found.check is not None
    assert found.check.holds, found.check.text


def test_losses_that_a_link_makes_are_told_from_overflow(tmp_path: Path) -> None:
    text = iperf3_tcp(path(20_000, 60, 200, loss=0.01), seed=2, duration_s=20.0)
    found = fitted(tmp_path, text)
    best = settled(found).best
    assert best.cause == "random"
    assert best.loss == pytest.approx(0.01, rel=0.5)
    assert "capacity in the forward direction" in {each.quantity for each in found.unknown}
    assert found.check is not None
    assert found.check.holds, found.check.text


def test_where_the_rate_is_open_a_link_that_could_carry_more_is_assumed(tmp_path: Path) -> None:
    """A link of 2.9 Mbit/s whose queue stood would explain it as well; there, nothing could be gained."""
    found = fitted(tmp_path, iperf3_tcp(path(8129, 105, 143, loss=0.003), seed=126, duration_s=20.0))
    best = settled(found).best
    arrived = found.measurements[0].transfer
    assert arrived is not None
    assert arrived.arrived is not None
    assert settled(found).rate_between is None
    assert best.cause == "random"
    assert best.rate_bps > 1.4 * arrived.arrived.rate_bps
    assert found.check is not None
    assert found.check.holds, found.check.text


@pytest.mark.parametrize(("loss", "rtt_ms", "seed"), [(0.03, 190, 120), (0.01, 185, 180), (0.02, 103, 234)])
def test_a_rate_that_losses_keep_out_of_sight_has_no_upper_bound(
    tmp_path: Path, loss: float, rtt_ms: int, seed: int
) -> None:
    """Whatever else explains the transfer, chance on a faster link does, too."""
    found = fitted(tmp_path, iperf3_tcp(path(4500, rtt_ms, 36, loss=loss), seed=seed, duration_s=20.0))
    assert shown(found, "rate").startswith("at least")


@given(
    rate=st.integers(2000, 10_000),
    rtt_ms=st.integers(10, 100),
    room=st.integers(10, 60),
    loss=st.sampled_from([0.003, 0.01, 0.03]),
)
@example(rate=2944, rtt_ms=17, room=10, loss=0.03)
@settings(max_examples=1, deadline=None, phases=[Phase.explicit, Phase.generate], derandomize=True)
def test_what_losses_did_on_a_short_queue_is_done_again(
    tmp_path_factory: pytest.TempPathFactory, rate: int, rtt_ms: int, room: int, loss: float
) -> None:
    """The best of few runs was one that chance had favoured: it carried half as much again."""
    text = iperf3_tcp(path(rate, rtt_ms, room, loss=loss), seed=6, duration_s=10.0)
    found = fitted(tmp_path_factory.mktemp("lossy"), text)
    assert found.check is not None
    assert found.check.holds, found.check.text


def test_a_queue_that_stands_shows_the_rate_although_the_link_loses_packets(tmp_path: Path) -> None:
    text = iperf3_tcp(path(3400, 44, 40, loss=0.001), seed=2, duration_s=15.0)
    found = fitted(tmp_path, text)
    between = settled(found).rate_between
    assert between is not None
    assert between[0] <= 3.4e6 <= between[1]
    assert between[1] < 1.5 * between[0]


@pytest.mark.parametrize(
    ("scheme", "rate", "rtt_ms", "burst_kb"),
    [("cubic", 4_000, 30, 60), ("bbr", 5000, 40, 32)],
)
def test_a_policer_is_recognised(tmp_path: Path, scheme: str, rate: int, rtt_ms: int, burst_kb: int) -> None:
    """Losses from a rate on, and round trips that stay: no queue, and no link that loses packets."""
    found = fitted(tmp_path, iperf3_tcp(policed(rate, rtt_ms, burst_kb), scheme, duration_s=10.0))
    best = settled(found).best
    assert best.cause == "policer"
    assert best.rate_bps == pytest.approx(1e3 * rate, rel=0.1)
    assert best.base_s == pytest.approx(rtt_ms / 1e3, rel=0.1)
    assert shown(found, "policer")
    assert "token-bucket" in found.toml
    assert found.check is not None
    assert found.check.holds, found.check.text


@pytest.mark.parametrize(("rate", "rtt_ms", "burst_kb"), [(4000, 30, 60), (3000, 53, 21)])
def test_what_a_policer_drops_in_a_capture_is_no_loss_of_the_link(
    tmp_path: Path, rate: int, rtt_ms: int, burst_kb: int
) -> None:
    place = tmp_path / "transfer.pcapng"
    policed(rate, rtt_ms, burst_kb).vary(duration="15s").run("cubic", 1, pcap=str(place))
    found = fit(place)
    best, between = settled(found).best, settled(found).rate_between
    assert best.cause == "policer"
    assert between is not None
    assert between[0] <= 1e3 * rate <= between[1]
    assert best.rate_bps == pytest.approx(1e3 * rate, rel=0.03)
    assert best.burst_bytes == pytest.approx(1e3 * burst_kb, rel=0.15)
    assert shown(found, "loss") == "none"
    link = wireless(document(found.scenario))
    assert loss_of(link) == loss_of(link["reverse"]) == 0
    assert found.check is not None
    assert found.check.holds, found.check.text


@given(
    rate=st.integers(6000, 20_000),
    rtt_ms=st.integers(15, 40),
    burst=st.sampled_from([1.5, 3.0]),
    seed=st.integers(1, 100),
)
@settings(max_examples=2, deadline=None, phases=[Phase.generate], derandomize=True)
def test_losses_whose_times_no_policer_explains_are_no_policer_s(
    tmp_path_factory: pytest.TempPathFactory, rate: int, rtt_ms: int, burst: float, seed: int
) -> None:
    """Where a capture does not show the link's rate, what the transfer did would suit a policer, too."""
    place = tmp_path_factory.mktemp("known") / "transfer.pcapng"
    lost = {"burst": {"to_good": 1 / burst, "to_bad": 0.03 / 0.97 / burst}}
    known = path(rate, rtt_ms, 20).vary({"duration": "5s", "link.path.loss": lost})
    known.run("cubic", seed, pcap=str(place))
    evidence = replace(gather([read(place)]), link_rate={})
    found = settle(evidence, estimate(evidence), None)
    assert found is not None
    assert "policer" not in {path.cause for path, _ in found.what.likelihoods}
    assert found.what.best.cause == "random"


def test_a_window_that_holds_the_transfer_back_is_not_the_path(tmp_path: Path) -> None:
    """64 kB in 80 ms are 6.4 Mbit/s, however fast the link is."""
    text = iperf3_tcp(path(50_000, 80, 400), "cubic:receive_window=64kB", duration_s=10.0)
    found = fitted(tmp_path, text)
    assert found._settled is None
    assert "at least" in shown(found, "rate")
    assert found.check is not None
    assert found.check.holds, found.check.text
    assert found.check.window_bytes == pytest.approx(64e3, rel=0.1)
    assert "not the path" in found.check.text


def test_without_round_trips_the_retransmissions_settle_the_queue(tmp_path: Path) -> None:
    """With --reverse, iperf3's intervals are the receiver's; the sender's retransmissions come at the end."""
    result = json.loads(iperf3_tcp(path(5000, 50, 60), duration_s=20.0))
    result["start"]["test_start"]["reverse"] = 1
    arrived_bps = result["end"]["sum_received"]["bits_per_second"]
    for interval in result["intervals"]:
        for part in (*interval["streams"], interval["sum"]):
            for key in ("retransmits", "rtt", "rttvar", "snd_cwnd", "pmtu"):
                part.pop(key, None)
            part["bits_per_second"] = arrived_bps
    found = fitted(tmp_path, json.dumps(result))
    assert found.rate_bps == pytest.approx(5e6, rel=0.1)
    assert settled(found).best.cause == "own queue"
    assert found.check is not None
    assert found.check.holds, found.check.text
    assert found.check.round_trip_s is None


def test_the_same_file_gives_the_same_fit(bloated: Path) -> None:
    assert fit(bloated).toml == fit(bloated).toml
    seen = measured(read(bloated))
    assert seen is not None
    assert misfit(seen, [seen]) == 0


def test_samples_of_ss_are_closed_too_if_the_transfer_never_paused(tmp_path: Path) -> None:
    behind = path(5000, 100, 208)
    log = ss_log(behind, duration_s=20.0)
    found = fitted(tmp_path, log, name="ss.txt")
    assert settled(found).best.cause == "own queue"
    assert found.rate_bps == pytest.approx(5e6, rel=0.04)
    assert found.check is not None
    assert found.check.holds, found.check.text
    paused = fitted(tmp_path, re.sub(r"busy:\d+ms", "busy:90ms", log), name="paused.txt")
    assert paused.check is None
    assert "at least" in shown(paused, "rate")


@pytest.mark.parametrize("scheme", ["cubic", "bbr"])
def test_captures_do_not_name_the_controller_and_others_are_tried(tmp_path: Path, scheme: str) -> None:
    place = tmp_path / "transfer.pcapng"
    path(8000, 60, 60, loss=0.01).vary(duration="20s").run(scheme, 1, pcap=str(place))
    found = fit(place)
    assert found.check is not None
    assert found.check.holds, found.check.text
    assert (found.check.scheme, found.check.scheme_assumed) == (scheme, True)
    assert f"({scheme} assumed)" in found.check.text
    assert found.rate_bps == pytest.approx(8e6, rel=0.01)


def test_one_seed_s_overflow_in_slow_start_does_not_fail_the_check(tmp_path: Path) -> None:
    """One repetition of five loses some 300 packets there; the measured transfer had lost one before."""
    place = tmp_path / "transfer.pcapng"
    behind = path(3259, 189.5, 26, loss=0.003).vary({"link.path.reverse.loss": {"packet": 0.003}})
    behind.vary(duration="30s", flow=[{"name": "main", "start": "0s"}]).run("cubic", 299, pcap=str(place))
    found = fit(place)
    assert found.check is not None
    assert found.check.retransmissions is not None
    assert found.check.retransmissions_again is not None
    assert found.check.retransmissions_again > 2.5 * found.check.retransmissions + 10
    assert found.check.holds, found.check.text


def impossible() -> str:
    """Half of the packets are lost while a window of ten carries 50 Mbit/s: no path of ours does that."""
    intervals: list[dict[str, Any]] = []
    for at in range(10):
        row = {"start": at, "end": at + 1, "seconds": 1.0, "bytes": 6_250_000, "bits_per_second": 50e6}
        row |= {"retransmits": 4000 * (at % 2), "snd_cwnd": 14480, "rtt": 50_000}
        intervals.append({"streams": [row], "sum": row})
    total = {"start": 0, "end": 10.0, "seconds": 10.0, "bytes": 62_500_000, "bits_per_second": 50e6}
    end = {
        "sum_sent": {**total, "retransmits": 20_000},
        "sum_received": total,
        "sender_tcp_congestion": "cubic",
    }
    start = {"version": "iperf 3.12", "tcp_mss_default": 1448, "test_start": {"protocol": "TCP"}}
    return json.dumps({"start": start, "intervals": intervals, "end": end})


@pytest.mark.parametrize(
    "change",
    [
        {"num_streams": 10_000},
        {"seconds": 1e6},
        {"seconds": 1e-6},
        {"bytes": 1e15, "bits_per_second": 1e15},
        {"rtt": 10**9, "snd_cwnd": 1},
    ],
)
def test_what_a_file_claims_costs_no_more(tmp_path: Path, change: dict[str, Any]) -> None:
    result = json.loads(impossible())
    for part in (*(each["sum"] for each in result["intervals"]), *result["end"].values()):
        if isinstance(part, dict):
            part.update({key: value for key, value in change.items() if key in part})
    for interval in result["intervals"]:
        interval["streams"] = [interval["sum"]]
    if "num_streams" in change:
        result["start"]["test_start"].update(change)
    found = fitted(tmp_path, json.dumps(result))
    assert found.check is None or not found.check.holds


def test_a_fit_that_does_not_explain_its_transfer_says_so_and_nothing_is_advised(tmp_path: Path) -> None:
    found = fitted(tmp_path, impossible())
    assert found.check is not None
    assert not found.check.holds
    assert "They do not agree" in found.check.text
    assert found.unknown[-1].quantity == NOT_CLOSED
    for asked in (found, found.write(tmp_path / "fitted.toml")):
        advice = airtcp.advise(asked, quick=True)
        assert advice.recommendation is None
        assert advice.not_closed is not None
        assert "They do not agree" in str(advice)
        assert not advice.rows
