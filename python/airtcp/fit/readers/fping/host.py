"""What fping says of one host."""

from __future__ import annotations

import math
from array import array
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from airtcp.fit.measurement import Fates, LossCount, Measurement, RoundTrips
from airtcp.fit.probe_series import NOT_LOST, SOMEWHERE, ProbeSeries
from airtcp.fit.rows import MAX_ROWS
from airtcp.fit.text import TextFile

USUAL_IP_BYTES = 84.0
LONGEST_MS = 1e8
MAX_HOSTS = 4096
_USUAL_INTERVAL_S = 1.0


@dataclass
class Host:
    """Each probe or, if fping reported no more, sums."""

    sequences: dict[int, tuple[float, float, float]] = field(default_factory=dict)
    """Time of the answer (NaN: unknown), size, RTT in s (NaN: no answer)."""
    in_order: array[float] = field(default_factory=lambda: array("d"))
    """RTTs in ms as `-C` lists them; NaN: no answer."""
    sums: list[tuple[int, int, float, float]] = field(default_factory=list)
    """Packets sent, packets received, lowest RTT and mean RTT in s."""

    parts: list[tuple[int, int, float, float]] = field(default_factory=list)
    """The same of intervals (`-Q`), which the sums include."""
    base: int = 0
    """Number of probes in earlier runs of fping."""

    def take(self, number: int, at_s: float, ip_bytes: float, rtt_s: float) -> None:
        """Adds an answer, or a timeout, whose time and RTT are NaN."""
        known = self.sequences.get(self.base + number)
        if known is not None and not math.isnan(known[2]):
            # Its number has been answered: fping was started again.
            self.base = max(self.sequences) + 1
        if known is None or not math.isnan(rtt_s):
            self.sequences[self.base + number] = (at_s, ip_bytes, rtt_s)

    @property
    def _counted(self) -> list[tuple[int, int, float, float]]:
        """The sums, each packet once: as text, those of intervals look like the last ones, of the whole."""
        sums = self.sums or self.parts
        is_whole = len(sums) > 2 and sums[-1][0] >= sum(each[0] for each in sums[:-1])
        return sums[-1:] if is_whole else sums

    @property
    def is_probed(self) -> bool:
        """Whether it was asked, whatever came back."""
        return bool(self.sequences or self.in_order or any(sent for sent, *_ in self._counted))

    @property
    def weight(self) -> int:
        """Number of answers known."""
        each = sum(not math.isnan(rtt) for _, _, rtt in self.sequences.values())
        listed = sum(not math.isnan(rtt) for rtt in self.in_order)
        return each or listed or sum(received for _, received, _, _ in self._counted)

    def measurement(self, path: Path, text: TextFile) -> Measurement:
        probes, notes = self._probes(), list(text.notes)
        skipped = text.skips.skipped()
        sums = self._counted
        sent, received = sum(each[0] for each in sums), sum(each[1] for each in sums)
        if len(probes):
            trips, fates, _ = probes.measured()
            counts: tuple[LossCount, ...] = ()
            if self.sequences and max((each[0] for each in sums), default=0) > len(probes):
                notes.append(f"Of fping's {sent} probes, {len(probes)} have a line: its sums tell the loss.")
                fates, counts = (), (LossCount(sent, sent - received, "both", USUAL_IP_BYTES),)
            return Measurement(
                path, "fping", trips, fates, loss_counts=counts, skipped=skipped, notes=tuple(notes)
            )
        known = [each for each in sums if each[1]]
        mean = np.array([each[3] for each in known])
        if not known:
            lost = np.ones(min(sent, MAX_ROWS), dtype=bool)
            fates = (Fates(lost, "both", USUAL_IP_BYTES),)
            return Measurement(path, "fping, sums", fates=fates, skipped=skipped, notes=tuple(text.notes))
        least = min(each[2] for each in known)
        notes.append("These are fping's sums: leave out -q, and use -C or -l, for each probe's round trip.")
        return Measurement(
            path,
            "fping, sums",
            RoundTrips(np.arange(len(mean), dtype=np.float64), mean, USUAL_IP_BYTES, least),
            loss_counts=(LossCount(sent, sent - received, "both", USUAL_IP_BYTES),),
            skipped=skipped,
            notes=tuple(notes),
        )

    def _probes(self) -> ProbeSeries:
        """Returns the probes; a missing number is a probe without any report."""
        probes = ProbeSeries()
        step_s = self._step_s()
        for sequence, (at_s, ip_bytes, rtt_s) in sorted(self.sequences.items()):
            time_s = sequence * step_s if math.isnan(at_s) or math.isnan(rtt_s) else at_s - rtt_s
            probes.add(time_s, ip_bytes, SOMEWHERE if math.isnan(rtt_s) else NOT_LOST, rtt_s)
        if not len(probes):
            for place, rtt_ms in enumerate(self.in_order):
                fate = SOMEWHERE if math.isnan(rtt_ms) else NOT_LOST
                probes.add(place * _USUAL_INTERVAL_S, USUAL_IP_BYTES, fate, rtt_ms / 1e3)
        return probes

    def _step_s(self) -> float:
        """Returns the time between probes; dated answers count it from the first number."""
        told = self.sequences.items()
        dated = [(n, each[0]) for n, each in told if math.isfinite(each[0] + each[2])]
        if not dated:
            return _USUAL_INTERVAL_S
        (first, began_s), (last, ended_s) = min(dated), max(dated)
        step_s = (ended_s - began_s) / (last - first) if last > first else _USUAL_INTERVAL_S
        if step_s <= 0:
            # The clock was set back.
            step_s = _USUAL_INTERVAL_S
        for n, (at_s, ip_bytes, rtt_s) in self.sequences.items():
            if math.isfinite(at_s):
                self.sequences[n] = (at_s - began_s + first * step_s, ip_bytes, rtt_s)
        return step_s
