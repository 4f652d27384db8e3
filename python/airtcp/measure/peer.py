"""The client of `airtcp measure --serve`: probes with a known fate in each direction, and packet trains."""

from __future__ import annotations

import os
import select
import socket
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean

from airtcp.measure import clock, wire
from airtcp.measure.prober import Answer, ProbeError
from airtcp.measure.sockets import Host, prepare, receive
from airtcp.measure.wire import Kind, Message, message

ANSWER_S = 0.7
TRIES = 10
QUIET_S = 0.5
"""A train is over after this time plus a few round trips without any of its packets."""
MOST_TRAINS = 1000
_BOOKED = 1 << 16


@dataclass(frozen=True)
class Arrivals:
    """A train's arrivals: index, times of sending and arrival (None: lost) in ns, each by its host's
    clock."""

    length: int
    """Length of the IP packets, in bytes."""
    packets: tuple[tuple[int, int, int | None], ...]

    @property
    def began_ns(self) -> int:
        """When its first packet was sent."""
        return min(sent_ns for _, sent_ns, _ in self.packets)

    @property
    def took_s(self) -> float:
        """The time from the first arrival to the last."""
        came = [at_ns for _, _, at_ns in self.packets if at_ns is not None]
        return (max(came) - min(came)) / 1e9 if came else 0.0

    @property
    def came(self) -> int:
        return sum(at_ns is not None for _, _, at_ns in self.packets)

    @property
    def spacing_ns(self) -> float | None:
        """The mean time between arrivals of adjacent packets; None if there are none."""
        pairs = pairwise(at_ns for _, _, at_ns in self.packets)
        times = [later - at for at, later in pairs if at is not None and later is not None]
        return fmean(times) if times else None


class Peer:
    """A session with a server."""

    name = "airtcp"
    has_sizes = True

    def __init__(self, host: Host, port: int, token: bytes) -> None:
        """# Raises
        ProbeError: nobody answers, or not to us."""
        self.host = host
        self._to = host.at(port)
        self._socket = socket.socket(host.family, socket.SOCK_DGRAM)
        prepare(self._socket)
        self._poll = select.poll()
        self._poll.register(self._socket, select.POLLIN)
        self._next = 0
        self._next_train = 0
        self._answers: deque[Answer] = deque(maxlen=_BOOKED)
        self._seen: dict[int, bool] = {}
        """Probes that the server has reported as arrived or not."""
        self.rtt_s = ANSWER_S
        self._session = 0
        self._key = token
        try:
            self._open(token, port)
        except ProbeError:
            self._socket.close()
            raise

    def fileno(self) -> int:
        return self._socket.fileno()

    def send(self, ip_bytes: int) -> int | None:
        if self._next >= wire.MOST_SEQUENCES:
            return None
        sequence = self._next
        self._next += 1
        body = wire.PROBE.pack(sequence, time.time_ns())
        return sequence if self._send(Kind.PROBE, body, ip_bytes - self.host.header_bytes) else None

    def answers(self) -> Iterator[Answer]:
        while (packet := receive(self._socket)) is not None:
            self._take(packet)
        while self._answers:
            yield self._answers.popleft()

    def close(self) -> None:
        self._send(Kind.CLOSE, b"")
        self._socket.close()

    def has_arrived(self, sequence: int) -> bool | None:
        """Returns whether it arrived at the server; None if unknown."""
        return self._seen.get(sequence)

    def ask_arrivals(self, tries: int = TRIES) -> None:
        """Asks which of all probes arrived; those without an answer stay unknown."""
        part = 8 * wire.ARRIVALS_BYTES
        for first in range(0, self._next, part):
            asked = wire.ASK.pack(first)
            told = self._ask(Kind.ASK, asked, Kind.ARRIVALS, asked, tries)
            if told is None:
                return
            bits = told.body[wire.ASK.size :]
            for place in range(min(part, self._next - first)):
                byte = bits[place // 8] if place // 8 < len(bits) else 0
                self._seen[first + place] = bool(byte >> place % 8 & 1)

    def train_there(self, count: int, ip_bytes: int) -> Arrivals:
        """Sends a train and asks when its packets arrived.

        # Raises
        ProbeError: the server does not answer.
        """
        train, length = self._new_train(), ip_bytes - self.host.header_bytes
        sent = []
        for index in range(count):
            now_ns = time.time_ns()
            body = wire.TRAIN.pack(train, index, now_ns)
            data = message(Kind.TRAIN, self._session, self._key, body, length)
            self._send_all(data)
            sent.append(now_ns)
        came = self._times(train, count)
        return Arrivals(ip_bytes, tuple((index, at, came.get(index)) for index, at in enumerate(sent)))

    def train_back(self, count: int, ip_bytes: int) -> Arrivals:
        """Has the server send a train.

        # Raises
        ProbeError: the server sends none.
        """
        train, length = self._new_train(), ip_bytes - self.host.header_bytes
        came: dict[int, tuple[int, int]] = {}
        for _ in range(TRIES):
            self._send(Kind.SEND, wire.SEND.pack(train, count, length))
            wait_s = self._collect(train, count, came)
            if came:
                break
            time.sleep(wait_s)
        if not came:
            raise ProbeError("the server sent no train")
        # A lost packet was sent between its neighbours.
        usual = min((at - sent for sent, at in came.values()), default=0)
        packets, latest = [], 0
        for index in range(count):
            sent_ns, at_ns = came.get(index, (latest, None))
            latest = sent_ns or latest or next(iter(came.values()))[1] - usual
            packets.append((index, latest, at_ns))
        return Arrivals(ip_bytes, tuple(packets))

    def _open(self, token: bytes, port: int) -> None:
        nonce = os.urandom(wire.NONCE_BYTES)
        began_s = time.monotonic()
        hello = wire.HELLO.pack(nonce)
        told = self._ask(Kind.HELLO, hello, Kind.COOKIE, nonce, TRIES, wire.HELLO_BYTES)
        if told is None:
            raise ProbeError(
                f"no answer at {self.host.name}, UDP port {port}: is `airtcp measure --serve` running there, "
                "with this token and an address that reaches it (--listen)?"
            )
        self.rtt_s = time.monotonic() - began_s
        cookie = told.body[: wire.COOKIE.size]
        opened = self._ask(Kind.OPEN, cookie, Kind.OPENED, nonce, TRIES)
        if opened is None or opened.kind == Kind.REFUSED:
            raise ProbeError(f"the server at {self.host.name} has too many clients: try again later")
        _, own, machine, error_us, self.limit_bps = wire.OPENED.unpack_from(opened.body)
        self._session, self._key = opened.session, wire.session_key(token, nonce, own)
        self.clock_error_ms = clock.between_ms(
            clock.error_us(), error_us, is_one_machine=machine == clock.machine()
        )

    def _new_train(self) -> int:
        if self._next_train >= MOST_TRAINS:
            raise ProbeError("too many trains")
        self._next_train += 1
        return self._next_train - 1

    def _times(self, train: int, count: int) -> dict[int, int]:
        """Returns the arrival time of each packet at the server, once no more arrive."""
        known, last_change_s, total = -1, time.monotonic(), 0
        patience_s = QUIET_S + 2 * self.rtt_s
        while time.monotonic() - last_change_s < patience_s and known < count:
            total = self._arrived(train, 0)[0]
            if total != known:
                known, last_change_s = total, time.monotonic()
            time.sleep(min(0.1, self.rtt_s))
        came: dict[int, int] = {}
        for first in range(0, total, wire.TIMES_AT_ONCE):
            came.update(self._arrived(train, first)[1])
        return came

    def _arrived(self, train: int, first: int) -> tuple[int, dict[int, int]]:
        asked = wire.TIMES.pack(train, first)
        told = self._ask(Kind.TIMES, asked, Kind.ARRIVED, asked, TRIES)
        if told is None:
            raise ProbeError("the server stopped answering")
        _, _, total = wire.ARRIVED.unpack_from(told.body)
        parts = told.body[wire.ARRIVED.size :]
        whole = parts[: len(parts) // wire.ARRIVAL.size * wire.ARRIVAL.size]
        return total, dict(wire.ARRIVAL.iter_unpack(whole))

    def _collect(self, train: int, count: int, came: dict[int, tuple[int, int]]) -> float:
        """Collects the train's packets until no more arrive. Returns how long to wait before asking again."""
        until_s = time.monotonic() + ANSWER_S + 4 * self.rtt_s
        while time.monotonic() < until_s and len(came) < count:
            self._poll.poll(50)
            while (packet := receive(self._socket)) is not None:
                found = self._take(packet)
                if found is None:
                    continue
                if found.kind == Kind.WAIT and wire.WAIT.unpack_from(found.body)[0] == train:
                    return float(min(wire.WAIT.unpack_from(found.body)[1], 60_000) / 1e3)
                if found.kind == Kind.TRAIN:
                    its, index, sent_ns = wire.TRAIN.unpack_from(found.body)
                    if its == train and index < count:
                        came.setdefault(index, (sent_ns, packet[1]))
                        until_s = time.monotonic() + QUIET_S + 2 * self.rtt_s
        return 0.0

    def _ask(
        self, kind: Kind, body: bytes, wanted: Kind, begins: bytes, tries: int, length: int = 0
    ) -> Message | None:
        """Returns the answer whose body begins with `begins`; asks again if none comes. None: no answer."""
        for _ in range(tries):
            self._send(kind, body, length)
            until_s = time.monotonic() + ANSWER_S + 2 * min(self.rtt_s, 2.0)
            while (left_s := until_s - time.monotonic()) > 0:
                self._poll.poll(left_s * 1e3)
                while (packet := receive(self._socket)) is not None:
                    found = self._take(packet)
                    if found is None or not found.body.startswith(begins):
                        continue
                    if found.kind == wanted or (found.kind == Kind.REFUSED and kind == Kind.OPEN):
                        return found
        return None

    def _take(self, packet: tuple[bytes, int, tuple[object, ...]]) -> Message | None:
        """Returns a message from the server; an answer to a probe is recorded instead."""
        data, received_ns, source = packet
        if str(source[0]).partition("%")[0] != self.host.address.partition("%")[0]:
            return None
        found = wire.parse(data)
        if found is None or not found.is_genuine(self._key):
            return None
        if self._session and found.session != self._session:
            return None
        if found.kind == Kind.ECHO:
            self._echo(found, received_ns)
            return None
        return found

    def _echo(self, found: Message, received_ns: int) -> None:
        sequence, sent_ns, there_at_ns, replied_ns, window = wire.ECHO.unpack_from(found.body)
        if sequence >= self._next:
            return
        there_ns, back_ns = there_at_ns - sent_ns, received_ns - replied_ns
        rtt_ns = received_ns - sent_ns - (replied_ns - there_at_ns)
        if rtt_ns < 0:
            return
        self._seen[sequence] = True
        for back in range(min(64, sequence + 1)):
            if window >> back & 1:
                self._seen[sequence - back] = True
            else:
                self._seen.setdefault(sequence - back, False)
        self._answers.append(Answer(sequence, rtt_ns, there_ns, back_ns))

    def _send(self, kind: Kind, body: bytes, length: int = 0) -> bool:
        try:
            self._socket.sendto(message(kind, self._session, self._key, body, length), self._to)
        except OSError:
            return False
        return True

    def _send_all(self, data: bytes) -> None:
        """Waits while the device has no room."""
        for _ in range(1000):
            try:
                self._socket.sendto(data, self._to)
                return
            except BlockingIOError:
                select.select([], [self._socket], [], 0.1)
            except OSError:
                return
