"""Holds fits against known paths: how often their intervals have the truth.

    scripts/calibration.py                     writes the page from what has been studied
    scripts/calibration.py --simulated         studies what is missing of the simulated paths, before
    scripts/calibration.py --real              and of those that really run; as root, with airtcpd,
                                               ping, fping, irtt, mtr, iperf3 and tcpdump
    scripts/calibration.py --real --again      forgets what this half had

What is done is kept in docs/calibration, a line for each path; the same command continues from there. The
files that the tools wrote on real paths stay in out/calibration, and are fitted again without being measured
again, until that folder is removed. Needs airtcp's own environment: .venv/bin/python scripts/calibration.py
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from airtcp_studies.calibration.journal import Journal
from airtcp_studies.calibration.page import page, text
from airtcp_studies.calibration.paths import known_path, real_path
from airtcp_studies.calibration.real.study import PATHS as REAL_PATHS
from airtcp_studies.calibration.real.study import study_real
from airtcp_studies.calibration.study import PATHS, study

SIMULATED, REAL = "simulated.jsonl", "real.jsonl"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--simulated", action="store_true", help="study the simulated paths")
    parser.add_argument("--real", action="store_true", help="study those that really run")
    parser.add_argument("--again", action="store_true", help="not only what is missing")
    parser.add_argument("--paths", type=int, help=f"how many; {PATHS} simulated, {REAL_PATHS} real")
    parser.add_argument("--docs", type=Path, default=Path("docs"), help="folder of the page; docs")
    parser.add_argument("--files", type=Path, default=Path("out/calibration"), help="for the tools' files")
    parser.add_argument("--jobs", type=int, help="processes; as many as cores")
    options = parser.parse_args()
    folder: Path = options.docs / "calibration"
    for name, chosen in ((SIMULATED, options.simulated), (REAL, options.real)):
        if chosen and options.again:
            (folder / name).unlink(missing_ok=True)
    simulated, real = Journal(folder / SIMULATED, known_path), Journal(folder / REAL, real_path)
    if options.simulated:
        study(options.paths or PATHS, simulated, jobs=options.jobs, on_done=_Counted("simulated"))
        simulated.tidy()
    if options.real:
        paths = options.paths or REAL_PATHS
        study_real(paths, real, options.files, jobs=options.jobs, on_done=_Counted("steps"))
        real.tidy()
    for half in (simulated, real):
        print(text(half.studied), end="\n\n")
    (options.docs / "calibration.md").write_text(page(simulated.studied, real.studied), encoding="utf-8")


class _Counted:
    """Says how much is done."""

    def __init__(self, what: str) -> None:
        self._what, self._done = what, 0

    def __call__(self, _: object) -> None:
        self._done += 1
        sys.stderr.write(f"\r{self._done} {self._what}")
        sys.stderr.flush()


if __name__ == "__main__":
    main()
