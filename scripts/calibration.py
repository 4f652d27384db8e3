"""Holds fits against known paths: how often their intervals have the truth.

    scripts/calibration.py                     writes the page from what has been studied
    scripts/calibration.py --simulated         studies what is missing of the simulated paths, before
    scripts/calibration.py --real              and of those that really run; as root, with airtcpd,
                                               ping, fping, irtt, mtr, iperf3 and tcpdump
    scripts/calibration.py --advice --real     tries advice: what is advised on a measurement really runs,
                                               beside its rivals; as root, with the same programs
    scripts/calibration.py --real --again      forgets what this part had

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
from airtcp_studies.calibration.tried.journal import Journal as TriedJournal
from airtcp_studies.calibration.tried.page import summary
from airtcp_studies.calibration.tried.study import PATHS as TRIED_PATHS
from airtcp_studies.calibration.tried.study import try_advice

SIMULATED, REAL, TRIED = "simulated.jsonl", "real.jsonl", "advice-real.jsonl"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--simulated", action="store_true", help="study the simulated paths")
    parser.add_argument("--real", action="store_true", help="study those that really run")
    parser.add_argument("--advice", action="store_true", help="with --real: try advice on paths of its own")
    parser.add_argument("--again", action="store_true", help="not only what is missing")
    counts = f"{PATHS} simulated, {REAL_PATHS} real, {TRIED_PATHS} with advice"
    parser.add_argument("--paths", type=int, help=f"how many; {counts}")
    parser.add_argument("--docs", type=Path, default=Path("docs"), help="folder of the page; docs")
    parser.add_argument("--files", type=Path, default=Path("out/calibration"), help="for the tools' files")
    parser.add_argument("--jobs", type=int, help="processes; as many as cores")
    options = parser.parse_args()
    if options.advice and not options.real:
        parser.error("--advice needs --real: in the simulator, advice is part of --simulated")
    fitted = options.real and not options.advice
    folder: Path = options.docs / "calibration"
    for name, chosen in ((SIMULATED, options.simulated), (REAL, fitted), (TRIED, options.advice)):
        if chosen and options.again:
            (folder / name).unlink(missing_ok=True)
    simulated, real = Journal(folder / SIMULATED, known_path), Journal(folder / REAL, real_path)
    if options.simulated:
        study(options.paths or PATHS, simulated, jobs=options.jobs, on_done=_Counted("simulated"))
        simulated.tidy()
    tried = TriedJournal(folder / TRIED)
    if options.advice:
        paths = options.paths or TRIED_PATHS
        try_advice(paths, tried, options.files / "advice", jobs=options.jobs, on_done=_Counted("steps"))
    if fitted:
        paths = options.paths or REAL_PATHS
        study_real(paths, real, options.files, jobs=options.jobs, on_done=_Counted("steps"))
        real.tidy()
    for half in (simulated, real):
        print(text(half.studied), end="\n\n")
    if tried.tried:
        print(summary(tried.tried), end="\n\n")
    written = page(simulated.studied, real.studied, tried.tried)
    (options.docs / "calibration.md").write_text(written, encoding="utf-8")


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
