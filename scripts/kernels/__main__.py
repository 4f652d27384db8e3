"""Boots Debian's kernels under qemu and tries every feature of airtcpd on each; as root.

    python3 scripts/kernels 6.1                    one kernel, in some minutes
    python3 scripts/kernels 6.1 --only proxy       the features with that word in their names
    python3 scripts/kernels 5.10 6.1 --docs docs   writes docs/kernels.md, with what is kept of other kernels
    python3 scripts/kernels 6.1 --airtcpd target/debug/airtcpd

Needs qemu-system-x86_64, debootstrap, apt-get and zstd: `make test-kernels` installs them. Nothing else is
installed on this host: kernels, the guest's root and its logs are kept in target/kernels. The exit
status is 1 if a guest did not come to its end, or something fails that docs/kernels.md says works.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import initrd
import machine
import table
from debian import FetchError, Kernel, Packages

HERE = Path(__file__).resolve().parent
PROJECT = HERE.parent.parent
IN_ROOT = (
    "python3", "iperf3", "iproute2", "nftables", "kmod", "procps", "iputils-ping", "bpftool", "libelf1",
    "zlib1g",
)  # fmt: skip
PAGE = "kernels.md"
LIMIT_S = 3600.0


def main() -> None:
    options = _options()
    packages = Packages(options.folder / "debian")
    root = _root(options.folder)
    results = [
        _try(version, _fetched(packages, version), packages, root, options) for version in options.kernels
    ]
    broken = _broken(results, options.only)
    if options.docs:
        kept = [table.read(folder) for folder in (options.folder / "results").iterdir()]
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
    parser.add_argument("--docs", type=Path, metavar="FOLDER", help=f"where to write {PAGE}")
    options = parser.parse_args()
    options.airtcpd = options.airtcpd or next((path for path in built if path.exists()), built[0])
    if not options.airtcpd.exists():
        parser.error(f"{options.airtcpd} is missing: `make field` builds it")
    for version in options.kernels:
        if not re.fullmatch(r"\d+\.\d+", version):
            parser.error(f"{version} is not a kernel's version: try 5.10, 6.1, 6.12")
    return options


def _broken(results: list[table.Result], only: str) -> list[str]:
    """What the page claims and a guest has not found."""
    path = PROJECT / "docs" / PAGE
    page = path.read_text(encoding="utf-8") if path.exists() else ""
    broken = []
    for result in results:
        claimed = {name for name in table.claims(page, result.version) if only in name}
        broken += [
            f"{result.version}: {name} works in docs/{PAGE}, and not here" for name in claimed - result.good
        ]
        if not result.has_ended:
            broken.append(f"{result.version}: the guest did not come to its end")
    return sorted(broken)


def _fetched(packages: Packages, version: str) -> Kernel:
    try:
        return packages.kernel(version)
    except FetchError as error:
        sys.exit(str(error))


def _root(folder: Path) -> Path:
    """The guest's root; made once."""
    root, stamp = folder / "root", folder / "root.stamp"
    wanted = " ".join(IN_ROOT)
    if not stamp.exists() or stamp.read_text(encoding="utf-8") != wanted:
        _say("installing the guest's root")
        subprocess.run([PROJECT / "packaging/root.sh", root, *IN_ROOT], check=True)
        stamp.write_text(wanted, encoding="utf-8")
    return root


def _try(
    version: str, kernel: Kernel, packages: Packages, root: Path, options: argparse.Namespace
) -> table.Result:
    """Boots a kernel; what the guest writes is kept in the folder's `results`."""
    _say(f"booting Linux {kernel.release}")
    out = options.folder / "results" / version
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    with tempfile.TemporaryDirectory(prefix="airtcp-kernels-") as scratch:
        guest, first_root = Path(scratch) / "guest", Path(scratch) / "initrd"
        shutil.copytree(HERE / "guest", guest, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(options.airtcpd, guest / "airtcpd")
        shutil.copy(PROJECT / "scenarios/lossy-ethernet.toml", guest)
        (guest / "only").write_text(options.only, encoding="utf-8")
        initrd.write(kernel, packages.busybox(), root, first_root)
        has_ended = machine.boot(kernel, first_root, machine.Folders(root, guest, out), LIMIT_S)
    ended = (
        has_ended
        and (out / "log").exists()
        and (out / "log").read_text(errors="replace").endswith("exit 0\n")
    )
    about = {"version": version, "release": kernel.release, "airtcpd": _revision(), "has_ended": ended}
    (out / "about").write_text(json.dumps(about), encoding="utf-8")
    result = table.read(out)
    print(table.text(result), flush=True)
    _say(f"its log is {out}/log")
    return result


def _revision() -> str:
    command = ["git", "-C", str(PROJECT), "rev-parse", "--short=8", "HEAD"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()


def _say(what: str) -> None:
    print(f"  {what}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
