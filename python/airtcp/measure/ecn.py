"""Whether routers leave ECN's codepoints alone, and whether a full queue marks (RFC 3168 §5).

Hosts answer a ping with the codepoint that it had on arrival. So a ping with CE, set here on purpose, shows
whether a mark survives both ways; if it does, one with ECT(0) that comes back with CE was marked by a router.
"""

from __future__ import annotations

import time
from collections import Counter

from airtcp.measure.book import Book
from airtcp.measure.icmp import Icmp
from airtcp.measure.probing import await_late, listen
from airtcp.measure.sockets import SMALL_PAYLOAD, Host

NOT_ECT, ECT_0, CE = 0b00, 0b10, 0b11
TRIES = 8
INTERVAL_S = 0.1
LEAST = 10
"""Answers without which nothing is said of a full queue."""
HARM = "controllers that slow down for marks alone (spectcp, jersey, new-jersey) would not slow down"


class EcnPath:
    """Pings of its own, beside the others."""

    def __init__(self, host: Host) -> None:
        """# Raises
        ProbeError: this system allows no ICMP socket."""
        self._pings = Icmp(host)
        self._size = SMALL_PAYLOAD + host.header_bytes
        self._beside = Book("ecn")
        self._next_s = 0.0
        self.keeps_marks = False
        """Whether CE was seen to come back."""

    def on_purpose(self) -> str:
        """Sends each codepoint some times; returns what the path does to CE."""
        sent: dict[int, int] = {}
        book = Book("ecn")
        for _ in range(TRIES):
            for codepoint in (NOT_ECT, CE):
                if (sequence := self._send(book, codepoint)) is not None:
                    sent[sequence] = codepoint
                listen(self._pings, book, INTERVAL_S / 4)
        await_late(self._pings, book)
        came = [(sent[n], each.answer.ecn) for n, each in book.probes.items() if each.answer]
        self.keeps_marks = (CE, CE) in came
        return said_of_marks(came)

    def beside(self) -> None:
        """Sends an ECT(0) ping if it is time; to be called again and again while the path is full."""
        if time.monotonic() >= self._next_s:
            self._next_s = time.monotonic() + INTERVAL_S
            self._send(self._beside, ECT_0)
        listen(self._pings, self._beside, 0.0)

    def marked(self) -> str:
        """Returns whether the pings since the last call were marked."""
        await_late(self._pings, self._beside)
        found = Counter(each.answer.ecn for each in self._beside.probes.values() if each.answer)
        self._beside.probes.clear()
        return said_of_a_full_path(found[CE], found.total())

    def close(self) -> None:
        self._pings.close()

    def _send(self, book: Book, codepoint: int) -> int | None:
        self._pings.set_ecn(codepoint)
        sent_ns = time.time_ns()
        sequence = self._pings.send(self._size)
        if sequence is not None:
            book.sent(sequence, sent_ns, self._size)
        return sequence


def said_of_marks(came: list[tuple[int, int | None]]) -> str:
    """`came` has the codepoint of each answered ping, as it was sent and as it came back."""
    marked = [back for sent, back in came if sent == CE]
    if CE in marked:
        return "ECN: marks survive: CE, set on purpose, comes back"
    if marked:
        return f"ECN: CE, set on purpose, comes back cleared, by a router or by the host: {HARM}"
    if came:
        return f"ECN: pings with CE get no reply, others do: {HARM}"
    return ""


def said_of_a_full_path(marked: int, answered: int) -> str:
    if marked:
        return f"ECN: {marked} of {answered} pings were marked while the path was full: its bottleneck marks"
    if answered < LEAST:
        return ""
    return f"ECN: none of {answered} pings was marked while the path was full: {HARM}"
