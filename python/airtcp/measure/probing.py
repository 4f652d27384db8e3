"""Sends probes evenly and records the answers."""

from __future__ import annotations

import select
import time
from collections.abc import Callable

from airtcp.measure.book import Book
from airtcp.measure.prober import Prober
from airtcp.measure.sockets import device_mtu

LATE_S = 2.0
"""Longest wait for answers after the last probe, but at least four round trips."""
TRIES = 6
LARGEST = 9000
"""No real path takes larger packets, only a loopback."""
SMALLEST = {4: 576, 6: 1280}
"""A path MTU that practically every path has."""


def probe(
    prober: Prober,
    book: Book,
    sizes: tuple[int, ...],
    interval_s: float,
    goes_on: Callable[[float], bool],
    shown: Callable[[], None],
) -> None:
    """Sends packets of these sizes in turn, one each `interval_s`, while `goes_on`, which gets the elapsed
    time."""
    began_s = next_s = time.monotonic()
    turn = 0
    while goes_on(time.monotonic() - began_s):
        if time.monotonic() >= next_s:
            ip_bytes = sizes[turn % len(sizes)]
            turn += 1
            sent_ns = time.time_ns()
            sequence = prober.send(ip_bytes)
            if sequence is not None:
                book.sent(sequence, sent_ns, ip_bytes)
            next_s += interval_s
            # After a long pause (a closed laptop) missed probes are not made up for.
            next_s = max(next_s, time.monotonic() - interval_s)
        listen(prober, book, max(0.0, min(next_s - time.monotonic(), 0.1)))
        shown()


def await_late(prober: Prober, book: Book) -> None:
    """Waits for answers in flight."""
    longest_s = max((p.answer.rtt_ns / 1e9 for p in book.probes.values() if p.answer), default=0.5)
    until_s = time.monotonic() + min(max(0.3, 4 * longest_s), LATE_S)
    while time.monotonic() < until_s and any(p.answer is None for p in list(book.probes.values())[-100:]):
        listen(prober, book, 0.05)


def listen(prober: Prober, book: Book, wait_s: float) -> None:
    """Records the answers that arrive within that time."""
    if wait_s > 0:
        select.select([prober], [], [], wait_s)
    for answer in prober.answers():
        book.answered(answer)


def path_mtu(prober: Prober, book: Book, patience_s: float) -> int | None:
    """Returns the longest packet that is answered, by probes that may not be fragmented; the book keeps them.
    It needs no ICMP from routers.

    None: not even small packets are answered.
    """

    def passes(ip_bytes: int) -> bool:
        for _ in range(TRIES):
            sequence = prober.send(ip_bytes)
            if sequence is None:
                # The kernel knows that it exceeds the path's MTU.
                continue
            book.sent(sequence, time.time_ns(), ip_bytes)
            until_s = time.monotonic() + patience_s
            while time.monotonic() < until_s:
                listen(prober, book, 0.02)
                if any(each.answer for each in book.probes.values() if each.ip_bytes == ip_bytes):
                    return True
        return False

    most = min(device_mtu(prober.host) or LARGEST, LARGEST)
    least = SMALLEST[6 if prober.host.header_bytes > 28 else 4]
    if passes(most):
        return most
    told = device_mtu(prober.host)
    if told is not None and least <= told < most and passes(told):
        return told
    if not passes(least):
        return None
    low, high = least, min(most, told or most)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if passes(middle) else (low, middle)
    return low
