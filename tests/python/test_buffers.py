"""Hosts' buffers that limit every scheme: found, said first, and cured."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import airtcp
from airtcp.advise.buffers import (
    LARGEST_BYTES,
    OLDER_WINDOW_BYTES,
    RECEIVE_WINDOW_BYTES,
    SEND_BUFFER_BYTES,
    SHARE_OF_DATA,
    Buffers,
)
from airtcp.facts.scheme import Scheme

# The path holds 300 kB; a buffer of 100 kB holds 80 kB of data.
NARROW = "cubic:send_buffer=100kB"
PATH = 'duration = "20s"\nseeds = 1\n[[link]]\nname = "far"\nrate = "20Mbit/s"\ndelay = "60ms"\n'


@given(
    bound_bps=st.floats(1e5, 1e10),
    rtt_s=st.floats(1e-4, 1.0),
    flows=st.integers(1, 8),
    send=st.none() | st.integers(10_000, 100_000_000),
    window=st.none() | st.integers(10_000, 100_000_000),
)
def test_the_cure_is_named_for_whichever_end_limits_and_it_cures(
    bound_bps: float, rtt_s: float, flows: int, send: int | None, window: int | None
) -> None:
    keys = {"send_buffer": send, "receive_window": window}
    scheme = Scheme("cubic")
    for key, size in keys.items():
        scheme = scheme if size is None else scheme.with_key(key, f"{size}B")
    found = Buffers.of(scheme.text, "linux", bound_bps, rtt_s, flows)
    said = found.first() or ""
    assert ("tcp_wmem=" in said) == found.sender_limits
    # A receiver whose window is not known may have an older Linux, and a smaller window.
    least = min(found.window, OLDER_WINDOW_BYTES) if window is None else window
    assert ("at the receiver sysctl" in said) == found.receiver_limits
    assert ("tcp_rmem=" in said) == (bool(said) and least < 0.95 * found.held)
    assert bool(said) == (min(found.send, found.window) < 0.95 * bound_bps * rtt_s / 8 / flows)
    for key, limits in [("send_buffer", found.sender_limits), ("receive_window", found.receiver_limits)]:
        scheme = scheme.with_key(key, f"{found.wanted}B") if limits else scheme
    after = Buffers.of(scheme.text, "linux", bound_bps, rtt_s, flows)
    assert after.first() is None or found.wanted == LARGEST_BYTES // 2


def test_other_profiles_have_no_send_buffer() -> None:
    for scheme, profile in [("reno:profile=rfc", "linux"), ("reno", "bsd-1998")]:
        assert Buffers.of(scheme, profile, 1e9, 1.0, 1).first() is None
    assert Buffers.of("reno:profile=linux", "rfc", 1e9, 1.0, 1).sender_limits


def test_the_simulator_carries_what_is_said() -> None:
    found = airtcp.compare(airtcp.Scenario.parse(PATH), schemes=[NARROW]).runs[0]
    said_bps = 8 * SHARE_OF_DATA * 100_000 / 0.12
    assert found["goodput_bps"] == pytest.approx(said_bps, rel=0.05)


@pytest.mark.parametrize(
    ("scheme", "under_way"),
    [("cubic", SHARE_OF_DATA * SEND_BUFFER_BYTES), ("cubic:send_buffer=64MB", RECEIVE_WINDOW_BYTES)],
)
def test_the_profile_has_the_sizes_that_are_said(scheme: str, under_way: float) -> None:
    link = 'rate = "400Mbit/s"\ndelay = "300ms"\nqueue = { packets = 20000 }\n'
    path = f'duration = "12s"\nwarmup = "9s"\nseeds = 1\n[[link]]\nname = "far"\n{link}'
    found = airtcp.compare(airtcp.Scenario.parse(path), schemes=[scheme]).runs[0]
    assert found["goodput_bps"] * 0.6 / 8 == pytest.approx(under_way, rel=0.02)


def test_advice_names_the_buffers_first_and_recommends_them() -> None:
    found = airtcp.advise(airtcp.Scenario.parse(PATH), control=["sender"], now=NARROW, quick=True)
    first = next(each for each in found.text if each.title == "First")
    assert first.text.startswith("The hosts' buffers limit every congestion control")
    assert "tcp_wmem='4096 16384 7" in first.text
    assert found.recommendation is not None
    assert found.recommendation.use.startswith("cubic:send_buffer=7")


def test_advice_on_a_path_that_buffers_hold_does_not_name_them() -> None:
    found = airtcp.advise(airtcp.Scenario.parse(PATH), control=["sender"], now="cubic", quick=True)
    assert found.buffers is None
    assert not any("send_buffer" in row.name for row in found.rows)
