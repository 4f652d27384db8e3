"""Debian's kernels and tools, fetched and unpacked; nothing is installed on this host."""

from __future__ import annotations

import fcntl
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from airtcp.linux.error import LinuxError

SUITES = ("bullseye", "bookworm", "bookworm-backports", "trixie", "trixie-backports", "sid")
KEYS = "/usr/share/keyrings/debian-archive-keyring.gpg"
PARTS = re.compile(r"linux-(image|modules|binary)-[0-9]")
EXCLUDED = (
    "*/kernel/fs", "*/kernel/sound", "*/kernel/drivers/[!n]*", "*/kernel/drivers/net/*/*",
    "*/kernel/net/bluetooth", "*/kernel/net/mac80211", "*/kernel/net/wireless", "./usr/share",
    "*/System.map*",
)  # fmt: skip
"""What a guest without devices does not need of a kernel."""
OTHER_BUILDS = re.compile(r"cloud|-rt-|dbg|unsigned|lpae|16k")


class FetchError(LinuxError):
    """A package cannot be had: says why."""


@dataclass(frozen=True)
class Kernel:
    """One that is unpacked."""

    release: str
    """As `uname -r` prints it."""
    image: Path
    modules: Path
    """`lib/modules/RELEASE`."""


class Packages:
    """Debian's packages of all suites, through a state of apt of our own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()
        for name in ("lists/partial", "cache/archives/partial", "packages"):
            (self.folder / name).mkdir(parents=True, exist_ok=True)
        (self.folder / "status").touch()
        site = _site()
        lines = [f"deb [signed-by={KEYS}] {site} {suite} main\n" for suite in SUITES]
        (self.folder / "sources.list").write_text("".join(lines), encoding="utf-8")

    def refresh(self) -> None:
        """Fetches the suites' lists; one that is gone is left out."""
        _apt(["apt-get", *self._options(), "-q", "update"], check=False)

    def kernel(self, version: str) -> Kernel:
        """Fetches and unpacks the newest kernel of that version, such as `6.1`.

        # Raises
        FetchError: no suite has one, or it cannot be fetched.
        """
        place = self.folder / version
        with self._alone():
            if not (place / "made").exists():
                self.refresh()
                shutil.rmtree(place, ignore_errors=True)
                for package in self._parts(self._newest(version)):
                    self._unpack(package, place)
                (place / "made").touch()
        modules = next(iter(sorted(place.glob("**/lib/modules/*"))))
        images = [*place.glob("boot/vmlinuz-*"), modules / "vmlinuz"]
        return Kernel(modules.name, next(image for image in images if image.exists()), modules)

    def program(self, package: str, name: str) -> bytes:
        """Fetches a package if it is not there yet, and returns a program of it.

        # Raises
        FetchError: it cannot be fetched.
        """
        place = self.folder / package
        with self._alone():
            if not place.exists():
                self.refresh()
                self._unpack(package, place)
        return next(place.glob(f"**/bin/{name}")).read_bytes()

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Keeps other processes from fetching the same."""
        with (self.folder / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def _newest(self, version: str) -> str:
        pattern = rf"^linux-image-{re.escape(version)}[.-].*amd64$"
        lines = _apt(["apt-cache", *self._options(), "search", "--names-only", pattern]).splitlines()
        name = newest([line.split(" ")[0] for line in lines])
        if not name:
            raise FetchError(f"no suite of Debian has a kernel {version}, or its lists could not be fetched")
        return name

    def _parts(self, image: str) -> list[str]:
        """From 7.1 on, the kernel and its modules are packages of their own."""
        text = _apt(["apt-cache", *self._options(), "depends", image])
        found = [line.split(":")[1].strip() for line in text.splitlines() if "Depends:" in line]
        return [image, *(name for name in found if PARTS.match(name))]

    def _unpack(self, package: str, place: Path) -> None:
        print(f"  fetching {package}", file=sys.stderr, flush=True)
        packages = self.folder / "packages"
        _apt(["apt-get", *self._options(), "-q", "download", package], cwd=packages)
        file = next(iter(packages.glob(f"{package}_*.deb")))
        place.mkdir(parents=True, exist_ok=True)
        with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", file], stdout=subprocess.PIPE) as content:
            excluded = [f"--exclude={pattern}" for pattern in EXCLUDED]
            subprocess.run(["tar", "-x", "-C", place, *excluded], stdin=content.stdout, check=True)
        if content.returncode:
            raise FetchError(f"{file.name} could not be unpacked")
        file.unlink()

    def _options(self) -> list[str]:
        where = {
            "Dir::State": self.folder, "Dir::State::lists": self.folder / "lists",
            "Dir::State::status": self.folder / "status", "Dir::Cache": self.folder / "cache",
            "Dir::Etc::sourcelist": self.folder / "sources.list", "Dir::Etc::sourceparts": "/dev/null",
            "APT::Sandbox::User": "root", "Acquire::Languages": "none",
        }  # fmt: skip
        return [word for name, value in where.items() for word in ("-o", f"{name}={value}")]


def newest(names: list[str]) -> str | None:
    """Returns the package with the highest version; builds for other purposes do not count."""
    usual = [name for name in names if not OTHER_BUILDS.search(name)]
    return max(usual, key=lambda name: [int(number) for number in re.findall(r"\d+", name)], default=None)


def _site() -> str:
    """Returns where this host has its own Debian from."""
    text = _apt(["apt-get", "indextargets", "--format", "$(SITE)", "Created-By: Packages"], check=False)
    sites = [line.rstrip("/") for line in text.splitlines() if line.rstrip("/").endswith("/debian")]
    return sites[0] if sites else "http://deb.debian.org/debian"


def _apt(command: list[str], cwd: Path | None = None, *, check: bool = True) -> str:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    if check and done.returncode:
        raise FetchError(f"{' '.join(command[-2:])}: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout
