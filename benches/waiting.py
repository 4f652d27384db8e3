"""What a user of the command line waits for, as CPU time; and what Python adds to each run of a sweep."""

from __future__ import annotations

import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

from measure import run

SWEEP = Path(__file__).with_name("sweep_overhead.py")


def waiting(bin_directory: Path) -> dict[str, float]:
    python, command = str(bin_directory / "python"), str(bin_directory / "airtcp")
    commands = {
        "import airtcp": [python, "-c", "import airtcp"],
        "airtcp --help": [command, "--help"],
        "airtcp --version": [command, "--version"],
        "airtcp compare --help": [command, "compare", "--help"],
        "airtcp compare": [command, "compare"],
        "airtcp compare --out d": [command, "compare", "--out", "d"],
    }
    print("\nCPU time of the command line, the built-in scenario:")
    found = {}
    with TemporaryDirectory() as directory:
        for name, words in commands.items():
            if finished := run(words, Path(directory)):
                found[name] = finished.cpu_s
                print(f"{name:24} {finished.cpu_s:5.2f} s", flush=True)
    told = subprocess.run([python, str(SWEEP)], capture_output=True, text=True, check=True).stdout
    found["python_us_a_run"] = float(told)
    print(f"Python in a sweep: {float(told):.0f} µs a run")
    return found
