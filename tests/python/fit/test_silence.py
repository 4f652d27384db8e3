"""Of a path over which nothing comes back, each program's log says just that: it is a finding."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from airtcp.fit import NothingArrives, fit
from airtcp.fit.detect import read

HOST = "192.0.2.7"


def fping_lines(packets: int) -> str:
    lines = "".join(f"{HOST} : [{n}], timed out (NaN avg, 100% loss)\n" for n in range(packets))
    return f"{lines}\n{fping_sums(packets)}"


def fping_list(packets: int) -> str:
    return f"{HOST} : {' '.join('-' * packets)}\n"


def fping_sums(packets: int) -> str:
    return f"{HOST} : xmt/rcv/%loss = {packets}/0/100%\n"


def fping_objects(packets: int) -> str:
    return "".join(json.dumps({"timeout": {"host": HOST, "seq": n}}) + "\n" for n in range(packets))


def ping(packets: int) -> str:
    lines = "".join(f"no answer yet for icmp_seq={n + 1}\n" for n in range(packets - 1))
    return (
        f"PING {HOST} ({HOST}) 56(84) bytes of data.\n{lines}\n--- {HOST} ping statistics ---\n"
        f"{packets} packets transmitted, 0 received, 100% packet loss, time {packets}000ms\n"
    )


def irtt(packets: int) -> str:
    config = {"params": {"interval": 10**8, "length": 60}, "remote_address": f"{HOST}:2112"}
    trips = [{"seqno": n, "lost": "true", "timestamps": {}, "delay": {}} for n in range(packets)]
    return json.dumps({"config": config, "round_trips": trips}, indent=1)


@pytest.mark.parametrize("printed", [fping_lines, fping_list, fping_sums, fping_objects, ping, irtt])
@given(packets=st.integers(2, 300))
@settings(max_examples=15, suppress_health_check=list(HealthCheck), derandomize=True)
def test_every_packet_is_known_to_be_lost(
    printed: Callable[[int], str], packets: int, tmp_path: Path
) -> None:
    path = tmp_path / "silent.log"
    path.write_text(printed(packets))
    found = read(path)
    assert found.round_trips is None
    assert [int(each.lost.sum()) for each in found.fates] == [packets]
    with pytest.raises(NothingArrives, match=f"no packet was answered of {packets} of"):
        fit([path])


def test_an_outage_beside_the_sums_hides_no_answer(tmp_path: Path) -> None:
    path = tmp_path / "fping.txt"
    path.write_text(f"{HOST} : xmt/rcv/%loss = 90/81/10%, outage(ms) = 9000, min/avg/max = 20.1/22.3/25.0\n")
    found = read(path)
    assert found.round_trips is not None
    assert found.round_trips.least_s == pytest.approx(0.0201)
    assert [(count.lost, count.packets) for count in found.loss_counts] == [(9, 90)]
