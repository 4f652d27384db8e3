"""Lays runs that one file holds one after the other, so that none is mixed with the next."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from airtcp.fit.measurement import Floats

Places = npt.NDArray[np.int64]
USUAL_STEP_S = 1.0
"""From row to row, if nothing tells it."""
_GAP = 10.0
"""A step longer than this many usual ones is a pause."""
_FEW = 5


@dataclass(frozen=True)
class Layout:
    """Rows in order of time, run after run."""

    order: Places
    """The places of the rows."""
    time_s: Floats
    """In that order, since the first; a run that began anew follows the one before."""
    usual_s: float
    """The median step."""
    begins: list[int]
    """Where runs begin."""

    def intervals(self) -> tuple[Floats, int]:
        """Returns how long each row's value held, and the number of pauses that are left out."""
        steps = np.append(np.diff(self.time_s), self.usual_s)
        steps[[begin - 1 for begin in self.begins if begin]] = self.usual_s
        pauses = steps > _GAP * self.usual_s if len(steps) >= _FEW else np.zeros(len(steps), dtype=bool)
        steps[pauses] = self.usual_s
        return steps, int(pauses.sum())


def lay_out(time_s: Floats, codes: Places | None = None) -> Layout:
    """Orders rows by run, which is a code or begins where the time starts again, and by time."""
    pieces = [piece for run in _coded(len(time_s), codes) for piece in _restarted(time_s, run)]
    pieces = [piece[np.argsort(time_s[piece], kind="stable")] for piece in pieces]
    spread = [_spread(time_s[piece]) for piece in pieces]
    steps = np.concatenate([np.diff(times) for times in spread])
    forward = steps[steps > 0]
    usual_s = float(np.median(forward)) if len(forward) else USUAL_STEP_S
    laid, end = [], -usual_s
    for times in spread:
        begin = max(end + usual_s, times[0] - spread[0][0])
        laid.append(times - times[0] + begin)
        end = float(laid[-1][-1])
    begins = np.cumsum([0, *(len(piece) for piece in pieces[:-1])]).tolist()
    return Layout(np.concatenate(pieces), np.concatenate(laid), usual_s, begins)


def _spread(times: Floats) -> Floats:
    """Spreads rows of the same time, whose clock was coarser than they are apart, until the next one."""
    moments, first, counts = np.unique(times, return_index=True, return_counts=True)
    if len(moments) == len(times):
        return times
    gaps = np.diff(moments)
    usual_s = float(np.median(gaps)) if len(gaps) else USUAL_STEP_S * len(times)
    gaps = np.minimum(np.append(gaps, usual_s), usual_s)
    within = np.arange(len(times)) - np.repeat(first, counts)
    later: Floats = times + within * np.repeat(gaps / counts, counts)
    return later


def _coded(rows: int, codes: Places | None) -> list[Places]:
    if codes is None:
        return [np.arange(rows, dtype=np.int64)]
    _, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
    return [np.flatnonzero(inverse == code) for code in np.argsort(first)]


def _restarted(time_s: Floats, run: Places) -> list[Places]:
    """Divides a run where the time steps back by more than half of what has passed; less is disorder."""
    times = time_s[run]
    steps = np.diff(times)
    begins = [0]
    back = np.flatnonzero(steps < 0)
    if len(back) > max(1, len(run) // _GAP):
        return [run]
    for place in back:
        passed = times[begins[-1] : place + 1].max() - times[begins[-1]]
        if -steps[place] > passed / 2:
            begins.append(int(place) + 1)
    return list(np.split(run, begins[1:]))
