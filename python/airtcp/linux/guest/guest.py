"""A kernel of Debian's as a place for runs: each has a guest of its own.

The same run sends the same packets. Times in its record may differ by some nanoseconds. Why is not known:
until the run begins, guests are the same to the nanosecond.
"""

from __future__ import annotations

import io
import os
import platform
import shlex
import shutil
import tarfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from airtcp._engine import Cancelled, CancelToken
from airtcp.linux.airtcpd import Airtcpd, complaint
from airtcp.linux.error import LinuxError
from airtcp.linux.guest import archive, machine, modules, programs
from airtcp.linux.guest.debian import KEYS, Packages
from airtcp.linux.place import Ended
from airtcp.running.scratch import scratch_folder

VARIABLE = "AIRTCP_KERNELS"
"""Where kernels are kept, if not in the user's cache."""
NEEDS = {
    "qemu-system-x86_64": "qemu-system-x86",
    "setpriv": "util-linux",
    "apt-get": "apt",
    "dpkg-deb": "dpkg",
    "ldd": "libc-bin",
    KEYS: "debian-archive-keyring",
}
"""Programs and files, and the packages that have them."""
INIT = Path(__file__).with_name("init.sh")
RECIPE, RECORD = "guest/recipe.json", "out/record.json"
PATIENCE_S = 6 * 3600.0
"""For a guest that hangs: no run takes that long."""
PLAN_S = 60.0
LATE = 124
"""Exit status of `timeout` if it had to end the program."""


@dataclass(frozen=True)
class Guest:
    """A kernel, unpacked, and what every guest of it has in its memory."""

    kernel: str
    version: str
    image: Path
    memory: bytes = field(repr=False)
    in_real_time = False

    @property
    def at_a_time(self) -> int:
        """Guests do not disturb each other: their clocks count instructions."""
        return os.cpu_count() or 1

    def check_privileges(self) -> None:
        """Inside, `airtcpd` is root."""

    def plan(self, recipe: Path) -> str:
        found = self._run(["--plan"], recipe, PLAN_S, lambda: None)
        ended = _ended(found)
        if ended.status != 0:
            raise LinuxError(f"airtcpd in a guest of Linux {self.kernel}: {ended.said or 'no answer'}")
        return found["stdout"].decode()

    def make(
        self, options: Sequence[str], recipe: Path, out: Path, limit_s: float, cancel: CancelToken
    ) -> Ended:
        def check() -> None:
            if cancel.cancelled:
                raise Cancelled

        found = self._run(["--out", f"/{RECORD}", *options], recipe, limit_s, check)
        if (record := found.get(Path(RECORD).name)) is not None:
            out.write_bytes(record)
        return _ended(found)

    def _run(
        self, options: Sequence[str], recipe: Path, limit_s: float, check: Callable[[], object]
    ) -> dict[str, bytes]:
        """Boots a guest, and returns what it has left in its folder `out`."""
        run = shlex.join(["airtcpd", "run", "--recipe", f"/{RECIPE}", *options])
        command = f"exec timeout -s INT {limit_s:.0f} {run}\n"
        own = {RECIPE: recipe.read_bytes(), "guest/command": command.encode()}
        with scratch_folder() as folder:
            initrd = folder / "initrd"
            with initrd.open("wb") as file:
                file.write(self.memory)
                archive.write(archive.with_folders(own), file)
            machine.boot(self.image, initrd, folder, PATIENCE_S, check)
            said = (folder / "said").read_bytes()
            console = (folder / "console").read_text(encoding="utf-8", errors="replace")
        return _unpacked(said, console)


def guest(version: str, airtcpd: Airtcpd) -> Guest:
    """Returns Debian's newest kernel of a version such as `6.1`, fetched if it is not here yet.

    # Raises
    LinuxError: this host lacks what guests need, or the kernel cannot be had.
    """
    _check_host()
    packages = Packages(_folder() / "debian")
    kernel = packages.kernel(version)
    files = {
        "init": INIT.read_bytes(),
        "bin/busybox": packages.program("busybox-static", "busybox"),
        **programs.with_libraries(airtcpd.path, "airtcpd"),
    }
    for place, (name, content) in enumerate(modules.chosen(kernel.modules)):
        files[f"guest/modules/{place:02}-{name}.ko"] = content
    memory = io.BytesIO()
    archive.write(archive.with_folders(files), memory)
    return Guest(kernel.release, airtcpd.version, kernel.image, memory.getvalue())


def _check_host() -> None:
    if platform.machine() != "x86_64":
        raise LinuxError(f"a guest's kernel is of x86_64, this host of {platform.machine()}")
    missing = [package for need, package in NEEDS.items() if not (shutil.which(need) or Path(need).is_file())]
    if missing:
        raise LinuxError(
            f"a guest needs {', '.join(missing)}; on Debian: apt-get install {' '.join(missing)}"
        )


def _folder() -> Path:
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(os.environ.get(VARIABLE) or Path(cache) / "airtcp/kernels")


def _unpacked(said: bytes, console: str) -> dict[str, bytes]:
    try:
        with tarfile.open(fileobj=io.BytesIO(said)) as packed:
            files = [(Path(each.name).name, packed.extractfile(each)) for each in packed if each.isfile()]
            return {name: content.read() for name, content in files if content}
    except tarfile.TarError as error:
        last = console.strip().rpartition("\n")[2].strip()
        raise LinuxError(f"the guest did not come to its end: {last or error}") from error


def _ended(found: dict[str, bytes]) -> Ended:
    status = int(found["status"])
    said = complaint(found["stderr"].decode(errors="replace"))
    return Ended(None if status == LATE else status, said)
