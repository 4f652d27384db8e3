"""Reads the output of `ping` on Linux, macOS, BSD, BusyBox and Windows, and of hping."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path

from airtcp.fit.measurement import Measurement, Subjects
from airtcp.fit.readers import FileError, Reader
from airtcp.fit.readers.ping.events import Answer, Begin, Remark, Statistics, Total, Unanswered
from airtcp.fit.readers.ping.lines import event, ip_header_bytes
from airtcp.fit.readers.ping.series import MAX_PACKETS, Full, Room, Series
from airtcp.fit.text import Skips, TextFile, shown

_MAX_HOSTS = 64
_SUMMARY_LINES = 4
_CHECK_EACH = 1 << 15
_ICMP_BYTES = 8
_LINES_TO_RECOGNISE = 200


def recognises(head: bytes) -> float:
    lines = [line for line in head.decode("utf-8", "replace").splitlines() if line.strip()]
    events = [event(line.strip()) for line in lines[:_LINES_TO_RECOGNISE]]
    said = [found for found in events if found is not None]
    answers = sum(isinstance(found, Answer) for found in said)
    if answers:
        return max(0.3, 0.98 * len(said) / len(events))
    begun = any(isinstance(found, Begin) for found in said)
    numbered = sum(isinstance(found, Unanswered) and found.sequence is not None for found in said)
    return 0.8 if begun or numbered * 2 > len(events) else 0.0


def read(path: Path) -> Measurement | Subjects:
    log = _Log(path)
    text = TextFile(path, log.skips)
    try:
        for number, line in text.lines():
            log.take(number, line, is_cut=text.is_cut)
    except Full:
        log.notes.append(
            f"Only the first {MAX_PACKETS} packets are used; lines from {number} on are left out."
        )
    log.notes.extend(text.notes)
    return log.measurement()


class _Log:
    """The hosts that answer in one file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.skips = Skips("output of ping")
        self.notes: list[str] = []
        self.errors: Counter[str] = Counter()
        self.room = Room()
        self.hosts: dict[str, Series] = {}
        self.current: Series | None = None
        self.summary_lines = 0
        self.untimed = Skips("answers with a time")
        """Answers whose time cannot be read. A file with nothing else is from `ping` with small packets."""
        self.received = 0
        """Packets received, according to the summaries."""
        self.foreign_hosts = 0
        self.cut = 0
        """Answers that were shorter than what they answer."""
        self.untimed_bytes = 0
        """Length of the longest answer without a time."""
        self.too_long = 0
        """Packets that a router or this host refused: they are longer than the path's MTU."""
        self.mtu_bytes: int | None = None
        """That MTU."""

    def take(self, number: int, line: str, *, is_cut: bool = False) -> None:
        found = event(line.strip("\a\b"))
        match found:
            case Answer() if found.rtt_ms is None and found.sequence is not None:
                self._untimed(number, line, found, found.sequence)
            case Answer():
                self._answer(found)
            case Begin():
                self._begin(found)
            case Unanswered():
                self._unanswered(number, line, found)
            case Statistics():
                self.summary_lines = _SUMMARY_LINES
            case Total():
                self.received += found.received
                self.summary_lines = _SUMMARY_LINES
                if self.current:
                    self.current.end(found)
            case Remark():
                self.cut += found.is_cut
            case None:
                self._unknown(number, line, is_cut=is_cut)

    def measurement(self) -> Measurement | Subjects:
        """
        # Raises
        FileError: nothing was answered, or most is no output of `ping`.
        """
        best = max(self.hosts.values(), key=lambda series: series.answers, default=None)
        if best is None or not (best.answers or self._is_silent(best)):
            raise FileError(f"{self.path}: {self._why_nothing()}")
        self._check_presumed(best)
        self.skips.include(self.untimed)
        self.skips.check(self.path)
        if self.foreign_hosts:
            self.notes.append(f"Answers of hosts beyond the first {_MAX_HOSTS} are left out.")
        of = {host: self._of(series) for host, series in self.hosts.items() if series.answers}
        of = of or {best.host: self._of(best)}
        return of[best.host] if len(of) == 1 else Subjects("hosts", of, usual=best.host)

    def _of(self, series: Series) -> Measurement:
        round_trips, fates, reordering = series.measured()
        version = "IPv6" if series.is_ipv6 else "IPv4"
        return Measurement(
            source=self.path,
            format=f"ping ({series.system}, {version})" if series.system else f"ping ({version})",
            round_trips=round_trips,
            fates=(fates,),
            reordering=(reordering,),
            reported_mtu_bytes=self._mtu_bytes(series),
            skipped=self.skips.skipped(),
            notes=(*self._notes(series), *self.notes),
        )

    def _is_silent(self, series: Series) -> bool:
        """Returns whether packets were sent and none was answered, for no other reason than their length."""
        is_sent = len(series.rtt_ms) > 0 or self.too_long > 0
        return is_sent and not (self.errors or self.untimed.count or self.received)

    def _mtu_bytes(self, series: Series) -> int | None:
        """Returns the path's MTU as it was reported; older routers do not name it (RFC 1191 §5)."""
        return self.mtu_bytes or (series.ip_bytes - 1 if self.too_long and series.ip_bytes else None)

    def _series(self, host: str) -> Series | None:
        if host not in self.hosts:
            if len(self.hosts) == _MAX_HOSTS:
                return None
            self.hosts[host] = Series(host, self.room)
        return self.hosts[host]

    def _answer(self, answer: Answer) -> None:
        self.cut += answer.is_cut
        series = self._series(answer.host) if answer.host or self.current is None else self.current
        if series is None:
            self.foreign_hosts += 1
            return
        self.current = series
        self.summary_lines = 0
        series.answer(answer)

    def _untimed(self, number: int, line: str, answer: Answer, sequence: int) -> None:
        self.untimed.add(number, line)
        self.summary_lines = 0
        series = self.hosts.get(answer.host) or self.current
        sent_bytes = series.ip_bytes if series else None
        self.cut += answer.is_cut or (answer.ip_bytes or math.inf) < (sent_bytes or 0)
        self.untimed_bytes = max(self.untimed_bytes, answer.ip_bytes or 0)
        if series:
            series.untimed(sequence)

    def _begin(self, begin: Begin) -> None:
        self.current = self._series(begin.host)
        self.summary_lines = 0
        if self.current:
            self.current.begin(begin)

    def _unanswered(self, number: int, line: str, unanswered: Unanswered) -> None:
        if unanswered.too_long:
            self.too_long += 1
            self.mtu_bytes = min(filter(None, (self.mtu_bytes, unanswered.mtu_bytes)), default=None)
        elif unanswered.error:
            self.errors[_kind(unanswered.error)] += 1
        series = self.current or self._series("")
        if series is None:
            return
        if unanswered.sequence is None and not self._counts_lines(series):
            if not unanswered.error:
                self.skips.add(number, line)
            return
        self.current = series
        series.unanswered(unanswered.sequence)

    def _unknown(self, number: int, line: str, *, is_cut: bool) -> None:
        series = self.current
        if self.summary_lines > 0:
            self.summary_lines -= 1
        elif series and series.is_windows and "=" not in line and not is_cut:
            series.unanswered(None, presumed=True)
            if len(series.presumed) % _CHECK_EACH == 0:
                self._check_presumed(series)
        else:
            self.skips.add(number, line)

    def _check_presumed(self, series: Series) -> None:
        unsure = len(series.presumed) - series.confirmed
        if unsure > series.answers:
            raise FileError(
                f"{self.path}: {unsure} lines are not understood, and no summary says that they are lost "
                "packets; the file is mixed, or ping's language is not known: set it to English"
            )

    @staticmethod
    def _counts_lines(series: Series) -> bool:
        """Without sequence numbers, each line is a packet."""
        return series.is_windows or (series.system is None and not series.answers)

    def _why_nothing(self) -> str:
        if self.cut:
            size = self.untimed_bytes - ip_header_bytes(next(iter(self.hosts), "")) - _ICMP_BYTES
            return (
                f"the replies were cut (truncated): {self.cut} are shorter than what was sent, and ping "
                f"prints no time for those. The host answers with {size} bytes of data at most; "
                f"send no more: ping -s {size}"
            )
        if self.untimed.count:
            return "ping printed no times, for its packets were too small to carry one; leave out -s"
        if self.received:
            return (
                "this is ping's summary alone; a fit needs the round trip of each packet, "
                "so run ping without -q and -f"
            )
        if any(series.rtt_ms for series in self.hosts.values()):
            what = self.errors.most_common(1)
            return "no packet was answered" + (f": {what[0][0]}" if what else "")
        return "ping printed no answer"

    def _notes(self, series: Series) -> list[str]:
        notes = []
        if series.runs > 1:
            notes.append(f"{series.runs} runs of ping stand one after the other, as if without a pause.")
        if series.duplicates:
            notes.append(f"{series.duplicates} duplicate answers are left out.")
        if self.cut:
            notes.append(f"{self.cut} replies were cut: the way back carried shorter packets than were sent.")
        if series.below:
            notes.append(f"{series.below} answers took less than 1 ms and count as 0.5 ms.")
        if series.presumed:
            notes.append(f"{len(series.presumed)} lines in an unknown language count as lost packets.")
        if young := series.perhaps_on_their_way():
            notes.append(
                f"Unanswered at the end: {young}, perhaps still on the way when ping was stopped; lost here."
            )
        if self.errors:
            kinds = "; ".join(f"{count} × {kind}" for kind, count in self.errors.most_common(3))
            notes.append(f"Errors, which count as losses: {kinds}.")
        return [*notes, *_clock_notes(series)]


def _clock_notes(series: Series) -> list[str]:
    if series.has_stamps:
        return []
    if series.is_windows:
        return ["Times of sending are estimated: one packet a second, 4 s after one without an answer."]
    if series.has_interval:
        return []
    return ["Times of sending are not known: 1 s between packets is assumed (`ping -D` prints them)."]


def _kind(error: str) -> str:
    """Returns the error without the address that reported it."""
    words = error.rpartition(": ")[2]
    return shown(words.rstrip("."))


READER = Reader("ping", "what ping printed (`ping -D HOST | tee ping.log`), of any system", recognises, read)
