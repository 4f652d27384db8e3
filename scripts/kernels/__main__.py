"""Boots Debian's kernels under qemu and tries every feature of airtcpd on each; as root.

    python3 scripts/kernels 6.1                    one kernel, in some minutes
    python3 scripts/kernels 6.1 --only proxy       the features with that word in their names
    python3 scripts/kernels 5.10 6.1 --docs docs   writes docs/kernels.md, with what is kept of other kernels
    python3 scripts/kernels 6.1 --airtcpd target/debug/airtcpd --if-possible --limit 180

Needs qemu-system-x86_64 and debootstrap: `make test-kernels` installs them. Nothing else is installed on
this host: kernels, the guest's root and its logs are kept in target/kernels. The exit status is 1 if
a guest did not come to its end, or something fails that docs/kernels.md says works.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import re
import shutil
import subprocess
import sys
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
sys.path.append(str(PROJECT / "python"))
import files  # noqa: E402
import table  # noqa: E402

from airtcp.linux.guest import archive, machine, programs  # noqa: E402
from airtcp.linux.guest.debian import FetchError, Kernel, Packages  # noqa: E402
from airtcp.running.scratch import scratch_folder  # noqa: E402

PAGE = "kernels.md"
PATIENCE_S = 3600.0
SOURCES = ("crates", "Cargo.lock")
"""What a build is made of."""


def main() -> None:
    options = _options()
    packages = Packages(options.folder / "debian")
    try:
        _check_host()
        if options.fetch:
            for version in options.kernels:
                _fetched(version, packages, options)
            return
        results = [_try(version, packages, options) for version in options.kernels]
    except FetchError as error:
        if options.if_possible:
            print(f"the kernels are skipped: {error}")
            return
        sys.exit(str(error))
    broken = _broken(results, options)
    if options.docs:
        kept = [
            table.read(folder)
            for folder in (options.folder / "results").iterdir()
            if (folder / "about").exists()
        ]
        kept.sort(key=lambda result: [int(part) for part in result.version.split(".")])
        (options.docs / PAGE).write_text(table.page(kept), encoding="utf-8")
    sys.exit("\n".join(broken) or 0)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="scripts/kernels", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    built = [PROJECT / ".venv/bin/airtcpd", PROJECT / "target/debug/airtcpd"]
    parser.add_argument("kernels", nargs="*", metavar="VERSION", help="such as 6.1")
    parser.add_argument("--only", default="", metavar="WORD", help="features with this word in their names")
    parser.add_argument(
        "--airtcpd", type=Path, metavar="FILE", help=f"the program to try [default: {built[0]}]"
    )
    parser.add_argument(
        "--folder", type=Path, default=PROJECT / "target/kernels", help="for kernels and the guest's root"
    )
    parser.add_argument("--limit", type=float, metavar="SECONDS", help="judge what a guest has tried by then")
    parser.add_argument("--fetch", action="store_true", help="fetch what is missing, and boot nothing")
    parser.add_argument("--if-possible", action="store_true", help="skip it where something is missing")
    parser.add_argument("--docs", type=Path, metavar="FOLDER", help=f"where to write {PAGE}")
    options = parser.parse_args()
    options.airtcpd = options.airtcpd or next((path for path in built if path.exists()), built[0])
    if not options.fetch and not options.airtcpd.exists():
        parser.error(f"{options.airtcpd} is missing: `make field` builds it")
    for version in options.kernels:
        if not re.fullmatch(r"\d+\.\d+", version):
            parser.error(f"{version} is not a kernel's version: try 5.10, 6.1, 6.12")
    return options


def _check_host() -> None:
    if os.geteuid() != 0 or platform.machine() != "x86_64":
        raise FetchError("it needs root, on x86_64")
    missing = [tool for tool in ("qemu-system-x86_64", "debootstrap", "apt-get") if not shutil.which(tool)]
    if missing:
        raise FetchError(
            f"without {', '.join(missing)}; on Debian: apt-get install qemu-system-x86 debootstrap"
        )


def _broken(results: list[table.Result], options: argparse.Namespace) -> list[str]:
    """What the page claims and a guest has not found; with a limit, as far as it has come."""
    path = PROJECT / "docs" / PAGE
    page = path.read_text(encoding="utf-8") if path.exists() else ""
    broken = []
    for result in results:
        bad = table.claims(page, result.version) & result.tried - result.good
        broken += [f"{result.version}: {name} works in docs/{PAGE}, and not here" for name in bad]
        if not result.has_ended and not options.limit:
            broken.append(f"{result.version}: the guest did not come to its end")
    return sorted(broken)


def _fetched(version: str, packages: Packages, options: argparse.Namespace) -> tuple[Kernel, list[Path]]:
    """Returns a kernel, and archives of the guest's root and of the kernel's modules."""
    kernel, root = packages.kernel(version), options.folder / "root"
    return kernel, [files.of_root(root, PROJECT / "packaging/root.sh"), files.of_modules(kernel, root)]


def _try(version: str, packages: Packages, options: argparse.Namespace) -> table.Result:
    """Boots a kernel; what the guest says is kept in the folder's `results`."""
    kernel, parts = _fetched(version, packages, options)
    _say(f"booting Linux {kernel.release}")
    out = options.folder / "results" / version
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    (out / "said").touch()
    own = {
        "guest/only": options.only.encode(),
        "guest/lossy-ethernet.toml": (PROJECT / "scenarios/lossy-ethernet.toml").read_bytes(),
        "usr/bin/airtcpd": programs.stripped(options.airtcpd),
    }
    with scratch_folder() as folder:
        initrd = folder / "initrd"
        with initrd.open("wb") as file:
            for part in parts:
                file.write(part.read_bytes())
            archive.write(files.of_guest(own), file)
        has_ended = machine.boot(kernel.image, initrd, out, options.limit or PATIENCE_S)
    said = (out / "said").read_text(encoding="utf-8", errors="replace")
    has_ended = has_ended and "\nexit 0\n" in said
    about = {
        "version": version,
        "release": kernel.release,
        "airtcpd": _build(options.airtcpd),
        "has_ended": has_ended,
    }
    (out / "about").write_text(json.dumps(about), encoding="utf-8")
    result = table.read(out)
    print(table.text(result), flush=True)
    _say(f"its log is {out}/said")
    return result


def _build(program: Path) -> str:
    """Returns which one it is: by the revision only if it was built here, of that revision as it is."""
    if program.resolve().is_relative_to(PROJECT) and not _git("status", "--porcelain", *SOURCES):
        built_s = program.stat().st_mtime
        names = _git("ls-files", *SOURCES).splitlines()
        if all((PROJECT / name).stat().st_mtime < built_s for name in names):
            return f"at revision {_git('rev-parse', '--short=8', 'HEAD')}"
    return f"with SHA-256 {hashlib.sha256(program.read_bytes()).hexdigest()[:16]}"


def _git(*command: str) -> str:
    done = subprocess.run(["git", "-C", PROJECT, *command], capture_output=True, text=True, check=False)
    # Where there is no repository, nothing is as in a revision.
    return done.stdout.strip() if not done.returncode else done.stderr


def _say(what: str) -> None:
    print(f"  {what}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
