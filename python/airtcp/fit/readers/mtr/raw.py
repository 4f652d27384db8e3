"""Parses `mtr --raw`: `x HOP SEQUENCE` was sent, `p HOP MICROSECONDS SEQUENCE` came back."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field

from airtcp.fit.probe_series import NOT_LOST, SOMEWHERE, ProbeSeries
from airtcp.fit.readers.mtr.hops import SILENT, USUAL_BYTES
from airtcp.fit.rows import MAX_ROWS
from airtcp.fit.text import TextFile

RAW = re.compile(r"[xhdptm] \d{1,3}(?: |$)")
_LONGEST_US = 1e11
_INTERVAL_S = 1.0


@dataclass
class Raw:
    """The probes of each hop; the number of a hop is that of the lines, which begin with 0."""

    sent: dict[int, list[int]] = field(default_factory=dict)
    """Sequence numbers."""
    answers: dict[int, float] = field(default_factory=dict)
    """RTT in s of each sequence number."""
    addresses: dict[int, str] = field(default_factory=dict)

    @property
    def probed(self) -> list[int]:
        """The hops that every round probes: those behind the target only the first round does, since it does
        not know yet where the target is."""
        most = max((len(each) for each in self.sent.values()), default=0)
        hops = sorted(hop for hop, each in self.sent.items() if 2 * len(each) >= most)
        known = [self.addresses.get(hop) for hop in hops]
        # The target answers those too.
        return [
            hop for place, hop in enumerate(hops) if known[place] not in known[:place] or not known[place]
        ]

    def answered(self, hop: int) -> bool:
        return any(number in self.answers for number in self.sent[hop])

    def name(self, hop: int) -> str:
        return self.addresses.get(hop, SILENT)

    def probes(self, hop: int) -> ProbeSeries:
        probes = ProbeSeries()
        for turn, sequence in enumerate(self.sent[hop]):
            rtt_s = self.answers.get(sequence, math.nan)
            fate = SOMEWHERE if math.isnan(rtt_s) else NOT_LOST
            probes.add(turn * _INTERVAL_S, USUAL_BYTES, fate, rtt_s)
        return probes


def read_raw(text: TextFile) -> Raw:
    raw = Raw()
    for place, line in text.lines():
        words = line.split()
        if not RAW.match(line) or not all(_is_number(word) for word in words[1:4:2]):
            text.skips.add(place, line)
        elif words[0] == "x" and len(words) >= 3 and _is_number(words[2]):
            raw.sent.setdefault(int(words[1]), []).append(int(words[2]))
        elif words[0] == "p" and len(words) >= 4 and _is_number(words[2]):
            raw.answers[int(words[3])] = min(float(words[2]), _LONGEST_US) / 1e6
        elif words[0] == "h" and len(words) >= 3:
            raw.addresses.setdefault(int(words[1]), words[2][:255])
        if len(raw.answers) >= MAX_ROWS:
            text.notes.append(f"Only the first {MAX_ROWS} answers are used.")
            break
    return raw


def _is_number(word: str) -> bool:
    return word.isascii() and word.isdigit() and len(word) < 12
