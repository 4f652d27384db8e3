"""Runs a set of cases with the engine of another revision and with the tree's, and names what differs.

The set is `crates/sim/tests/same`. The base is a revision; by default HEAD if the tree has changes, else the
commit before. Everything is kept in target/same, so that a second call builds only what has changed.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
KEPT = TARGET / "same"
CHECKOUT = KEPT / "base"
CASES = KEPT / "cases"
FILES = ROOT / "crates/sim/src/scenario/tests/fixtures"
# What runs the cases: it is compiled against the base, too.
RUNNER = ["crates/sim/examples/same.rs", "crates/sim/tests/same/case.rs"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("base", nargs="?", help="a revision")
    parser.add_argument("--only", default="", help="cases whose name begins with this")
    asked = parser.parse_args()
    base = revision(asked.base or default_base())
    KEPT.mkdir(parents=True, exist_ok=True)
    say(f"base: {git('log', '-1', '--format=%h %s', base)}")
    tree_runner, lister = build(ROOT, "same", "same_set")
    write_cases(lister, asked.only)
    base_runner = build_base(base)
    return compare(base_runner, tree_runner)


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def git(*arguments: str, **environment: str) -> str:
    run = subprocess.run(
        ["git", "-C", str(ROOT), *arguments],
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return run.stdout.strip()


def default_base() -> str:
    """The commit before the changes: those of the tree, or those of the last commit."""
    return "HEAD" if git("status", "--porcelain", "--", "crates", "Cargo.toml", "Cargo.lock") else "HEAD~1"


def revision(name: str) -> str:
    return git("rev-parse", "--verify", f"{name}^{{commit}}")


def build(root: Path, *examples: str) -> list[Path]:
    """Builds these examples, and returns where they are. Cargo takes two checkouts in one target for one."""
    target = TARGET if root == ROOT else KEPT / "target"
    wanted = [word for example in examples for word in ("--example", example)]
    subprocess.run(
        ["cargo", "build", "--quiet", "-p", "airtcp-sim", *wanted],
        cwd=root,
        env={**os.environ, "CARGO_TARGET_DIR": str(target), "CARGO_INCREMENTAL": "1"},
        check=True,
    )
    return [target / "debug/examples" / example for example in examples]


def build_base(base: str) -> Path:
    """The base with the tree's runner; where its library is too different for that, with its own."""
    check_out(base)
    for file in RUNNER:
        (CHECKOUT / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / file, CHECKOUT / file)
    try:
        return build(CHECKOUT, "same")[0]
    except subprocess.CalledProcessError:
        say("the tree's runner does not build there; trying the base's own")
    check_out(base)
    try:
        return build(CHECKOUT, "same")[0]
    except subprocess.CalledProcessError:
        sys.exit(f"{base[:8]} cannot run the set; choose a later BASE")


def check_out(base: str) -> None:
    """Writes the files that `base` changes; the others keep their times, which cargo goes by."""
    CHECKOUT.mkdir(parents=True, exist_ok=True)
    index = str(KEPT / "index")
    git("--work-tree", str(CHECKOUT), "read-tree", "--reset", "-u", base, GIT_INDEX_FILE=index)


def write_cases(lister: Path, only: str) -> None:
    listed = subprocess.run([lister, ROOT], stdout=subprocess.PIPE, text=True, check=True).stdout
    lines = [line for line in listed.splitlines() if json.loads(line)["name"].startswith(only)]
    if not lines:
        sys.exit(f"no case's name begins with `{only}`; same_set lists them")
    CASES.write_text("".join(f"{line}\n" for line in lines))


def compare(base_runner: Path, tree_runner: Path) -> int:
    """Runs both at the same time. The result is 1 if anything differs."""
    total = len(CASES.read_text().splitlines())
    same = new = 0
    differing: list[str] = []
    pairs = zip(results(base_runner), results(tree_runner), strict=True)
    for number, ((name, before), (_, after)) in enumerate(pairs, 1):
        if before == after:
            same += 1
        elif before.startswith("unreadable"):
            new += 1
        else:
            if not differing:
                say(f"\n{name}: {before} -> {after}")
            differing.append(name)
        if number % 100 == 0 and sys.stderr.isatty():
            print(f"\r{number} of {total} runs", end="", file=sys.stderr, flush=True)
    if new:
        print(f"{new} runs only the tree can read")
    if not differing:
        print(f"{same} runs are the same")
        return 0
    print(f"{len(differing)} of {total} runs differ. The first: {differing[0]}")
    before, after = (whole(runner, differing[0]) for runner in (base_runner, tree_runner))
    print(f"  {first_difference(before, after) or 'but not when it is run alone'}")
    case = next(case for line in CASES.open() if (case := json.loads(line))["name"] == differing[0])
    print(f"\nscheme {case['scheme']}, seed {case['seed']}, scenario:\n\n{case['scenario']}")
    return 1


def results(runner: Path) -> Iterator[tuple[str, str]]:
    with subprocess.Popen(
        [runner, CASES, FILES], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as run:
        assert run.stdout is not None
        for line in run.stdout:
            name, _, result = line.rstrip("\n").partition("\t")
            yield name, result
    if run.returncode:
        sys.exit(f"{runner} ended with {run.returncode}")


def whole(runner: Path, name: str) -> Any:
    shown = subprocess.run(
        [runner, CASES, FILES, name], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True
    )
    return json.loads(shown.stdout)


def first_difference(before: Any, after: Any, path: str = "") -> str | None:
    """Where two JSON values first differ: in a table, the column that does in the earliest row."""
    if not differ(before, after):
        return None
    if isinstance(before, dict) and isinstance(after, dict):
        inner = {key: (before.get(key, ABSENT), after.get(key, ABSENT)) for key in {**before, **after}}
        key = min((key for key in inner if differ(*inner[key])), key=lambda key: first_row(*inner[key]))
        return first_difference(*inner[key], f"{path}.{key}" if path else key)
    if isinstance(before, list) and isinstance(after, list):
        row = first_row(before, after)
        if row < min(len(before), len(after)):
            return first_difference(before[row], after[row], f"{path}[{row}]")
        return f"{path}: {len(before)} entries -> {len(after)}"
    return f"{path}: {json.dumps(before)} -> {json.dumps(after)}"


ABSENT = "(absent)"


def differ(before: Any, after: Any) -> bool:
    """As texts: to Python, 1, 1.0 and true are equal."""
    return json.dumps(before, sort_keys=True) != json.dumps(after, sort_keys=True)


def first_row(before: Any, after: Any) -> int:
    if not (isinstance(before, list) and isinstance(after, list)):
        return 0
    rows = enumerate(zip(before, after, strict=False))
    return next((row for row, (one, other) in rows if differ(one, other)), min(len(before), len(after)))


if __name__ == "__main__":
    sys.exit(main())
