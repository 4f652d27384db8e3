"""The reader of packet captures, over the engine's."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest

import airtcp
from airtcp.fit.readers import FileError, readers
from airtcp.fit.readers.capture import READER, read

LINK = """
duration = "20s"
[[link]]
name = "radio"
rate = "8Mbit/s"
delay = "20ms"
loss = { packet = "1%" }
queue = { packets = 60 }
[[link]]
name = "last"
rate = "10Gbit/s"
delay = "0ms"
"""


@pytest.fixture(scope="module")
def captures(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """One transfer of BBR, as its sender and its receiver capture it."""
    scenario = airtcp.Scenario.parse(LINK)
    folder = tmp_path_factory.mktemp("captures")
    files = {"radio": folder / "sender.pcapng", "last": folder / "receiver.pcap"}
    for link, file in files.items():
        scenario.run("bbr", 1, pcap=str(file), pcap_link=link)
    return files


@pytest.mark.parametrize(("link", "place"), [("radio", "at the sender"), ("last", "at the receiver")])
def test_a_capture_tells_of_its_path(captures: dict[str, Path], link: str, place: str) -> None:
    found = read(captures[link])
    assert place in found.format
    assert found.round_trips is not None
    assert found.round_trips.rtt_s.min() == pytest.approx(0.04, abs=0.003)
    assert np.all(np.diff(found.round_trips.time_s) >= 0)
    (fates,) = found.fates
    assert fates.direction == "forward"
    assert fates.sent_s is not None
    assert fates.sent_s.shape == fates.lost.shape
    assert fates.lost.mean() == pytest.approx(0.01, rel=0.4)
    (rate,) = found.link_rates
    assert rate.estimate_bps == pytest.approx(8e6, rel=0.01)
    assert rate.at_least_bps <= 8.1e6
    (throughput,) = found.throughput
    assert throughput.rate_bps.shape == throughput.time_s.shape
    assert throughput.rate_bps.max() <= 8.5e6
    assert found.transfer is not None
    assert found.transfer.mss_bytes == 1460
    assert found.transfer.spurious == 0
    assert found.skipped is None


def test_what_is_cut_off_is_counted(captures: dict[str, Path], tmp_path: Path) -> None:
    whole = captures["last"].read_bytes()
    file = tmp_path / "cut.pcap"
    file.write_bytes(whole[: len(whole) // 2 - 7])
    found = read(file)
    assert found.skipped is not None
    assert found.skipped.count == 1
    assert "the file ends within" in found.skipped.first


@pytest.mark.parametrize(
    ("content", "cause"),
    [
        (struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1), "contains no packets"),
        (b"\xd4\xc3\xb2\xa1", "ends within its header"),
        (b"\x34\xcd\xb2\xa1" + bytes(20), "editcap"),
    ],
)
def test_a_capture_without_a_transfer_is_refused_with_its_cause(
    content: bytes, cause: str, tmp_path: Path
) -> None:
    file = tmp_path / "some.pcap"
    file.write_bytes(content)
    with pytest.raises(FileError, match=cause) as error:
        READER.read(file)
    assert str(file) in str(error.value)


def _frames(file: Path) -> list[tuple[bytes, bytes]]:
    """The heads and contents of the packets of a little-endian pcap."""
    content = file.read_bytes()
    frames, at = [], 24
    while at < len(content):
        kept = struct.unpack_from("<I", content, at + 8)[0]
        frames.append((content[at : at + 16], content[at + 16 : at + 16 + kept]))
        at += 16 + kept
    return frames


def _file(path: Path, header: bytes, frames: list[tuple[bytes, bytes]]) -> Path:
    path.write_bytes(header + b"".join(head + frame for head, frame in frames))
    return path


def test_what_a_mirror_port_shows_twice_counts_once(captures: dict[str, Path], tmp_path: Path) -> None:
    plain = read(captures["last"])
    frames = _frames(captures["last"])
    twice = [frame for frame in frames for _ in range(2)]
    found = read(_file(tmp_path / "twice.pcap", captures["last"].read_bytes()[:24], twice))
    assert found.transfer == plain.transfer
    assert np.array_equal(found.fates[0].lost, plain.fates[0].lost)
    assert f"{len(frames)} packets were captured twice and are counted once." in found.notes
    assert not any("twice" in note for note in plain.notes)


def test_data_alone_shows_what_was_sent_again(captures: dict[str, Path], tmp_path: Path) -> None:
    header = captures["last"].read_bytes()[:24]
    frames = _frames(captures["last"])
    sender = frames[0][1][12:16]
    data = [frame for frame in frames if frame[1][12:16] == sender]
    found = read(_file(tmp_path / "data.pcap", header, data))
    assert found.fates[0].lost.mean() == pytest.approx(0.01, rel=0.4)
    assert found.transfer is not None
    assert found.transfer.spurious is None
    assert found.round_trips is not None
    assert found.round_trips.rtt_s == pytest.approx([0.0401], abs=0.003)
    assert any("No acknowledgments were captured" in note for note in found.notes)
    acks = [frame for frame in frames if frame[1][12:16] != sender]
    with pytest.raises(FileError, match=r"acknowledgments of .* bytes, but not these data"):
        READER.read(_file(tmp_path / "acks.pcap", header, acks))


def test_the_format_names_what_the_packets_are_in(captures: dict[str, Path], tmp_path: Path) -> None:
    header = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)
    pppoe = bytes(12) + b"\x88\x64\x11\x00\x00\x01"
    frames = []
    for head, packet in _frames(captures["last"]):
        second, part, kept, length = struct.unpack("<IIII", head)
        session = pppoe + struct.pack(">H", length + 2) + b"\x00\x21"
        longer = struct.pack("<IIII", second, part, kept + len(session), length + len(session))
        frames.append((longer, session + packet))
    plain = read(captures["last"])
    found = read(_file(tmp_path / "pppoe.pcap", header, frames))
    assert found.format == "pcap capture (Ethernet, PPPoE), at the receiver"
    assert found.transfer == plain.transfer


def test_a_capture_is_recognised_by_its_first_bytes(captures: dict[str, Path]) -> None:
    for file in captures.values():
        sure = {reader.name: reader.recognises(file.read_bytes()[: 1 << 16]) for reader in readers()}
        assert max(sure, key=lambda name: sure[name]) == "capture"
        assert sure["capture"] == 1
    assert READER.recognises(b"") == 0


def test_few_packets_that_are_cut_within_their_options_are_named(
    captures: dict[str, Path], tmp_path: Path
) -> None:
    """tcpdump's old default of 68 bytes has room for timestamps, and not for SACK blocks behind them."""
    whole = captures["last"].read_bytes()
    cut, place = bytearray(whole[:24]), 24
    while place < len(whole):
        seconds, rest, captured, length = struct.unpack("<IIII", whole[place : place + 16])
        kept = min(captured, 68 - 14)
        cut += struct.pack("<IIII", seconds, rest, kept, length) + whole[place + 16 : place + 16 + kept]
        place += 16 + captured
    file = tmp_path / "short.pcap"
    file.write_bytes(cut)
    (note,) = (note for note in read(file).notes if "cut within their TCP options" in note)
    assert 0 < int(note.split()[0]) < sum(len(each.lost) for each in read(file).fates) / 2
