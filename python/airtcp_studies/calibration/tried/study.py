"""Measures paths, asks for advice, and really runs what might be the best."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from statistics import fmean

from airtcp.linux.airtcpd import Airtcpd, find
from airtcp_studies.calibration.journal import Circumstances
from airtcp_studies.calibration.paths import KnownPath
from airtcp_studies.calibration.real.measuring import Extent, measure
from airtcp_studies.calibration.tried.asking import Advised, ask, deployable, simulated_bps
from airtcp_studies.calibration.tried.journal import Journal, Tried
from airtcp_studies.calibration.tried.paths import tried_path
from airtcp_studies.calibration.tried.running import Ran, hopeful, on_this_kernel, run_schemes

PATHS = 14


def try_advice(
    paths: int,
    journal: Journal,
    folder: Path,
    *,
    extent: Extent | None = None,
    jobs: int | None = None,
    on_done: Callable[[str], object] = lambda _: None,
) -> list[Tried]:
    """Returns the first `paths` paths, tried. What is in the journal or in `folder` is not done again."""
    airtcpd = find()
    airtcpd.check_privileges()
    missing = [tried_path(number) for number in journal.missing(paths)]
    here = on_this_kernel(tried_path(0), deployable(), airtcpd)
    runs = Runs(folder, airtcpd, on_done)
    with ProcessPoolExecutor(jobs, get_context("spawn"), _yield_to_runs) as executor:
        for path in missing:
            measure(path, runs.folder_of(path), airtcpd, extent or Extent())
            on_done(f"path {path.number} measured")
        simulated = [executor.submit(simulated_bps, path, here, runs.folder_of(path)) for path in missing]
        answers = [executor.submit(ask, path, runs.folder_of(path)) for path in missing]
        # What does not wait for the answers runs first.
        for path, of in zip(missing, simulated, strict=True):
            runs.make(path, hopeful(of.result()), ())
        for path, of, advised in zip(missing, simulated, answers, strict=True):
            journal.add([runs.tried(path, advised.result(), of.result())])
    return journal.tried[:paths]


def _yield_to_runs() -> None:
    """What only computes takes the time that real runs leave."""
    os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))


@dataclass(frozen=True)
class Runs:
    """Makes runs and says so; they are kept in each path's folder."""

    folder: Path
    airtcpd: Airtcpd
    on_done: Callable[[str], object]

    def folder_of(self, path: KnownPath) -> Path:
        return self.folder / f"{path.number:03}"

    def make(self, path: KnownPath, schemes: Sequence[str], uses: Sequence[str]) -> list[Ran]:
        def tell(done: Ran) -> None:
            self.on_done(f"path {path.number}: {done.scheme} {done.goodput_bps / 1e6:.3g} Mbit/s")

        return run_schemes(path, schemes, uses, self.folder_of(path), self.airtcpd, tell)

    def tried(self, path: KnownPath, advised: tuple[Advised, ...], simulated: dict[str, float]) -> Tried:
        """Runs what the answers name, too."""
        uses = list(dict.fromkeys(each.use_of(list(simulated)) for each in advised))
        schemes = list(dict.fromkeys([*hopeful(simulated), *uses]))
        ran = self.make(path, schemes, uses)
        really = {scheme: tuple(run.goodput_bps for run in ran if run.scheme == scheme) for scheme in schemes}
        late_ms = round(fmean(run.late_ms for run in ran), 4)
        seen = Circumstances(late_ms, ran[-1].kernel, ran[-1].date)
        return Tried(path, advised, simulated, really, seen)
