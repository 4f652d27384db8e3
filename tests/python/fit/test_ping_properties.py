"""Whatever was measured: what each `ping` prints of it is read back as it was."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
from dialects import DIALECTS, Rtts
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from airtcp.fit import detect

PACKETS = st.lists(st.none() | st.integers(0, 9_999_999).map(lambda us: us / 1e3), min_size=1, max_size=60)
ONE_ANSWERED = PACKETS.filter(lambda rtts: any(rtt is not None for rtt in rtts))
OUTAGE = [5.0, *[None] * 300, 6.0, None]


@pytest.mark.parametrize("dialect", DIALECTS)
@given(rtts=ONE_ANSWERED)
@example(rtts=OUTAGE)
@example(rtts=[0.0])
@settings(max_examples=40, derandomize=True)
def test_what_was_printed_is_read_back(
    dialect: str, rtts: Rtts, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.getbasetemp() / f"{dialect}.log"
    path.write_bytes(DIALECTS[dialect](rtts).encode())
    found = detect.read(path)
    assert found.round_trips is not None
    answered = np.array([rtt for rtt in rtts if rtt is not None]) / 1e3
    assert found.fates[0].lost.tolist() == [rtt is None for rtt in rtts]
    # Windows prints whole ms, hping tenths.
    digit_s = 1e-3 if "windows" in dialect else 1e-4 if "hping" in dialect else 1e-9
    assert_allclose(found.round_trips.rtt_s, answered, atol=0.51 * digit_s)
    assert found.reordering[0].late == 0
    assert found.skipped is None


WORDS = st.text("bоαж字節응답ミリ秒მწ", min_size=1, max_size=6)
"""Letters of several scripts: what iputils and others call bytes, time and its unit in a language."""


@given(
    rtts=ONE_ANSWERED,
    words=st.tuples(WORDS, WORDS, WORDS),
    unit=st.sampled_from(["ms", "мс", "毫秒", "ミリ秒", "밀리초", "მწ"]),
    gap=st.sampled_from(["", " "]),
    comma=st.booleans(),
    before=st.sampled_from(
        ["64 {0} {1} 192.0.2.1: ", "64 {0} {1} 192.0.2.1 : ", "192.0.2.1 {0} {1} 64 {0}: "]
    ),
)
@settings(max_examples=80, derandomize=True)
def test_answers_in_any_language(
    rtts: Rtts,
    words: tuple[str, str, str],
    unit: str,
    gap: str,
    comma: bool,
    before: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    path = tmp_path_factory.getbasetemp() / "language.log"
    lines = ["PING example.org (192.0.2.1) 56(84) bytes of data."]
    for n, rtt in enumerate(rtts):
        if rtt is not None:
            time = f"{rtt:.3f}".replace(".", "," if comma else ".")
            answer = f"{before.format(*words)}icmp_seq={n + 1} ttl=56 {words[2]}={time}{gap}{unit}"
            lines.append(answer)
    path.write_text("\n".join(lines))
    found = detect.read(path)
    assert found.format == "ping (Linux, IPv4)"
    assert found.round_trips is not None
    assert found.round_trips.packet_bytes == 84
    assert_allclose(found.round_trips.rtt_s, [rtt / 1e3 for rtt in rtts if rtt is not None], atol=1e-9)
    assert found.skipped is None


@given(rtts=ONE_ANSWERED)
@settings(max_examples=40, derandomize=True)
def test_stamps_tell_when_each_was_sent(rtts: Rtts, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.getbasetemp() / "stamped.log"
    path.write_text(DIALECTS["linux_stamped"](rtts))
    found = detect.read(path)
    assert found.round_trips is not None
    sent_s = 0.5 * np.array([n for n, rtt in enumerate(rtts) if rtt is not None])
    assert_allclose(np.diff(found.round_trips.time_s), np.diff(sent_s), atol=2e-6)


@given(
    interval_s=st.floats(0.2, 10),
    answered=st.lists(st.booleans(), min_size=130, max_size=200),
    date=st.sampled_from(["%b %d %H:%M:%S", "%Y-%m-%d %H:%M:%S", "[%Y-%m-%dT%H:%M:%S+01:00]", "%c:"]),
)
@settings(max_examples=40, derandomize=True)
def test_dates_to_the_second_tell_the_interval(
    interval_s: float, answered: list[bool], date: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """As `ping HOST | ts` and loops of a shell write them."""
    answered[0] = answered[-1] = True
    begun = datetime(2026, 11, 22, 3, 8, 50, tzinfo=UTC)
    path: Path = tmp_path_factory.getbasetemp() / "dated.log"
    path.write_text(
        "".join(
            f"{(begun + timedelta(seconds=n * interval_s)).strftime(date)} "
            f"64 bytes from 192.0.2.1: icmp_seq={n + 1} ttl=56 time=20.5 ms\n"
            for n, is_answered in enumerate(answered)
            if is_answered
        )
    )
    found = detect.read(path)
    assert found.fates[0].interval_s == pytest.approx(interval_s, rel=0.05)
    assert found.fates[0].lost.tolist() == [not each for each in answered]
    assert not any("is assumed" in note for note in found.notes)


@given(order=st.permutations(range(12)))
@settings(max_examples=60, derandomize=True)
def test_answers_in_any_order(order: list[int], tmp_path_factory: pytest.TempPathFactory) -> None:
    """RFC 4737 §3.4: a packet is late if one that was sent after it has come before it."""
    path: Path = tmp_path_factory.getbasetemp() / "order.log"
    path.write_text(
        "PING a (192.0.2.1): 56 data bytes\n"
        + "".join(f"64 bytes from 192.0.2.1: icmp_seq={n} ttl=56 time={n + 5}.000 ms\n" for n in order)
    )
    found = detect.read(path)
    assert found.round_trips is not None
    assert_allclose(found.round_trips.rtt_s * 1e3, np.arange(12) + 5)
    late = sum(any(before > n for before in order[:place]) for place, n in enumerate(order))
    assert found.reordering[0].late == late


def test_sequence_numbers_begin_again_after_16_bits(tmp_path: Path) -> None:
    generator = np.random.default_rng(1)
    rtts = [float(rtt) if rtt < 90 else None for rtt in generator.integers(1, 100, 140_000)]
    rtts[60_000:80_000] = [None] * 20_000
    path = tmp_path / "long.log"
    path.write_text(DIALECTS["linux"](rtts))
    assert detect.read(path).fates[0].lost.tolist() == [rtt is None for rtt in rtts]
