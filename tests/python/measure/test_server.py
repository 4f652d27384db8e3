"""The server of `airtcp measure`: who is answered, what is not, and what it keeps."""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from airtcp.measure import server as serving
from airtcp.measure import wire
from airtcp.measure.server import Address, Server
from airtcp.measure.wire import Kind, Message, message

TOKEN = b"a token of the tests"
HERE: Address = ("192.0.2.1", 4000)


class Net:
    """A server, what it has sent, and a clock."""

    def __init__(self, limit_bps: float = 1e9) -> None:
        self.sent: list[tuple[bytes, Address]] = []
        self.now_s = 100.0
        self.server = Server(TOKEN, self._send, limit_bps)

    def _send(self, data: bytes, to: Address) -> bool:
        self.sent.append((data, to))
        return True

    def tell(self, data: bytes, source: Address = HERE) -> list[Message]:
        """What it answers."""
        before = len(self.sent)
        self.server.handle(data, source, int(self.now_s * 1e9), self.now_s)
        found = [wire.parse(sent) for sent, _ in self.sent[before:]]
        assert None not in found
        return [each for each in found if each is not None]

    def open(self, source: Address = HERE) -> tuple[int, bytes]:
        """A session: its number and key."""
        nonce = os.urandom(wire.NONCE_BYTES)
        (cookie,) = self.tell(hello(nonce), source)
        (opened,) = self.tell(message(Kind.OPEN, 0, TOKEN, cookie.body), source)
        assert opened.kind == Kind.OPENED
        return opened.session, wire.session_key(TOKEN, nonce, wire.OPENED.unpack_from(opened.body)[1])


def hello(nonce: bytes, token: bytes = TOKEN, length: int = wire.HELLO_BYTES) -> bytes:
    return message(Kind.HELLO, 0, token, nonce, length)


def probe(session: int, key: bytes, sequence: int, length: int = 200) -> bytes:
    return message(Kind.PROBE, session, key, wire.PROBE.pack(sequence, 1), length)


def test_a_probe_is_answered_once_and_no_longer_than_it_was() -> None:
    net = Net()
    session, key = net.open()
    (echo,) = net.tell(probe(session, key, 0, 300))
    assert echo.kind == Kind.ECHO
    assert len(net.sent[-1][0]) == 300
    assert echo.is_genuine(key)
    assert net.tell(probe(session, key, 0, 300)) == []


def test_who_does_not_know_the_token_hears_nothing() -> None:
    net = Net()
    session, key = net.open()
    nonce = os.urandom(wire.NONCE_BYTES)
    assert net.tell(hello(nonce, b"another token")) == []
    assert net.tell(probe(session, os.urandom(32), 0)) == []
    assert net.tell(probe(session + 1, key, 0)) == []
    assert net.tell(probe(session, key, 0), ("192.0.2.9", 4000)) == []
    assert net.tell(probe(session, key, 0), ("192.0.2.1", 4001)) == []


def test_no_answer_is_longer_than_what_it_answers_before_the_address_is_proved() -> None:
    net = Net()
    nonce = os.urandom(wire.NONCE_BYTES)
    assert net.tell(hello(nonce, length=0)) == []
    (cookie,) = net.tell(hello(nonce))
    assert len(net.sent[-1][0]) <= wire.HELLO_BYTES
    # The cookie is bound to the address that it was sent to, and to its time.
    opening = message(Kind.OPEN, 0, TOKEN, cookie.body)
    assert net.tell(opening, ("192.0.2.9", 4000)) == []
    net.now_s += 3 * serving.COOKIE_S
    assert net.tell(opening) == []
    assert not net.server.sessions


def test_an_open_that_comes_twice_opens_one_session() -> None:
    net = Net()
    nonce = os.urandom(wire.NONCE_BYTES)
    (cookie,) = net.tell(hello(nonce))
    opening = message(Kind.OPEN, 0, TOKEN, cookie.body)
    assert net.tell(opening) == net.tell(opening)
    assert len(net.server.sessions) == 1


def test_sessions_are_few_and_end() -> None:
    net = Net()
    for port in range(serving.MOST_OF_AN_ADDRESS):
        net.open(("192.0.2.1", 4000 + port))
    nonce = os.urandom(wire.NONCE_BYTES)
    (cookie,) = net.tell(hello(nonce), ("192.0.2.1", 5000))
    (refused,) = net.tell(message(Kind.OPEN, 0, TOKEN, cookie.body), ("192.0.2.1", 5000))
    assert refused.kind == Kind.REFUSED
    for host in range(serving.MOST_SESSIONS - serving.MOST_OF_AN_ADDRESS):
        net.now_s += 0.1
        net.open((f"192.0.3.{host}", 4000))
    assert len(net.server.sessions) == serving.MOST_SESSIONS
    net.now_s += serving.SILENT_S + 1
    net.server.tick(net.now_s)
    assert not net.server.sessions


def test_greetings_are_limited() -> None:
    net = Net()
    answered = sum(len(net.tell(hello(os.urandom(wire.NONCE_BYTES)))) for _ in range(500))
    assert answered == serving.GREETINGS_A_SECOND


def test_which_probes_arrived_can_be_asked() -> None:
    net = Net()
    session, key = net.open()
    for sequence in (0, 1, 9, 8200):
        net.tell(probe(session, key, sequence))
    for first, expected in ((0, {0, 1, 9}), (8 * wire.ARRIVALS_BYTES, {200})):
        (told,) = net.tell(message(Kind.ASK, session, key, wire.ASK.pack(first)))
        bits = told.body[wire.ASK.size :]
        assert {n for n in range(8 * len(bits)) if bits[n // 8] >> n % 8 & 1} == expected
    (far,) = net.tell(message(Kind.ASK, session, key, wire.ASK.pack(0xFFFFFFFF)))
    assert far.body == wire.ASK.pack(0xFFFFFFFF)


def test_a_train_s_arrivals_can_be_asked() -> None:
    net = Net()
    session, key = net.open()
    for index in (0, 1, 3):
        net.now_s += 0.001
        net.tell(message(Kind.TRAIN, session, key, wire.TRAIN.pack(5, index, 1), 500))
    (told,) = net.tell(message(Kind.TIMES, session, key, wire.TIMES.pack(5, 0)))
    assert wire.ARRIVED.unpack_from(told.body) == (5, 0, 3)
    times = dict(wire.ARRIVAL.iter_unpack(told.body[wire.ARRIVED.size :]))
    assert set(times) == {0, 1, 3}
    assert times[3] - times[0] == pytest.approx(2e6, abs=1e3)


def test_a_train_is_sent_once_and_within_the_limit() -> None:
    net = Net(limit_bps=8e6)
    session, key = net.open()

    def ask(train: int) -> list[Message]:
        return net.tell(message(Kind.SEND, session, key, wire.SEND.pack(train, 1000, 1400)))

    assert ask(0) == []
    for _ in range(40):
        net.server.send_trains()
    trains = [wire.parse(data) for data, _ in net.sent if data[0] == Kind.TRAIN]
    assert [wire.TRAIN.unpack_from(each.body)[1] for each in trains if each] == list(range(1000))
    assert ask(0) == []
    assert not net.server.outgoing
    (wait,) = ask(1)
    assert wait.kind == Kind.WAIT
    net.now_s += wire.WAIT.unpack_from(wait.body)[1] / 1e3
    assert ask(1) == []
    assert net.server.outgoing


@given(data=st.binary(max_size=200))
@settings(max_examples=300, derandomize=True)
def test_whatever_strangers_send_is_dropped(data: bytes) -> None:
    net = Net()
    session, _ = net.open()
    assert net.tell(data) == []
    assert net.tell(bytes([Kind.PROBE]) + session.to_bytes(4, "big") + data) == []


@given(
    kinds=st.lists(st.tuples(st.sampled_from(list(Kind)), st.binary(max_size=60)), max_size=40),
    length=st.integers(0, 300),
)
@settings(max_examples=200, derandomize=True, suppress_health_check=list(HealthCheck))
def test_whatever_a_client_with_the_token_sends_memory_is_bounded(
    kinds: list[tuple[Kind, bytes]], length: int
) -> None:
    net = Net()
    session, key = net.open()
    for kind, body in kinds:
        for signer in (key, TOKEN):
            net.tell(message(kind, session if signer is key else 0, signer, body, length))
        net.server.send_trains()
    for each in net.server.sessions.values():
        assert len(each.arrived) <= wire.MOST_SEQUENCES // 8
        assert len(each.trains) <= 2
        assert all(len(train) <= wire.MOST_IN_A_TRAIN for train in each.trains.values())
    assert len(net.server.outgoing) <= serving.MOST_SESSIONS


@given(flip=st.integers(0, 8 * 200 - 1))
@settings(max_examples=100, derandomize=True)
def test_a_bit_that_was_changed_is_noticed(flip: int) -> None:
    net = Net()
    session, key = net.open()
    data = bytearray(probe(session, key, 7, 200))
    data[flip // 8] ^= 1 << flip % 8
    assert net.tell(bytes(data)) == []
