"""Tables of round trips, losses and rates beside each other: all are used, or named."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from airtcp.fit import fit
from airtcp.fit.detect import read
from airtcp.fit.quantities import quantity


@pytest.mark.parametrize(
    ("heading", "scale"),
    [
        ("pop_ping_drop_rate", 1.0),
        ("loss rate", 1.0),
        ("packet_loss", 1.0),
        ("Packet Loss (%)", 0.01),
        ("loss_pct", 0.01),
        ("Ping Loss Percentage", 0.01),
        ("lossRatio", 1.0),
    ],
)
def test_a_loss_that_is_a_share(heading: str, scale: float) -> None:
    found = quantity(heading)
    assert found is not None
    assert (found.kind, found.scale) == ("lost", scale)


@pytest.mark.parametrize("heading", ["packets_lost", "lost_bytes", "loss of signal", "drop zone", "dropped"])
def test_what_only_sounds_like_a_share(heading: str) -> None:
    found = quantity(heading)
    assert found is None or "_" not in found.name


ROWS = st.lists(
    st.tuples(st.integers(0, 20), st.integers(20, 60), st.sampled_from([20e3, 50e3, 300e3, 120e6])),
    min_size=4,
    max_size=60,
)
"""Lost of 20 probes, RTT in ms, bit/s."""
HEADINGS = {1.0: "pop_ping_drop_rate", 100.0: "packet_loss_pct"}


@given(rows=ROWS, factor=st.sampled_from(sorted(HEADINGS)), is_json=st.booleans())
@settings(max_examples=40, derandomize=True)
def test_shares_round_trips_and_usage_are_all_used(
    rows: list[tuple[int, int, float]], factor: float, is_json: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """As a dish's history has them, each second; no round trip where all is lost."""
    if all(lost == 20 for lost, _, _ in rows):
        return
    names = ["time_s", HEADINGS[factor], "pop_ping_latency_ms", "downlink_throughput_bps"]
    cells = [
        [n, factor * lost / 20, "" if lost == 20 else rtt_ms, bps]
        for n, (lost, rtt_ms, bps) in enumerate(rows)
    ]
    path = tmp_path_factory.getbasetemp() / "mixed"
    if is_json:
        path.write_text(json.dumps([dict(zip(names, each, strict=True)) for each in cells]))
    else:
        path.write_text("\n".join([",".join(names), *(",".join(map(str, each)) for each in cells)]) + "\n")
    found = read(path)
    (fates,) = found.fates
    assert fates.lost.mean() == pytest.approx(sum(lost for lost, _, _ in rows) / 20 / len(rows))
    assert found.round_trips is not None
    assert found.round_trips.rtt_s.tolist() == pytest.approx(
        [rtt / 1e3 for lost, rtt, _ in rows if lost < 20]
    )
    assert found.throughput[0].rate_bps.tolist() == [bps for _, _, bps in rows]


def history(rows: int = 200) -> str:
    text = "time_s,loss_rate,rtt_ms,downlink_bps\n"
    for n in range(rows):
        loss, rtt = (1.0, "") if 100 <= n < 103 else (0.05 if n % 20 == 3 else 0, 30 + n % 9)
        text += f"{n},{loss},{rtt},{120e6 if n % 50 == 7 else 50e3}\n"
    return text


def test_the_rate_of_a_usage_is_that_of_its_best_time(tmp_path: Path) -> None:
    path = tmp_path / "history.csv"
    path.write_text(history())
    fitted = fit(path)
    said = " ".join(" ".join(fitted.summary()).split())
    assert "at least 120Mbit/s" in said
    assert "at best" in fitted.toml
    assert fitted.loss is not None
    assert fitted.loss.share.best == pytest.approx((3 + 10 * 0.05) / 200)
    assert len(fitted.loss.runs) >= 60 or fitted.loss.chain is not None


def test_an_outage_stays_in_one_piece(tmp_path: Path) -> None:
    path = tmp_path / "history.csv"
    path.write_text(history())
    (fates,) = read(path).fates
    assert fates.interval_s == pytest.approx(1 / 20)
    assert fates.lost[2000:2060].all()
    assert fates.lost.sum() == 70


def test_values_above_one_are_taken_for_percent_and_it_is_said(tmp_path: Path) -> None:
    path = tmp_path / "loss.csv"
    path.write_text("time_s,rtt_ms,packet_loss\n0,20,0\n1,21,5\n2,22,1\n")
    found = read(path)
    assert found.fates[0].lost.mean() == pytest.approx(0.02)
    assert "taken for percent" in " ".join(found.notes)


def test_values_with_a_sign_of_percent(tmp_path: Path) -> None:
    path = tmp_path / "loss.csv"
    path.write_text("time_s,rtt_ms,packet loss\n0,20,0%\n1,21,5%\n2,22,1%\n")
    assert read(path).fates[0].lost.mean() == pytest.approx(0.02)


def test_no_loss_is_left_out_without_a_line(tmp_path: Path) -> None:
    path = tmp_path / "loss.csv"
    path.write_text("time_s,rtt_ms,packet_loss\n0,20,0\n1,21,5000\n2,22,1\n")
    found = read(path)
    assert not found.fates
    assert "`packet_loss` is left out" in " ".join(found.notes)


def test_losses_beside_a_capacity_are_used(tmp_path: Path) -> None:
    path = tmp_path / "capacity.csv"
    path.write_text(
        "time_s,bandwidth_kbps,rtt_ms,loss_rate\n" + "".join(f"{n},800,{20 + n},0.1\n" for n in range(10))
    )
    found = read(path)
    assert found.throughput[0].is_capacity
    assert found.fates[0].lost.mean() == pytest.approx(0.1)
    assert found.throughput[0].rtt_s is not None
