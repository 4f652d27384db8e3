"""Makes a measurement from beginning to end. Except for dense probes, all results are on disk at any time."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Protocol

from airtcp.fit.readers import FileError
from airtcp.fit.readers import trains as trains_log
from airtcp.measure import load, radio
from airtcp.measure.book import Book
from airtcp.measure.choosing import ecn_path, prober_for
from airtcp.measure.ecn import TRIES
from airtcp.measure.peer import Peer
from airtcp.measure.ping_program import PingProgram
from airtcp.measure.prober import ProbeError, Prober
from airtcp.measure.probing import LARGEST, await_late, path_mtu, probe
from airtcp.measure.sockets import SMALL_PAYLOAD, Host, device_mtu
from airtcp.measure.trains import MOST_BYTES, Trains, send_trains

SAVED_EACH_S = 10.0
SLOW_S = 0.01
"""Probes at least this far apart are saved while they go on."""
EACH_BYTES = (SMALL_PAYLOAD + 28 + 1500) / 2
"""Mean size of a probe."""
MTU_PATIENCE_S = 0.5
LAST_TRIES = 3
DENSE_SHARE = 0.5
"""Share of the slower direction's rate, or of the server's limit, that dense probes use. Half of them are
small, so their packet rate is that of full packets filling the link, and they meet the losses that a transfer
meets."""
MOST_DENSE = 2000
"""Limit on dense probes per second."""
MOST_DENSE_BYTES = 64e6
"""Limit on dense probes in each direction, in bytes."""


@dataclass(frozen=True)
class Wanted:
    """What to measure."""

    host: Host
    folder: Path
    for_s: float = 60.0
    per_second: float = 20.0
    load_s: float = 10.0
    iperf3_port: int | None = None
    port: int = 0
    """UDP port of our server."""
    token: bytes | None = None
    """None if there is no server of ours."""
    dense_s: float = 60.0
    """Duration of the dense probes, if there is a server."""


class Watch(Protocol):
    """An observer of the measurement."""

    def phase(self, title: str, of_s: float | None = None) -> None:
        """A phase of that duration begins."""

    def update(self, book: Book) -> None:
        """More probes were sent."""

    def note(self, text: str) -> None:
        """Something that the user should know."""


@dataclass
class Measured:
    """The results."""

    host: Host
    files: list[Path] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    interrupted: bool = False


def plan(wanted: Wanted) -> list[str]:
    """Returns what will be sent at most, a line each."""
    probes = wanted.for_s * wanted.per_second
    lines = [
        f"{wanted.for_s:.0f} s of probes, {wanted.per_second:g} a second, small and full-sized in turn: "
        f"{_size(probes * EACH_BYTES)} in each direction"
    ]
    loads = wanted.iperf3_port is not None and wanted.load_s > 0
    lines.append(f"{2 * TRIES} pings for ECN{', and ten a second while iperf3 runs' if loads else ''}")
    if wanted.token is not None:
        lines.append(f"trains of packets, back to back: at most {_size(MOST_BYTES)} in each direction")
        if wanted.dense_s > 0:
            most = min(wanted.dense_s * MOST_DENSE * EACH_BYTES, MOST_DENSE_BYTES)
            lines.append(
                f"{wanted.dense_s:.0f} s of dense probes, at half of the rate that the trains show: at most "
                f"{_size(most)} in each direction (--dense 0s: none)"
            )
    if loads:
        lines.append(
            f"iperf3 for {wanted.load_s:.0f} s in each direction, as fast as the path goes: at 100 Mbit/s "
            f"{_size(wanted.load_s * 100e6 / 8)} in each direction (--load 0s: none)"
        )
    return lines


def measure(wanted: Wanted, watch: Watch) -> Measured:
    """Makes all phases. Ctrl-C ends it and keeps the results so far.

    # Raises
    ProbeError: the host cannot be probed. OSError: the folder cannot be written.
    """
    measured = Measured(wanted.host)
    wanted.folder.mkdir(parents=True, exist_ok=True)
    peer = None if wanted.token is None else (wanted.port, wanted.token)
    prober = prober_for(measured.host, peer, 2 / wanted.per_second, watch.note)
    run = _Run(wanted, watch, measured, prober)
    try:
        run.all()
    except KeyboardInterrupt:
        measured.interrupted = True
    finally:
        run.close()
    return measured


class _Run:
    """Runs the phases one after the other."""

    def __init__(self, wanted: Wanted, watch: Watch, measured: Measured, prober: Prober) -> None:
        self.wanted, self.watch, self.measured, self.prober = wanted, watch, measured, prober
        small = SMALL_PAYLOAD + prober.host.header_bytes
        self.sizes: tuple[int, ...] = (small,)
        self.trains = Trains()
        self.ecn = ecn_path(prober.host)
        self.facts = {"host": measured.host.address, "by": prober.name}
        if isinstance(prober, Peer) and prober.clock_error_ms is not None:
            self.facts["clock_error_ms"] = f"{prober.clock_error_ms:g}"

    def close(self) -> None:
        self.prober.close()
        if self.ecn is not None:
            self.ecn.close()

    def all(self) -> None:
        with load.Ss(self.measured.host, self._file("ss.txt", is_sure=False)):
            if self.prober.has_sizes:
                self._find_mtu()
            self._check_ecn()
            self._say(radio.missing(self.measured.host))
            self._ask_radio("before")
            self._probe(Book("none"), "idle", "probes.csv", 1 / self.wanted.per_second, self.wanted.for_s)
            if isinstance(self.prober, Peer):
                self._send_trains(self.prober, "trains")
                self._probe_densely(self.prober)
                # A rate that varies does so over seconds and minutes.
                self._send_trains(self.prober, "trains again, to see whether the rate is the same")
            if self.wanted.iperf3_port is not None and self.wanted.load_s > 0:
                self._load(self.wanted.iperf3_port)

    def _check_ecn(self) -> None:
        """Sees whether routers leave marks alone; where no pings are possible, nothing is said."""
        if self.ecn is not None:
            self.watch.phase("ECN")
            self._say(self.ecn.on_purpose())

    def _ask_radio(self, moment: str) -> None:
        found = radio.ask(self.measured.host)
        if found is not None:
            self.facts[f"radio_{moment}"] = found.fact

    def _find_mtu(self) -> None:
        if isinstance(self.prober, PingProgram):
            self.sizes = (*self.sizes, 1500)
            return
        self.watch.phase("path MTU")
        patience_s = max(MTU_PATIENCE_S, 3 * self.prober.rtt_s if isinstance(self.prober, Peer) else 0.0)
        book, device = Book("search"), device_mtu(self.prober.host)
        found = path_mtu(self.prober, book, patience_s)
        if found is None:
            self._note("full-sized packets get no replies: loss by size is unknown")
            return
        self.sizes = (*self.sizes, found)
        self.facts["mtu"] = str(found)
        if device is not None and found < min(device, LARGEST):
            self._note(f"path MTU {found} bytes{self._reported(book, found)}")
        elif found < LARGEST and found != 1500:
            self._note(f"path MTU {found} bytes")

    def _reported(self, book: Book, found: int) -> str:
        """Writes the search, and returns whether the path tells its MTU to those that exceed it."""
        told = device_mtu(self.prober.host)
        self._settle(book)
        facts = {**self.facts, "told": str(told)} if told == found else self.facts
        self._write("mtu.csv", book.lines(facts))
        return ", as a router has reported" if told == found else ": longer ones vanish without a word"

    def _probe(
        self,
        book: Book,
        title: str,
        name: str,
        interval_s: float,
        of_s: float | None = None,
        goes_on: Callable[[float], bool] | None = None,
    ) -> None:
        """Probes for `of_s`, or while `goes_on`."""
        self.watch.phase(title, of_s)
        until = goes_on or (lambda elapsed_s: elapsed_s < (of_s or 0.0))
        next_save_s = time.monotonic() + SAVED_EACH_S
        # Writing many probes takes time, in which answers would overflow the socket's buffer.
        is_saved = interval_s >= SLOW_S

        def shown() -> None:
            nonlocal next_save_s
            if is_saved and time.monotonic() >= next_save_s:
                next_save_s = time.monotonic() + SAVED_EACH_S
                self._write(name, book.lines(self.facts))
            self.watch.update(book)

        try:
            probe(self.prober, book, self.sizes, interval_s, until, shown)
            await_late(self.prober, book)
        finally:
            self._settle(book)
            self._ask_radio("after")
            if book.probes:
                self._write(name, book.lines(self.facts))
            self.watch.update(book)

    def _settle(self, book: Book) -> None:
        """Asks the server which of the unanswered probes arrived."""
        if not isinstance(self.prober, Peer):
            return
        if any(each.answer is None for each in book.probes.values()):
            self.prober.ask_arrivals(LAST_TRIES)
        for sequence, each in book.probes.items():
            each.has_arrived = self.prober.has_arrived(sequence)

    def _send_trains(self, peer: Peer, title: str) -> None:
        self.watch.phase(title)
        trains = self.trains
        try:
            send_trains(peer, max(self.sizes), trains, self.watch.phase)
        except ProbeError as error:
            self._note(f"no more trains: {error}")
        finally:
            if trains.there or trains.back:
                self._write("trains.csv", trains.lines())

    def _probe_densely(self, peer: Peer) -> None:
        """Probes for losses only: these probes are a load themselves and delay each other."""
        file = self.wanted.folder / "trains.csv"
        try:
            rates = trains_log.read(file).link_rates if self.wanted.dense_s > 0 else ()
        except (FileError, OSError):
            rates = ()
        if len(rates) < 2:
            return
        slower_bps = min(*(rate.at_least_bps for rate in rates), float(peer.limit_bps))
        each_bytes = sum(self.sizes) / len(self.sizes)
        per_second = min(MOST_DENSE, DENSE_SHARE * slower_bps / (8 * each_bytes))
        if per_second <= self.wanted.per_second:
            return
        of_s = min(self.wanted.dense_s, MOST_DENSE_BYTES / each_bytes / per_second)
        title = f"dense, {per_second:.0f} a second"
        self._probe(Book("own"), title, "dense.csv", 1 / per_second, of_s)

    def _load(self, port: int) -> None:
        if not load.has_iperf3():
            self._note("`iperf3` is not installed: the path will not be loaded")
            return
        ways: tuple[load.Way, ...] = ("there", "back")
        for way in ways:
            result = self._file(f"iperf3-{way}.json", is_sure=False)
            title = f"iperf3 {way}, {self.wanted.load_s:.0f} s, while probing"
            meanwhile = partial(self._beside, Book(way), title, way)
            try:
                load.iperf3(self.measured.host, port, way, self.wanted.load_s, result, meanwhile)
            except load.LoadError as error:
                self._note(str(error))
            finally:
                if result.exists() and result.stat().st_size:
                    self.measured.files.append(result)

    def _beside(self, book: Book, title: str, way: load.Way, runs: Callable[[], bool]) -> None:
        book.probes.clear()
        interval_s = 1 / self.wanted.per_second
        ecn = self.ecn if self.ecn is not None and self.ecn.keeps_marks else None

        def goes_on(_: float) -> bool:
            if ecn is not None:
                ecn.beside()
            return runs()

        self._probe(book, title, f"loaded-{way}.csv", interval_s, goes_on=goes_on)
        if ecn is not None:
            self._say(ecn.marked())

    def _say(self, text: str) -> None:
        if text:
            self._note(text)

    def _note(self, text: str) -> None:
        self.measured.notes.append(text)
        self.watch.note(text)

    def _file(self, name: str, *, is_sure: bool = True) -> Path:
        """Returns its path; it counts as a result once its existence is certain."""
        place = self.wanted.folder / name
        if is_sure and place not in self.measured.files:
            self.measured.files.append(place)
        return place

    def _write(self, name: str, lines: Iterable[str]) -> None:
        place = self._file(name)
        unfinished = place.with_suffix(".unfinished")
        unfinished.write_text("\n".join(lines) + "\n", encoding="utf-8")
        unfinished.replace(place)


def _size(size_bytes: float) -> str:
    scale, unit = (1e6, "MB") if size_bytes >= 1e6 else (1e3, "kB")
    return f"{size_bytes / scale:.3g} {unit}"
