"""Path-MTU black holes: short packets arrive and long ones never do, whatever shows it."""

from __future__ import annotations

import json
import re
import struct
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from conftest import COMMAND
from dialects import DIALECTS, Rtts
from hypothesis import given, settings
from hypothesis import strategies as st

from airtcp.advise.words import _mind_first
from airtcp.facts.scenario import document
from airtcp.fit import NothingArrives, fit
from airtcp.fit.detect import read
from airtcp.fit.holes import find_holes, outside
from airtcp.fit.left_open import left_open
from airtcp.fit.measurement import Direction, Fates, Floats, Measurement, RoundTrips

MSS = 1448
RTTS: list[float | None] = [20.0, 21.5, 20.4, 23.0] * 6


def iperf3(
    sent: int = 79640,
    received: int = 0,
    resent: int = 4,
    *,
    reverse: bool = False,
    streams: int = 1,
    mss: int = MSS,
    udp: bool = False,
) -> dict[str, Any]:
    """A result of 4 s: the first second fills the sender's buffer, the others carry the rest."""
    first = min(sent, 79640)
    sizes = [first, *[(sent - first) // 3] * 3]
    if reverse:
        sizes = [received // 4] * 4
    intervals = []
    for at_s, size in enumerate(sizes):
        total = {"start": at_s, "end": at_s + 1, "seconds": 1.0, "bytes": size, "bits_per_second": 8.0 * size}
        total |= {"packets": size // 1448} if udp else {} if reverse else {"retransmits": resent // 4}
        stream = total if reverse or udp else total | {"rtt": 11000, "snd_cwnd": mss}
        intervals.append({"streams": [stream], "sum": total})
    sums: dict[str, Any] = {
        "sum_sent": {"seconds": 4.0, "bytes": sent} | ({} if udp else {"retransmits": resent}),
        "sum_received": {"seconds": 4.0, "bytes": received},
    }
    if udp:
        sums["sum"] = {"packets": sent // 1448, "lost_packets": 0, "jitter_ms": 0}
    options = {"protocol": "UDP" if udp else "TCP", "num_streams": streams, "reverse": int(reverse)}
    start = {"version": "iperf 3.12", "tcp_mss_default": mss, "test_start": options}
    return {"start": start, "intervals": intervals, "end": {"streams": [], **sums}}


def both_ways(there: dict[str, Any], back: dict[str, Any]) -> dict[str, Any]:
    """The result of `--bidir`."""
    for forward, reverse in zip(there["intervals"], back["intervals"], strict=True):
        forward["sum_bidir_reverse"] = reverse["sum"]
    ends = {f"{key}_bidir_reverse": value for key, value in back["end"].items() if key.startswith("sum")}
    there["end"] |= ends
    return there


def log(dialect: str, rtts: Rtts, payload: int) -> str:
    """What a `ping` with that payload printed."""
    text = re.sub(r"\b56\(84\)", f"{payload}({payload + 28})", DIALECTS[dialect](rtts))
    text = re.sub(r"\b(56|32|0)(?= data bytes| bytes of data| zorn:)|(?<=blu )32", str(payload), text)
    return re.sub(r"\b64(?= bytes from)", str(payload + 8), text).replace("=32 ", f"={payload} ")


def write(path: Path, content: dict[str, Any] | str) -> Path:
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def failure(*paths: Path) -> NothingArrives:
    with pytest.raises(NothingArrives) as found:
        fit(paths)
    return found.value


@given(
    resent=st.integers(1, 40),
    streams=st.integers(1, 16),
    mss=st.sampled_from([1448, 1428, 1460, 1348, 8948]),
    received=st.integers(0, 500),
    reverse=st.booleans(),
)
@settings(max_examples=20, derandomize=True, deadline=None)
def test_nothing_arrives_while_connections_open(
    resent: int,
    streams: int,
    mss: int,
    received: int,
    reverse: bool,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """Whatever the sender has written, no rate, loss or delay comes of it."""
    place = tmp_path_factory.getbasetemp() / "hole.json"
    result = iperf3(79640 * streams, received, resent, reverse=reverse, streams=streams, mss=mss)
    found = failure(write(place, result))
    (hole,) = found.holes
    assert (hole.direction, hole.vanishes_bytes) == ("forward", mss + 52)
    said = str(found)
    assert said.startswith("Only short packets arrive")
    assert "bit/s" not in said
    for cure in ("mss-clamp", "maxseg size set rt mtu", "tcp_mtu_probing=1", "airtcpd proxy", "IFACE mtu"):
        assert cure in said


@pytest.mark.parametrize(
    "result",
    [
        iperf3(50_000_000, 49_000_000, 90),
        iperf3(39_424, 14_080, 6),
        iperf3(2000, 0, 0),
        iperf3(79640, MSS, 4),
        iperf3(50_000_000, 49_000_000, 90, reverse=True),
    ],
    ids=["carried", "little", "over at once", "one segment", "back"],
)
def test_a_transfer_that_carries_is_no_hole(result: dict[str, Any], tmp_path: Path) -> None:
    assert find_holes([read(write(tmp_path / "result.json", result))]) == ()


@pytest.mark.parametrize("whole", [True, False], ids=["carries", "vanishes"])
def test_a_client_that_is_stopped_knows_nothing_of_the_receiver(whole: bool, tmp_path: Path) -> None:
    """Its result says that nothing arrived, whatever did; the sender's own view tells which it is."""
    result = iperf3(50_000_000, 0, 8) if whole else iperf3()
    result["error"] = "interrupt - the client has terminated"
    path = write(tmp_path / "stopped.json", result)
    if whole:
        fitted = fit(path)
        assert fitted.holes == ()
        assert fitted.rate_bps > 5e7
    else:
        assert failure(path).holes[0].vanishes_bytes == 1500
        # Killed, it has written no total either.
        assert failure(write(path, result | {"end": {}})).holes[0].vanishes_bytes == 1500


@pytest.mark.parametrize("cut", ["forward", "reverse", "both"])
def test_one_direction_of_two(cut: str, tmp_path: Path) -> None:
    whole, none = (50_000_000, 49_900_000), (79640, 0)
    there = iperf3(*(none if cut in ("forward", "both") else whole))
    back = iperf3(*(none if cut in ("reverse", "both") else whole))
    path = write(tmp_path / "bidir.json", both_ways(there, back))
    if cut == "reverse":
        fitted = fit(path)
        assert [hole.direction for hole in fitted.holes] == ["reverse"]
        assert fitted.summary()[0].startswith("A path-MTU black hole in the reverse direction")
        # So much arrived in the mean; few losses on a faster link explain it as well.
        (rate,) = (each for each in fitted.found if each.quantity == "rate in the forward direction")
        assert rate.shown == f"at least {8 * 49.9 / 4 * 1500 / MSS:.4g}Mbit/s"
        assert fitted.rate_bps >= 0.99 * 8 * 49.9e6 / 4 * 1500 / MSS
        assert "reverse" not in fitted._evidence.reached
        return
    found = failure(path)
    assert [hole.direction for hole in found.holes] == (["forward", "reverse"] if cut == "both" else [cut])
    assert ("In the reverse direction data do arrive" in str(found)) == (cut == "forward")


@pytest.mark.parametrize("reverse", [False, True])
def test_datagrams_that_do_not_arrive_show_no_hole(reverse: bool, tmp_path: Path) -> None:
    found = failure(write(tmp_path / "udp.json", iperf3(1_875_160, 0, reverse=reverse, udp=True)))
    assert found.holes == ()
    assert "none of 1295 datagrams" in str(found)
    assert "firewall or policer" in str(found)
    assert "black hole" in str(found)
    assert "told to" not in str(found)


def test_pings_tell_the_rest_of_a_path_without_a_rate(tmp_path: Path) -> None:
    """What vanished in a transfer shows nothing, and what short pings show stays."""
    small = write(tmp_path / "small.log", log("linux", RTTS, 56))
    fitted = fit([small, write(tmp_path / "hole.json", iperf3())])
    assert [hole.inputs for hole in fitted.holes] == [("hole.json", "small.log")]
    assert fitted.holes[0].is_sure
    assert fitted.delay is not None
    assert fitted.delay.base_s.best == pytest.approx(0.02, abs=0.001)
    assert "rate in the forward direction" not in {finding.quantity for finding in fitted.found}
    assert fitted._evidence.resent is None
    assert "not used" not in " ".join(fitted.notes)


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("appended", [False, True], ids=["two logs", "one log"])
def test_long_pings_vanish_and_short_ones_do_not(dialect: str, appended: bool, tmp_path: Path) -> None:
    texts = [log(dialect, RTTS, 56), log(dialect, [None] * 20, 1452)]
    if appended:
        texts = ["\n".join(texts)]
    fitted = fit([write(tmp_path / f"{n}.log", text) for n, text in enumerate(texts)])
    headers = {"linux_stamped": 48, "hping_of_syns": 40}.get(dialect, 28)
    (hole,) = fitted.holes
    assert (hole.direction, hole.sent) == ("both", 20)
    assert (hole.passes_bytes, hole.vanishes_bytes) == (56 + headers, 1452 + headers)
    assert fitted.summary()[0].startswith("A path-MTU black hole there or back")
    assert fitted.found[0].quantity == "path MTU"
    assert fitted.unknown[0].quantity == "packets that vanish"
    # The scenario is that of packets that pass.
    assert "loss" not in document(fitted.scenario)["link"][-1] or fitted.loss is None or not fitted.loss.lost
    assert "black hole" in fitted.toml.partition("[[link]]")[0].replace("\n# ", " ")


def test_one_log_of_long_pings_says_what_is_missing(tmp_path: Path) -> None:
    found = failure(write(tmp_path / "long.log", log("linux", [None] * 20, 1472)))
    assert found.holes == ()
    assert "20 of 1500 bytes" in str(found)
    assert "ping HOST" in str(found)


@pytest.mark.parametrize(
    ("lines", "mtu"),
    [
        (["PING a (192.0.2.1) 1472(1500) bytes of data.",
          "From 192.0.2.9 icmp_seq=1 Frag needed and DF set (mtu = 1400)",
          "ping: local error: message too long, mtu=1400"], 1400),
        (["PING a (192.0.2.1) 1472(1500) bytes of data.", "ping: sendmsg: Message too long"], 1499),
        (["PING a(a (2001:db8::1)) 1452 data bytes",
          "From 2001:db8::9 icmp_seq=1 Packet too big: mtu=1280"], 1280),
        (["PING a (192.0.2.1): 1472 data bytes",
          "36 bytes from 192.0.2.9: frag needed and DF set (MTU 1492)"], 1492),
        (["PING a (192.0.2.1): 1472 data bytes", "ping: sendto: Message too long",
          "Request timeout for icmp_seq 0"], 1499),
        (["Pinging 192.0.2.1 with 1472 bytes of data:",
          *["Packet needs to be fragmented but DF set."] * 4], 1499),
        (["Ping wird ausgeführt für 192.0.2.1 mit 1472 Bytes Daten:",
          *["Paket müsste fragmentiert werden, DF-Flag ist jedoch gesetzt."] * 4], 1499),
        (["Envoi d’une requête 'Ping'  192.0.2.1 avec 1472 octets de données :",
          *["Le paquet doit être fragmenté mais paramétré DF."] * 4], 1499),
    ],
    ids=["Linux", "older Linux", "IPv6", "macOS", "macOS, local", "Windows", "German", "French"],
)  # fmt: skip
def test_a_reported_mtu_is_no_hole(lines: list[str], mtu: int, tmp_path: Path) -> None:
    """The ICMP message has arrived: TCP learns from it, and what was refused is not lost."""
    path = write(tmp_path / "long.log", "\n".join(lines) + "\n")
    alone = failure(path)
    assert alone.holes == ()
    assert f"at most {mtu} bytes" in str(alone)
    fitted = fit([path, write(tmp_path / "small.log", log("linux", RTTS, 56))])
    assert fitted.holes == ()
    assert f"at most {mtu} bytes" in " ".join(fitted.notes)
    assert fitted.loss is not None
    assert fitted.loss.lost == 0


def probes(lost: dict[int, list[bool]], direction: Direction) -> Measurement:
    """Packets of several lengths in turn."""
    gone = np.array(list(lost.values())).T.ravel()
    sizes: Floats = np.tile(np.array(list(lost), dtype=np.float64), len(gone) // len(lost))
    times: Floats = np.arange(len(gone), dtype=np.float64) * 0.05
    trips = RoundTrips(times[~gone], np.full(int((~gone).sum()), 0.02), 84.0)
    fates = Fates(gone, direction, float(sizes.mean()), 0.05, times, sizes)
    return Measurement(Path("probes.csv"), "probes", trips, (fates,))


@given(
    mtu=st.integers(85, 1499),
    n=st.integers(40, 200),
    loss=st.floats(0, 0.1),
    direction=st.sampled_from(["forward", "reverse", "both"]),
    seed=st.integers(0, 1000),
)
@settings(max_examples=60, derandomize=True, deadline=None)
def test_a_hole_of_any_size_is_found(mtu: int, n: int, loss: float, direction: Direction, seed: int) -> None:
    draws = np.random.default_rng(seed).random((3, n)) < loss
    lost = {84: draws[0].tolist(), mtu: draws[1].tolist(), 1500: [True] * n}
    measured = probes(lost, direction)
    (hole,) = find_holes([measured])
    assert (hole.direction, hole.passes_bytes, hole.vanishes_bytes) == (direction, mtu, 1500)
    # The loss is that of packets that pass.
    (kept,) = outside([hole], measured).fates
    assert (len(kept.lost), int(kept.lost.sum())) == (2 * n, int(draws[:2].sum()))


@given(
    n=st.integers(1, 60),
    loss=st.floats(0, 0.9),
    ber=st.sampled_from([0.0, 1e-5, 1e-4, 1.5e-4]),
    seed=st.integers(0, 10_000),
)
@settings(max_examples=150, derandomize=True, deadline=None)
def test_chance_and_bit_errors_are_no_hole(n: int, loss: float, ber: float, seed: int) -> None:
    """At most one in a hundred such paths looks like one."""
    draws = np.random.default_rng(seed).random((2, n))
    lost = {
        size: (draw < 1 - (1 - loss) * (1 - ber) ** (8 * size)).tolist()
        for size, draw in zip((84, 1500), draws, strict=True)
    }
    if any(lost[1500]) and not all(lost[84]):
        holes = find_holes([probes(lost, "both")])
        assert not any(hole.is_sure for hole in holes)


def test_long_pings_that_are_filtered_are_no_hole(tmp_path: Path) -> None:
    """A transfer's full packets arrive: something ignores long pings, or they vanish on the way back."""
    names = [write(tmp_path / "small.log", log("linux", RTTS, 56)),
             write(tmp_path / "long.log", log("linux", [None] * 20, 1472)),
             write(tmp_path / "result.json", iperf3(50_000_000, 49_900_000, 9))]  # fmt: skip
    fitted = fit(names)
    assert fitted.holes == ()
    assert "long.log" in " ".join(fitted.notes)
    assert fitted.loss is not None
    assert fitted.loss.lost == 0


def test_advice_on_the_scenario_says_it_first(tmp_path: Path) -> None:
    """A fitted scenario keeps it in its table `measurement`."""
    small = write(tmp_path / "small.log", log("linux", RTTS, 56))
    fitted = fit([small, write(tmp_path / "large.log", log("linux", [None] * 20, 1472))])
    found = left_open(document(fitted.scenario))
    assert found is not None
    texts = tuple(unknown.text for unknown in found.unknown)
    told = _mind_first(SimpleNamespace(unknown=texts, buffers=None, rate_assumed=None, readings=()))  # type: ignore[arg-type]
    assert next(told).startswith("A path-MTU black hole there or back: none of 20 packets of 1500 bytes")


def test_the_commands_say_it_first_and_fail(tmp_path: Path) -> None:
    path = write(tmp_path / "hole.json", iperf3())
    done = _airtcp("fit", str(path), "--json", "found.json", folder=tmp_path)
    assert done.returncode == 1
    assert done.stdout.startswith("Only short packets arrive")
    assert not list(tmp_path.glob("*.toml"))
    found = json.loads((tmp_path / "found.json").read_text())
    assert (found["rate_bps"], found["scenario"]) == (None, None)
    assert found["holes"][0]["vanishes_bytes"] == 1500
    advised = _airtcp("advise", str(path), "--json", "advice.json", folder=tmp_path)
    assert json.loads((tmp_path / "advice.json").read_text()) == found
    assert advised.returncode == 1
    assert advised.stdout.startswith("Only short packets arrive")
    compared = _airtcp("compare", str(path), folder=tmp_path)
    assert compared.returncode == 1
    assert compared.stderr.startswith("airtcp: Only short packets arrive")


def _airtcp(*words: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*COMMAND, *words], cwd=folder, capture_output=True, text=True, check=False)


def capture(full: list[bool], first: int = 37, resent: int = 4, shorts: int = 1) -> bytes:
    """A connection, as its sender has captured it: short segments that are acknowledged, and full ones, of
    which `full` says which are; what is not, is sent again and again."""
    packets: list[tuple[float, bytes]] = []

    def add(at_s: float, *, back: bool, flags: int, seq: int, ack: int, length: int = 0) -> None:
        options = bytes.fromhex("020405b4") if flags & 2 else b""
        ports = (5201, 40000) if back else (40000, 5201)
        head = struct.pack("!HHIIBBHHH", *ports, seq, ack, (20 + len(options)) << 2, flags, 65000, 0, 0)
        ends = [bytes([192, 0, 2, 2]), bytes([192, 0, 2, 1])]
        source, to = ends if back else ends[::-1]
        whole = 20 + len(head) + len(options) + length
        ip = struct.pack("!BBHHHBBH", 0x45, 0, whole, len(packets), 0x4000, 64, 6, 0) + source + to
        packets.append((at_s, bytes(12) + b"\x08\x00" + ip + head + options + bytes(length)))

    add(0.0, back=False, flags=2, seq=100, ack=0)
    add(0.02, back=True, flags=0x12, seq=500, ack=101)
    add(0.0201, back=False, flags=0x10, seq=101, ack=501)
    at_s, seq = 0.03, 101
    for _ in range(shorts):
        add(at_s, back=False, flags=0x18, seq=seq, ack=501, length=first)
        seq += first
        add(at_s + 0.02, back=True, flags=0x10, seq=501, ack=seq)
        at_s += 0.03
    acked = seq
    for arrives in full:
        add(at_s, back=False, flags=0x10, seq=seq, ack=501, length=1460)
        seq, at_s = seq + 1460, at_s + 0.001
        acked = seq if arrives else acked
    if any(full):
        add(at_s + 0.02, back=True, flags=0x10, seq=501, ack=acked)
    for n in range(resent):
        at_s += 0.2 * 2**n
        add(at_s, back=False, flags=0x10, seq=acked, ack=501, length=1460)
    records = [struct.pack("<IIII", int(t), int(t % 1 * 1e6), len(p), len(p)) + p for t, p in packets]
    return struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1) + b"".join(records)


@given(
    first=st.integers(1, 1200),
    segments=st.integers(10, 30),
    resent=st.integers(3, 8),
    shorts=st.integers(1, 6),
)
@settings(max_examples=25, derandomize=True, deadline=None)
def test_a_capture_whose_full_segments_are_never_acknowledged(
    first: int, segments: int, resent: int, shorts: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.getbasetemp() / "hole.pcap"
    path.write_bytes(capture([False] * segments, first, resent, shorts))
    (hole,) = failure(path).holes
    assert (hole.direction, hole.vanishes_bytes, hole.sent) == ("forward", 1500, segments + resent)
    assert hole.passes_bytes == max(60, first + 40)


@pytest.mark.parametrize(
    "content",
    [capture([True] * 10, resent=0), capture([True] * 3 + [False] * 7), capture([False] * 10, resent=1)],
)
def test_a_capture_in_which_some_arrive_is_no_hole(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "transfer.pcap"
    path.write_bytes(content)
    assert find_holes([read(path)]) == ()


SS = (
    "ESTAB 0 0 192.0.2.1:37660 192.0.2.2:5201\n\t cubic rto:204 rtt:20.1/0.05 mss:1448 cwnd:13 "
    "bytes_sent:164 bytes_acked:165 segs_out:7 data_segs_out:3 delivery_rate 2.5Mbps minrtt:20\n"
    "ESTAB 0 44888 192.0.2.1:37668 192.0.2.2:5201\n\t cubic rto:3264 backoff:4 rtt:20.2/0.01 mss:1448 cwnd:1 "
    "bytes_sent:23205 bytes_retrans:5792 bytes_acked:{acked} segs_out:19 data_segs_out:17 "
    "delivery_rate 2.6Mbps busy:3276ms unacked:{unacked} retrans:1/4 lost:12 minrtt:20\n"
)


@pytest.mark.parametrize("acked", [38, 900])
def test_a_connection_that_sends_the_same_again(acked: int, tmp_path: Path) -> None:
    """`ss -ti` of it shows the rate at which short segments were acknowledged, which is none of the path."""
    text = "".join(f"17000000{n:02}.5\n{SS.format(acked=acked, unacked=12)}" for n in range(4))
    (hole,) = failure(write(tmp_path / "ss.txt", text)).holes
    assert (hole.direction, hole.vanishes_bytes, hole.sent) == ("forward", 1500, 16)
    carried = "".join(f"17000000{n:02}.5\n{SS.format(acked=17414 + n, unacked=1)}" for n in range(4))
    assert fit(write(tmp_path / "carried.txt", carried)).holes == ()
