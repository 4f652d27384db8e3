"""What sends probes: over the loopback, from a fake `ping`, and from packets made by hand."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from io import StringIO
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from airtcp.fit.detect import read
from airtcp.fit.holes import find_holes
from airtcp.measure import icmp, probing
from airtcp.measure.book import Book, Probe, row, sparkline
from airtcp.measure.icmp import Icmp, checksum
from airtcp.measure.load import LoadError, iperf3
from airtcp.measure.measuring import Wanted, plan
from airtcp.measure.peer import Arrivals, Peer
from airtcp.measure.ping_program import PingProgram
from airtcp.measure.prober import Answer, ProbeError, Prober
from airtcp.measure.server import open_socket, serve
from airtcp.measure.show import LiveTable
from airtcp.measure.sockets import Host, resolve
from airtcp.measure.tcp_probe import TcpProbe
from airtcp.measure.trains import MANY, MOST, Trains, send_trains

LOOPBACK = Host("localhost", socket.AF_INET, "127.0.0.1")
TOKEN = b"a token of the tests"


@pytest.fixture
def port() -> Iterator[int]:
    """Of a server that answers."""
    opened = open_socket("127.0.0.1", 0)
    end = threading.Event()

    def answer() -> None:
        for _ in serve(opened, TOKEN, 1e9):
            if end.is_set():
                return

    thread = threading.Thread(target=answer)
    thread.start()
    yield int(opened.getsockname()[1])
    end.set()
    thread.join()
    opened.close()


def probe_for(prober: Prober, seconds: float, sizes: tuple[int, ...] = (84, 1500)) -> Book:
    book = Book("none")
    probing.probe(prober, book, sizes, 0.02, lambda elapsed_s: elapsed_s < seconds, lambda: None)
    probing.await_late(prober, book)
    return book


def test_each_probe_of_a_peer_has_its_delays_each_way(port: int) -> None:
    peer = Peer(LOOPBACK, port, TOKEN)
    book = probe_for(peer, 0.3)
    peer.ask_arrivals()
    assert len(book.probes) >= 10
    for sequence, each in book.probes.items():
        assert peer.has_arrived(sequence)
        assert each.answer is not None
        assert each.answer.there_ns is not None
        assert each.answer.rtt_ns > 0
    assert peer.clock_error_ms == 0
    peer.close()


def test_trains_go_both_ways(port: int) -> None:
    peer = Peer(LOOPBACK, port, TOKEN)
    trains = Trains([peer.train_there(20, 1500)], [peer.train_back(30, 1500)])
    assert trains.there[0].came == 20
    assert trains.back[0].came == 30
    lines = list(trains.lines())
    assert len(lines) == 2 + 50
    peer.close()


@pytest.mark.parametrize(("spread_ns", "expected"), [(0, MANY), (300_000, MOST)])
def test_trains_that_disagree_are_followed_by_more(
    spread_ns: int, expected: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a packet a millisecond; or some of the trains are quicker."""

    class Fake:
        trains = 0

        def train_there(self, count: int, ip_bytes: int) -> Arrivals:
            self.trains += 1
            spacing_ns = 1_000_000 - spread_ns * (self.trains // 2 % 2)
            return Arrivals(ip_bytes, tuple((index, 0, index * spacing_ns) for index in range(count)))

        train_back = train_there

    monkeypatch.setattr("airtcp.measure.trains.time.sleep", lambda _: None)
    trains = Trains()
    send_trains(Fake(), 100, trains, lambda _: None)  # type: ignore[arg-type]
    longest = [sum(len(each.packets) == 256 for each in way) for way in (trains.there, trains.back)]
    assert longest == [expected, expected]


def test_a_token_that_is_another_s_gets_no_answer(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("airtcp.measure.peer.ANSWER_S", 0.02)
    monkeypatch.setattr("airtcp.measure.peer.TRIES", 2)
    with pytest.raises(ProbeError, match="no answer at localhost"):
        Peer(LOOPBACK, port, b"not the token here")


def test_path_mtu_is_found_without_a_word_from_any_router(tmp_path: Path) -> None:
    class Path1437:
        name, has_sizes, host = "fake", True, LOOPBACK

        def __init__(self) -> None:
            self.answered: list[Answer] = []
            self.pair = socket.socketpair()
            self.next = 0

        def fileno(self) -> int:
            return self.pair[0].fileno()

        def send(self, ip_bytes: int) -> int:
            self.next += 1
            if ip_bytes <= 1437:
                self.answered.append(Answer(self.next, 1000))
            return self.next

        def answers(self) -> Iterator[Answer]:
            while self.answered:
                yield self.answered.pop()

        def close(self) -> None: ...

    book = Book("search")
    assert probing.path_mtu(Path1437(), book, 0.01) == 1437
    log = tmp_path / "mtu.csv"
    log.write_text("\n".join(book.lines({})))
    (hole,) = find_holes([read(log)])
    assert (hole.direction, hole.passes_bytes, hole.vanishes_bytes) == ("both", 1437, 1438)
    assert hole.is_sure
    # Once a router tells it, TCP knows, too.
    log.write_text("\n".join(book.lines({"told": "1437"})))
    assert find_holes([read(log)]) == ()


def test_icmp_probes_the_loopback() -> None:
    try:
        prober = Icmp(LOOPBACK)
    except ProbeError as error:
        pytest.skip(str(error))
    book = probe_for(prober, 0.2)
    assert all(each.answer for each in book.probes.values())
    prober.close()


@given(data=st.binary(max_size=120))
@settings(max_examples=300)
def test_what_is_no_answer_to_a_ping_is_none(data: bytes) -> None:
    prober = Icmp.__new__(Icmp)
    prober.host, prober._mark, prober._next, prober._identifier = LOOPBACK, b"12345678", 5, 1
    for is_raw in (False, True):
        prober._is_raw = is_raw
        assert prober._answer(data, 10**18) is None


def test_an_answer_to_a_ping() -> None:
    prober = Icmp.__new__(Icmp)
    prober.host, prober._mark, prober._next, prober._identifier = LOOPBACK, b"12345678", 5, 1
    prober._is_raw = False
    reply = icmp._HEADER.pack(0, 0, 0, 1, 4) + icmp._BODY.pack(b"12345678", 4, 1000)
    assert prober._answer(reply, 5000) == Answer(4, 4000)
    for sequence, mark, received in ((5, b"12345678", 5000), (4, b"another!", 5000), (4, b"12345678", 10)):
        reply = icmp._HEADER.pack(0, 0, 0, 1, 4) + icmp._BODY.pack(mark, sequence, 1000)
        assert prober._answer(reply, received) is None


def test_the_checksum_of_rfc_1071() -> None:
    assert checksum(bytes.fromhex("0001f203f4f5f6f7")) == ~0xDDF2 & 0xFFFF


def test_tcp_handshakes_are_probes_where_there_is_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    listener = socket.create_server(("127.0.0.1", 0))
    monkeypatch.setattr("airtcp.measure.tcp_probe.PORTS", (listener.getsockname()[1],))
    prober = TcpProbe(LOOPBACK)
    book = probe_for(prober, 0.2, (84,))
    assert len(book.probes) > 5
    assert all(each.answer for each in book.probes.values())
    prober.close()
    listener.close()


def test_the_program_ping(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = tmp_path / "ping"
    fake.write_text(
        "#!/bin/sh\n"
        "echo 'PING 127.0.0.1 (127.0.0.1) 56(84) bytes of data.'\n"
        'say() { echo "64 bytes from 127.0.0.1: icmp_seq=$1 ttl=64 time=1$1.5 ms"; sleep 0.02; }\n'
        "say 1; say 2; say 4; say 5; say 6; say 7; say 8\n"
        "sleep 5\n"
    )
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    prober, book = PingProgram(LOOPBACK, 0.02), Book("none")
    # The last three may yet be overtaken by those before.
    for goes_on in (
        lambda elapsed_s: len(book.probes) < 5 and elapsed_s < 20,
        lambda elapsed_s: elapsed_s < 0.1,
    ):
        probing.probe(prober, book, (84,), 0.02, goes_on, lambda: None)
    probing.await_late(prober, book)
    probes = list(book.probes.values())
    assert [each.answer is not None for each in probes] == [True, True, False, True, True]
    assert probes[0].answer is not None
    assert probes[0].answer.rtt_ns == 11_500_000
    prober.close()


def test_no_program_ping(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(ProbeError, match="is not installed"):
        PingProgram(LOOPBACK, 0.1)


def test_a_name_that_is_none() -> None:
    with pytest.raises((OSError, UnicodeError)):
        resolve("no-such-host.invalid")


def test_the_book_s_fates() -> None:
    book = Book("there")
    for sequence, (answer, arrived) in enumerate(
        [(Answer(0, 20_000_000, 9_000_000, 11_000_000), True), (None, False), (None, True), (None, None)]
    ):
        book.sent(sequence, sequence * 50_000_000, 84)
        probe = book.probes[sequence]
        probe.answer, probe.has_arrived = answer, arrived
    assert list(book.lines({"host": "h"}))[1:] == [
        "# host=h load=there began_s=0.000",
        "time_s,bytes,rtt_ms,there_ms,back_ms,lost",
        "0.000000,84,20.000,9.000,11.000,",
        "0.050000,84,,,,there",
        "0.100000,84,,,,back",
        "0.150000,84,,,,somewhere",
    ]
    shown = row(list(book.probes.values()), 10**12)
    assert shown is not None
    assert (shown.sent, shown.lost, shown.lost_there, shown.lost_back) == (4, 3, 1, 1)
    assert shown.line == "▁×××"


def test_what_may_be_under_way_is_not_shown_as_lost() -> None:
    now = time.time_ns()
    assert row([Probe(now, 84)], now - 1) is None


def test_a_sparkline() -> None:
    assert sparkline([10.0, None, 20.0, 30.0]) == "▁×▅█"
    assert sparkline([20.0, 20.1]) == "▁▁"
    assert sparkline([None, None]) == "××"
    assert sparkline([]) == ""


def test_the_live_table_has_a_row_a_size() -> None:
    written = StringIO()
    console = Console(file=written, force_terminal=True, width=120)
    book = Book("none")
    for sequence in range(4):
        book.sent(sequence, sequence, (84, 1500)[sequence % 2])
    book.answered(Answer(0, 20_000_000))
    book.answered(Answer(1, 25_000_000))
    with LiveTable(console) as shown:
        shown.phase("idle", 60)
        shown.update(book)
        shown.note("a note")
    told = written.getvalue()
    assert "84 B" in told
    assert "1 (50.0%)" in told
    assert "▁×" in told
    assert "Ctrl-C keeps" in told
    assert "Note: a note" in told


def test_iperf3_s_complaint_is_handed_on(tmp_path: Path) -> None:
    with pytest.raises(LoadError, match=r"iperf3 there: .+"):
        iperf3(LOOPBACK, 1, "there", 1, tmp_path / "result.json", lambda runs: _until(lambda: not runs()))
    assert not (tmp_path / "result.json").exists()


def _until(is_over: Callable[[], bool]) -> None:
    while not is_over():
        time.sleep(0.02)


def test_what_will_be_sent_is_said_beforehand(tmp_path: Path) -> None:
    alone = plan(Wanted(LOOPBACK, tmp_path, for_s=10))
    assert alone == [
        "10 s of probes, 20 a second, small and full-sized in turn: 158 kB in each direction",
        "16 pings for ECN",
    ]
    all_of_it = plan(Wanted(LOOPBACK, tmp_path, token=TOKEN, iperf3_port=5201))
    assert [line.split()[0] for line in all_of_it] == ["60", "16", "trains", "60", "iperf3"]
    assert "64 MB" in all_of_it[3]
    assert len(plan(Wanted(LOOPBACK, tmp_path, token=TOKEN, dense_s=0))) == 3
