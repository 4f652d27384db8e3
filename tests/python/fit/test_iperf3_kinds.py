"""iperf3: what a test was, where several or others than usual stand in a file."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from test_iperf3 import Read, interval, read, start, tcp

from airtcp.fit.readers import FileError

__all__ = ["read"]
SOME = settings(max_examples=20, suppress_health_check=list(HealthCheck))


def result(mbps: float = 8, **options: Any) -> dict[str, Any]:
    found = tcp()
    found["start"] = start(**options)
    found["intervals"] = [interval(n, mbps, retransmits=1, rtt=50_000) for n in range(3)]
    found["end"]["sum_received"] = {"bytes": int(mbps * 375e3), "seconds": 3.0, "bits_per_second": mbps * 1e6}
    return found


@given(
    others=st.lists(
        st.sampled_from([{"reverse": 1}, {"num_streams": 8}, {"protocol": "UDP"}, {"target_bitrate": 10**6}]),
        max_size=3,
    ),
    alike=st.integers(1, 3),
    listed=st.booleans(),
)
@SOME
def test_only_tests_of_one_kind_are_combined(
    read: Read, others: list[dict[str, Any]], alike: int, listed: bool
) -> None:
    results = [*(result() for _ in range(alike)), *(result(40, **options) for options in others)]
    text = json.dumps(results) if listed else "\n".join(map(json.dumps, results))
    found = read(text)
    (throughput,) = found.throughput
    assert len(throughput.rate_bps) == 3 * alike
    assert found.transfer is not None
    assert found.transfer.connections == 1
    assert any(f"left out: {len(others)} " in note for note in found.notes) == bool(others)


@given(
    told_mbps=st.floats(1, 100),
    carried=st.floats(0.05, 1.0),
    key=st.sampled_from(["target_bitrate", "fqrate"]),
)
@SOME
def test_a_sender_that_was_held_back_is_not_repeated_as_one_that_was_not(
    read: Read, told_mbps: float, carried: float, key: str
) -> None:
    found = read(json.dumps(result(told_mbps * carried, **{key: told_mbps * 1e6})))
    assert found.transfer is not None
    if not 0.89 < carried < 0.91:
        is_held_back = carried > 0.9
        assert (found.transfer.course is None) == is_held_back
        assert any("as it was told to" in note for note in found.notes) == is_held_back


def test_another_protocol_is_named(read: Read) -> None:
    with pytest.raises(FileError, match="over SCTP"):
        read(json.dumps(result(protocol="SCTP")))


def test_a_warning_before_the_result_is_left_out(read: Read) -> None:
    found = read("warning: this system does not seem to support IPv6\n" + json.dumps(result()))
    assert found.format == "iperf3 (TCP)"
