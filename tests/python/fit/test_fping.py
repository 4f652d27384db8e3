"""`fping` as text, of one host or several."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from airtcp.fit.detect import contents, read
from airtcp.fit.measurement import Measurement, Subjects
from airtcp.fit.readers import FileError

Rtts = Mapping[str, Sequence[float | None]]
"""Of each host in ms, None: no answer; all of the same length."""


def lines(rtts: Rtts, *, dated: bool = False, size: int = 64) -> str:
    """`fping -c N HOST…`, with `-D` if it is dated."""
    width = max(map(len, rtts))
    printed = []
    for n in range(len(next(iter(rtts.values())))):
        for host, series in rtts.items():
            rtt = series[n]
            date = f"[{1700000000 + n * 0.5 + (rtt or 499) / 1e3:.6f}] " if dated else ""
            said = "timed out (20.1 avg, 9% loss)"
            if rtt is not None:
                said = f"{size} bytes, {rtt:.3f} ms (20.1 avg, 9% loss)"
            printed.append(f"{date}{host:{width}} : [{n}], {said}")
    return "\n".join(printed) + "\n\n" + sums(rtts)


def dated_lines(rtts: Rtts) -> str:
    return lines(rtts, dated=True)


def older_lines(rtts: Rtts) -> str:
    return lines(rtts, size=84)


def lists(rtts: Rtts) -> str:
    """`fping -q -C N HOST…`"""
    of = {host: ["-" if rtt is None else f"{rtt:.3f}" for rtt in series] for host, series in rtts.items()}
    return "".join(f"{host} : {' '.join(values)}\n" for host, values in of.items())


def sums(rtts: Rtts) -> str:
    """`fping -q -c N HOST…`"""
    printed = ""
    for host, series in rtts.items():
        known = [rtt for rtt in series if rtt is not None]
        lost = 100 * (len(series) - len(known)) // len(series)
        printed += f"{host} : xmt/rcv/%loss = {len(series)}/{len(known)}/{lost}%"
        if known:
            printed += f", min/avg/max = {min(known):.3f}/{np.mean(known):.3f}/{max(known):.3f}"
        printed += "\n"
    return printed


DIALECTS: list[Callable[[Rtts], str]] = [lines, dated_lines, older_lines, lists]
SERIES = st.lists(st.none() | st.integers(100, 400_000).map(lambda us: us / 1e3), min_size=4, max_size=4)
HOSTS = st.dictionaries(
    st.sampled_from(["192.0.2.1", "2001:db8::7", "example.org", "b"]), SERIES, min_size=1
).filter(lambda rtts: any(any(series) for series in rtts.values()))


@pytest.mark.parametrize("dialect", DIALECTS)
@given(rtts=HOSTS)
@settings(max_examples=25, derandomize=True)
def test_each_host_is_read_back(
    dialect: Callable[[Rtts], str], rtts: Rtts, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.getbasetemp() / "fping.txt"
    path.write_text(dialect(rtts))
    found = contents(path)
    answering = [host for host, series in rtts.items() if any(series)]
    of = {answering[0]: found} if isinstance(found, Measurement) else found.of
    assert list(of) == answering
    for host, measured in of.items():
        assert measured.fates[0].lost.tolist() == [rtt is None for rtt in rtts[host]]
        assert measured.round_trips is not None
        answered = [rtt for rtt in rtts[host] if rtt is not None]
        assert measured.round_trips.rtt_s * 1e3 == pytest.approx(answered)
        assert measured.skipped is None


TWO: Rtts = {"192.0.2.1": [20.0, None, 21.0], "192.0.2.2": [80.0, 81.0, 82.0]}


def test_one_of_several_hosts_is_to_be_chosen(tmp_path: Path) -> None:
    path = tmp_path / "two.txt"
    for text in (lines(TWO), lists(TWO), sums(TWO)):
        path.write_text(text)
        with pytest.raises(FileError, match=r"2 hosts in one file .*192.0.2.1, 192.0.2.2.*--only"):
            read(path)
        trips = read(path, only="192.0.2.2").round_trips
        assert trips is not None
        assert float(trips.rtt_s.min()) >= 0.080


def test_a_second_run_is_not_dropped(tmp_path: Path) -> None:
    path = tmp_path / "twice.txt"
    path.write_text(lines({"a": [20.0, None, 21.0]}) + lines({"a": [30.0, 31.0, None]}))
    trips = read(path).round_trips
    assert trips is not None
    assert trips.rtt_s * 1e3 == pytest.approx([20, 21, 30, 31])


def test_lines_that_are_missing_are_counted_by_the_sums(tmp_path: Path) -> None:
    path = tmp_path / "grepped.txt"
    path.write_text("\n".join(line for line in lines(TWO).splitlines() if "timed out" not in line))
    found = read(path, only="192.0.2.1")
    assert not found.fates
    assert (found.loss_counts[0].packets, found.loss_counts[0].lost) == (3, 1)
    assert "2 have a line" in " ".join(found.notes)


def test_a_host_that_never_answers_is_named(tmp_path: Path) -> None:
    path = tmp_path / "dead.txt"
    path.write_text(
        "ICMP Host Unreachable from 192.0.2.9 for ICMP Echo sent to dead\n"
        + lines({"a": [20.0, 21.0], "dead": [None, None]})
        + "\n       2 targets\n       1 alive\n       1 unreachable\n 20.0 ms (min round trip time)\n"
        + "        3.001 sec (elapsed real time)\na : duplicate for [0], 64 bytes, 65.4 ms\n"
    )
    found = contents(path)
    assert not isinstance(found, Subjects)
    assert "No answer at all from 1: dead." in found.notes
    assert found.skipped is None


@pytest.mark.parametrize("is_json", [True, False])
def test_sums_of_intervals_are_not_counted_twice(is_json: bool, tmp_path: Path) -> None:
    """`-Q 10` prints sums of every 10 s, and at the end those of all."""
    told = [("intSum", 10, 9), ("intSum", 10, 10), ("intSum", 10, 8), ("summary", 30, 27)]
    lines = [
        json.dumps({kind: {"host": "a", "xmt": sent, "rcv": got, "loss": 0, "rttMin": 20, "rttAvg": 21}})
        if is_json
        else f"a : xmt/rcv/%loss = {sent}/{got}/0%, min/avg/max = 20.0/21.0/22.0"
        for kind, sent, got in told
    ]
    path = tmp_path / "sums.txt"
    path.write_text("\n".join(lines))
    (count,) = read(path).loss_counts
    assert (count.packets, count.lost) == (30, 3)
