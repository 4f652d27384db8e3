"""Holds fits against known paths: how often their intervals have the truth.

    scripts/calibration.py                     prints the table
    scripts/calibration.py --docs docs         writes docs/calibration.md, too
    scripts/calibration.py --paths 60 --journal out/calibration.jsonl

A journal keeps what is done; the same command continues from there. Needs airtcp's own environment:
.venv/bin/python scripts/calibration.py
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from airtcp_studies.calibration.page import page, text
from airtcp_studies.calibration.study import PATHS, Studied, study


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--paths", type=int, default=PATHS, help=f"how many; {PATHS}")
    parser.add_argument("--journal", type=Path, help="file to continue from")
    parser.add_argument("--docs", type=Path, help="folder of the page")
    parser.add_argument("--jobs", type=int, help="processes; as many as cores")
    options = parser.parse_args()
    found = study(options.paths, journal=options.journal, jobs=options.jobs, on_done=_say)
    print(text(found))
    if options.docs:
        (options.docs / "calibration.md").write_text(page(found), encoding="utf-8")


def _say(done: Studied) -> None:
    sys.stderr.write(f"\r{done.path.number + 1} paths")
    sys.stderr.flush()


if __name__ == "__main__":
    main()
