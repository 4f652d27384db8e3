"""`airtcp measure --serve`: answers those who know the token, within limits.

It has one thread and one socket. The state per client is bounded (256 KiB), and so is the number of clients;
nobody is sent more than the limit, nor anything before their address is verified.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import select
import socket
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from airtcp.measure import clock, wire
from airtcp.measure.sockets import prepare, receive
from airtcp.measure.wire import Kind, Message, message

Address = tuple[object, ...]

MOST_SESSIONS = 32
MOST_OF_AN_ADDRESS = 4
SILENT_S = 60.0
"""A session without messages for this long is forgotten."""
COOKIE_S = 10
"""A cookie is valid for one to two of these."""
BURST_S = 1.0
"""Seconds' worth of the limit that may be sent at once; at least a train."""
GREETINGS_A_SECOND = 50
"""Limit on the HELLOs and OPENs answered."""
AT_ONCE = 32
"""Train packets sent before incoming messages are read again."""
LONGEST_IN_A_TRAIN = 9000
_KEPT_TRAINS = 2


@dataclass
class Bucket:
    """A token bucket with a rate and a burst."""

    rate: float
    room: float
    left: float
    at_s: float

    def take(self, amount: float, now_s: float) -> bool:
        self.left = min(self.room, self.left + (now_s - self.at_s) * self.rate)
        self.at_s = now_s
        if amount > self.left:
            return False
        self.left -= amount
        return True

    def wait_s(self, amount: float) -> float:
        """Returns the time until `amount` is available."""
        return max(0.0, (min(amount, self.room) - self.left) / self.rate)


@dataclass
class Session:
    """The state of a client."""

    number: int
    key: bytes
    address: Address
    nonce: bytes
    opened: bytes
    """The answer to OPEN, in case that is repeated."""
    bucket: Bucket
    heard_s: float
    arrived: bytearray = field(default_factory=bytearray)
    """One bit per sequence number, up to the highest."""
    trains: OrderedDict[int, dict[int, int]] = field(default_factory=OrderedDict)
    """When each packet of the last trains arrived."""
    sent_trains: int = -1
    """The latest one requested."""


class Received(NamedTuple):
    """When a message arrived, by the wall clock and by the monotonic one."""

    received_ns: int
    now_s: float


class Server:
    """Answers datagrams. The caller supplies the time, so tests need no clock."""

    def __init__(self, token: bytes, send: Callable[[bytes, Address], bool], limit_bps: float) -> None:
        """`send` returns False if there is no room for a packet yet."""
        self.token = token
        self.send = send
        self.limit = limit_bps / 8
        self.sessions: dict[int, Session] = {}
        self.outgoing: deque[tuple[Session, int, int, int, int]] = deque(maxlen=MOST_SESSIONS)
        """Trains in progress: session, train, next index, count, length."""
        self.counts = {"answered": 0, "dropped": 0}
        self._secret = os.urandom(32)
        self._greetings = Bucket(GREETINGS_A_SECOND, GREETINGS_A_SECOND, GREETINGS_A_SECOND, 0.0)
        self._machine = clock.machine()

    def handle(self, data: bytes, source: Address, received_ns: int, now_s: float) -> None:
        """Handles a datagram. What is forged or too much is dropped silently."""
        found = wire.parse(data)
        done = found is not None and self._handle(found, source, received_ns, now_s)
        self.counts["answered" if done else "dropped"] += 1

    def tick(self, now_s: float) -> None:
        """Forgets silent clients."""
        for session in [each for each in self.sessions.values() if now_s - each.heard_s > SILENT_S]:
            del self.sessions[session.number]

    def send_trains(self) -> None:
        """Sends some packets of the trains in progress."""
        for _ in range(min(AT_ONCE, sum(count - index for _, _, index, count, _ in self.outgoing))):
            session, train, index, count, length = self.outgoing.popleft()
            body = wire.TRAIN.pack(train, index, time.time_ns())
            if not self.send(message(Kind.TRAIN, session.number, session.key, body, length), session.address):
                self.outgoing.appendleft((session, train, index, count, length))
                return
            if index + 1 < count:
                self.outgoing.appendleft((session, train, index + 1, count, length))
            if not self.outgoing:
                return

    def _handle(self, found: Message, source: Address, received_ns: int, now_s: float) -> bool:
        if found.kind in (Kind.HELLO, Kind.OPEN):
            return self._greet(found, source, now_s)
        session = self.sessions.get(found.session)
        if session is None or session.address != source or not found.is_genuine(session.key):
            return False
        session.heard_s = now_s
        handlers = {
            Kind.PROBE: self._probe,
            Kind.TRAIN: self._train,
            Kind.ASK: self._ask,
            Kind.TIMES: self._times,
            Kind.SEND: self._send,
            Kind.CLOSE: self._close,
        }
        handler = handlers.get(found.kind)
        return handler is not None and handler(session, found, Received(received_ns, now_s))

    def _greet(self, found: Message, source: Address, now_s: float) -> bool:
        if found.session != 0 or not found.is_genuine(self.token) or not self._greetings.take(1, now_s):
            return False
        if found.kind == Kind.HELLO:
            if len(found.signed) + wire.CODE_BYTES < wire.HELLO_BYTES:
                return False
            (nonce,) = wire.HELLO.unpack_from(found.body)
            body = wire.COOKIE.pack(nonce, self._cookie(source, nonce, now_s))
            return self.send(message(Kind.COOKIE, 0, self.token, body), source)
        nonce, cookie = wire.COOKIE.unpack_from(found.body)
        valid = (self._cookie(source, nonce, now_s), self._cookie(source, nonce, now_s - COOKIE_S))
        if not any(hmac.compare_digest(cookie, each) for each in valid):
            return False
        return self.send(self._open(nonce, source, now_s), source)

    def _cookie(self, source: Address, nonce: bytes, now_s: float) -> bytes:
        told = f"{source}|{int(now_s / COOKIE_S)}|".encode() + nonce
        return hmac.digest(self._secret, told, hashlib.sha256)[: wire.COOKIE_BYTES]

    def _open(self, nonce: bytes, source: Address, now_s: float) -> bytes:
        for session in self.sessions.values():
            if session.nonce == nonce and session.address == source:
                return session.opened
        of_address = sum(each.address[0] == source[0] for each in self.sessions.values())
        if len(self.sessions) >= MOST_SESSIONS or of_address >= MOST_OF_AN_ADDRESS:
            return message(Kind.REFUSED, 0, self.token, wire.REFUSED.pack(nonce))
        number = self._free_number()
        own = os.urandom(wire.NONCE_BYTES)
        limit_bps = round(8 * self.limit)
        body = wire.OPENED.pack(nonce, own, self._machine, clock.error_us(), limit_bps)
        opened = message(Kind.OPENED, number, self.token, body)
        room = max(self.limit * BURST_S, wire.MOST_IN_A_TRAIN * 1500.0)
        bucket = Bucket(self.limit, room, room, now_s)
        key = wire.session_key(self.token, nonce, own)
        self.sessions[number] = Session(number, key, source, nonce, opened, bucket, now_s)
        return opened

    def _free_number(self) -> int:
        while True:
            number = int.from_bytes(os.urandom(4), "big")
            if number and number not in self.sessions:
                return number

    def _probe(self, session: Session, found: Message, at: Received) -> bool:
        sequence, sent_ns = wire.PROBE.unpack_from(found.body)
        if sequence >= wire.MOST_SEQUENCES or _has(session.arrived, sequence):
            return False
        _set(session.arrived, sequence)
        length = len(found.signed) + wire.CODE_BYTES
        if not session.bucket.take(length, at.now_s):
            return False
        window = 0
        for back in range(64):
            if _has(session.arrived, sequence - back):
                window |= 1 << back
        times = (sent_ns, at.received_ns, time.time_ns(), window)
        body = wire.ECHO.pack(sequence, *times)
        return self.send(message(Kind.ECHO, session.number, session.key, body, length), session.address)

    def _ask(self, session: Session, found: Message, at: Received) -> bool:
        (first,) = wire.ASK.unpack_from(found.body)
        bits = (
            bytes(session.arrived[first // 8 : first // 8 + wire.ARRIVALS_BYTES]) if first % 8 == 0 else b""
        )
        return self._answer(session, Kind.ARRIVALS, wire.ASK.pack(first) + bits, at.now_s)

    def _times(self, session: Session, found: Message, at: Received) -> bool:
        train, first = wire.TIMES.unpack_from(found.body)
        arrived = session.trains.get(train, {})
        of_part = sorted(arrived.items())[first : first + wire.TIMES_AT_ONCE]
        body = wire.ARRIVED.pack(train, first, len(arrived))
        body += b"".join(wire.ARRIVAL.pack(index, at_ns) for index, at_ns in of_part)
        return self._answer(session, Kind.ARRIVED, body, at.now_s)

    def _send(self, session: Session, found: Message, at: Received) -> bool:
        train, count, length = wire.SEND.unpack_from(found.body)
        least = wire.HEAD.size + wire.TRAIN.size + wire.CODE_BYTES
        if (
            train <= session.sent_trains
            or not 0 < count <= wire.MOST_IN_A_TRAIN
            or not least <= length <= LONGEST_IN_A_TRAIN
        ):
            return False
        if not session.bucket.take(count * length, at.now_s):
            wait_ms = int(1000 * session.bucket.wait_s(count * length)) + 1
            body = wire.WAIT.pack(train, min(wait_ms, 60_000))
            return self.send(message(Kind.WAIT, session.number, session.key, body), session.address)
        if len(self.outgoing) == MOST_SESSIONS:
            return False
        session.sent_trains = train
        self.outgoing.append((session, train, 0, count, length))
        return True

    def _train(self, session: Session, found: Message, at: Received) -> bool:
        train, index, _ = wire.TRAIN.unpack_from(found.body)
        if index >= wire.MOST_IN_A_TRAIN:
            return False
        if train not in session.trains:
            session.trains[train] = {}
            while len(session.trains) > _KEPT_TRAINS:
                session.trains.popitem(last=False)
        session.trains[train].setdefault(index, at.received_ns)
        return True

    def _close(self, session: Session, found: Message, at: Received) -> bool:  # noqa: ARG002 as its like
        del self.sessions[session.number]
        return True

    def _answer(self, session: Session, kind: Kind, body: bytes, now_s: float) -> bool:
        answer = message(kind, session.number, session.key, body)
        return session.bucket.take(len(answer), now_s) and self.send(answer, session.address)


def _has(bits: bytearray, place: int) -> bool:
    return 0 <= place < 8 * len(bits) and bool(bits[place // 8] >> place % 8 & 1)


def _set(bits: bytearray, place: int) -> None:
    if place // 8 >= len(bits):
        bits.extend(bytes(place // 8 + 1 - len(bits)))
    bits[place // 8] |= 1 << place % 8


def open_socket(listen: str, port: int) -> socket.socket:
    """Binds a socket.

    # Raises
    OSError: the address is not this host's, or is in use.
    """
    family, _, _, _, place = socket.getaddrinfo(listen, port, type=socket.SOCK_DGRAM)[0]
    opened = socket.socket(family, socket.SOCK_DGRAM)
    try:
        if family == socket.AF_INET6:
            # Accept IPv4 clients too if it listens on all addresses.
            opened.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        opened.bind(place)
        prepare(opened)
    except OSError:
        opened.close()
        raise
    return opened


def serve(opened: socket.socket, token: bytes, limit_bps: float) -> Iterator[Server]:
    """Answers until the caller stops iterating; yields the server about once a second."""

    def send(data: bytes, to: Address) -> bool:
        try:
            opened.sendto(data, to)
        except BlockingIOError:
            return False
        except OSError:
            # What cannot be sent counts as lost.
            return True
        return True

    server = Server(token, send, limit_bps)
    poll = select.poll()
    poll.register(opened, select.POLLIN)
    told_s = time.monotonic()
    yield server
    while True:
        poll.poll(0 if server.outgoing else 1000)
        for _ in range(AT_ONCE):
            if (packet := receive(opened)) is None:
                break
            data, received_ns, source = packet
            server.handle(data, source, received_ns, time.monotonic())
        server.send_trains()
        if time.monotonic() - told_s >= 1:
            told_s = time.monotonic()
            server.tick(told_s)
            yield server
