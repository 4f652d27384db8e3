"""Really runs known paths, several at a time, and fits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from pathlib import Path

from airtcp.linux.airtcpd import Airtcpd, find
from airtcp_studies.calibration.claims import claims
from airtcp_studies.calibration.journal import Journal, Studied
from airtcp_studies.calibration.paths import KnownPath, Tool, real_path
from airtcp_studies.calibration.real.measuring import Extent, circumstances, hosts_own_s, measure, measured
from airtcp_studies.calibration.study import workers

PATHS = 120
PROBED_AT_A_TIME, LOADED_AT_A_TIME = 16, 6
"""Of paths: with that many, two cores keep packets' mean lateness in microseconds."""


def study_real(
    paths: int,
    journal: Journal,
    folder: Path,
    *,
    extent: Extent | None = None,
    jobs: int | None = None,
    on_done: Callable[[str], object] = lambda _: None,
) -> list[Studied]:
    """Returns the first `paths` paths, studied. Those in the journal are not fitted again, and those whose
    files are in `folder` not measured again."""
    airtcpd, extent = find(), extent or Extent()
    airtcpd.check_privileges()
    missing = [real_path(number) for number in journal.missing(paths)]
    if missing:
        hosts_s = hosts_own_s(folder, airtcpd, extent)
        _measure(missing, folder, airtcpd, extent, on_done)
        with workers(jobs) as executor:
            fits = [executor.submit(study_files, path, _of(path, folder), hosts_s) for path in missing]
            for done in as_completed(fits):
                journal.add(done.result())
                on_done("fitted")
    return journal.studied[:paths]


def study_files(path: KnownPath, folder: Path, hosts_s: dict[Tool, float]) -> Studied:
    """Fits what the tools have left."""
    found = [claims(path, each) for each in measured(path, folder, hosts_s)]
    return Studied(
        path,
        tuple(claim for each in found for claim in each.of),
        tuple(told for each in found for told in each.told),
        circumstances=circumstances(folder),
    )


def _measure(
    paths: Sequence[KnownPath],
    folder: Path,
    airtcpd: Airtcpd,
    extent: Extent,
    on_done: Callable[[str], object],
) -> None:
    """Those that are only probed first: they wait most of the time."""
    for is_probed, at_a_time in ((True, PROBED_AT_A_TIME), (False, LOADED_AT_A_TIME)):
        with ThreadPoolExecutor(at_a_time) as pool:
            runs: list[Future[None]] = [
                pool.submit(measure, path, _of(path, folder), airtcpd, extent)
                for path in paths
                if path.is_probed is is_probed
            ]
            for run in as_completed(runs):
                run.result()
                on_done("measured")


def _of(path: KnownPath, folder: Path) -> Path:
    return folder / f"{path.number:03}"
