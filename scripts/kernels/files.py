"""What a guest has in its memory: a small Debian, its kernel's modules, and what it is to run."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from airtcp.linux.guest import archive
from airtcp.linux.guest.debian import FetchError, Kernel

HERE = Path(__file__).resolve().parent
PACKAGES = (
    "python3-minimal", "libpython3-stdlib", "iperf3", "iproute2", "nftables", "kmod", "procps",
    "iputils-ping", "bpftool", "curl",
)  # fmt: skip
NOT_NEEDED = re.compile(
    r"(dev|proc|sys|run|tmp|boot|packages|lib/modules|usr/lib/modules)/"
    r"|var/(lib/(apt|dpkg|systemd)|cache|log)/"
    r"|usr/share/(?!iproute2|nftables)|usr/lib/(locale|systemd|udev)/|usr/include/"
    r"|usr/lib/[^/]*/(gconv|perl.*|security)/|.*/(__pycache__|perl)/"
)


def of_root(root: Path, make_root: Path) -> Path:
    """Returns the archive of a Debian with the packages that features need; made once.

    # Arguments
    make_root: the script that installs packages in a root.
    """
    place, made_of = root.with_suffix(".cpio"), root.with_suffix(".packages")
    wanted = " ".join(PACKAGES)
    if not made_of.exists() or made_of.read_text(encoding="utf-8") != wanted:
        print("  installing the guest's root", file=sys.stderr, flush=True)
        if subprocess.run([make_root, root, *PACKAGES], check=False).returncode:
            raise FetchError("the guest's root could not be installed")
        with place.open("wb") as file:
            archive.write(archive.of_folder(root, lambda name: not NOT_NEEDED.match(name)), file)
        made_of.write_text(wanted, encoding="utf-8")
    return place


def of_modules(kernel: Kernel, root: Path) -> Path:
    """Returns the archive of a kernel's modules; made once."""
    place = kernel.modules.parent / f"{kernel.release}.cpio"
    if not place.exists():
        modules = root / "usr/lib/modules"
        shutil.rmtree(modules, ignore_errors=True)
        shutil.copytree(kernel.modules, modules / kernel.release)
        subprocess.run(["chroot", root, "depmod", kernel.release], check=True)
        with place.open("wb") as file:
            archive.write(archive.of_folder(root, _is_of_modules), file)
        shutil.rmtree(modules)
    return place


def of_guest(own: dict[str, bytes]) -> Iterator[archive.Entry]:
    """Returns the guest's scripts, and files of this run."""
    scripts = {
        f"guest/{path.name}": path.read_bytes() for path in (HERE / "guest").iterdir() if path.is_file()
    }
    return archive.with_folders({**scripts, **own, "init": scripts["guest/init.sh"]})


def _is_of_modules(name: str) -> bool:
    return name.startswith("usr/lib/modules") or "usr/lib/modules".startswith(name)
