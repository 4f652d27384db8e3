"""Paths on which advice was tried, a line for each."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from airtcp.advise.ask import NOW
from airtcp.fit.findings import Z
from airtcp_studies.calibration.journal import Circumstances
from airtcp_studies.calibration.paths import KnownPath
from airtcp_studies.calibration.tried.asking import Advised, advised_of
from airtcp_studies.calibration.tried.paths import tried_path

TRIFLE = 0.01
"""A scheme that carries less than another by no more than this share does not harm."""


@dataclass(frozen=True)
class Tried:
    """One path: what was advised of it, and what every scheme carried. Goodputs are in bit/s."""

    path: KnownPath
    advised: tuple[Advised, ...]
    simulated_bps: dict[str, float]
    """In the simulator, on the true path."""
    really_bps: dict[str, tuple[float, ...]]
    """Of each run on this kernel."""
    circumstances: Circumstances

    def goodput_bps(self, scheme: str) -> float:
        return fmean(self.really_bps[scheme])

    @property
    def best(self) -> str:
        return max(self.really_bps, key=self.goodput_bps)

    @property
    def now_bps(self) -> float:
        return self.goodput_bps(NOW)

    def used(self, advised: Advised) -> str:
        return advised.use_of(list(self.really_bps))

    def behind_best(self, advised: Advised) -> float:
        """Returns by which share of the best measured goodput the advised one is less."""
        return 1 - self.goodput_bps(self.used(advised)) / self.goodput_bps(self.best)

    def is_below_now(self, advised: Advised) -> bool:
        """Returns whether it carries less than the present scheme, more than a trifle or chance explains."""
        use = self.used(advised)
        apart = math.log(self.now_bps / self.goodput_bps(use))
        counts = [len(self.really_bps[scheme]) for scheme in (use, NOW)]
        by_chance = Z * self.spread * math.sqrt(sum(1 / count for count in counts))
        return use != NOW and apart > max(TRIFLE, by_chance)

    @property
    def spread(self) -> float:
        """Standard deviation of one run, as a share: of all schemes that ran more than once, together."""
        squares, free = 0.0, 0
        for runs in self.really_bps.values():
            logs = [math.log(bps) for bps in runs]
            squares += sum((value - fmean(logs)) ** 2 for value in logs)
            free += len(runs) - 1
        return math.sqrt(squares / free) if free else 0.0


class Journal:
    """Paths by number; one that is drawn otherwise today counts as missing."""

    def __init__(self, file: Path) -> None:
        self._file = file
        lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
        found = [_tried(json.loads(line)) for line in lines]
        self._known = {each.path.number: each for each in found if each.path == tried_path(each.path.number)}

    @property
    def tried(self) -> list[Tried]:
        return [self._known[number] for number in sorted(self._known)]

    def missing(self, paths: int) -> list[int]:
        return [number for number in range(paths) if number not in self._known]

    def add(self, done: Iterable[Tried]) -> None:
        """Keeps them; all paths are written in order, each once."""
        self._known |= {each.path.number: each for each in done}
        self._file.parent.mkdir(parents=True, exist_ok=True)
        lines = [json.dumps(asdict(each)) + "\n" for each in self.tried]
        self._file.write_text("".join(lines), encoding="utf-8")


def _tried(fields: dict[str, Any]) -> Tried:
    return Tried(
        KnownPath(**{**fields["path"], "tools": tuple(fields["path"]["tools"])}),
        advised_of(fields["advised"]),
        fields["simulated_bps"],
        {scheme: tuple(runs) for scheme, runs in fields["really_bps"].items()},
        Circumstances(**fields["circumstances"]),
    )
