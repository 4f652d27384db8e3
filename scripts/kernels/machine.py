"""A guest under qemu's software emulation, with a counted clock.

The guest's clock counts its instructions, so that what it measures does not depend on this host's load, and
time in which it idles costs nothing. While it waits for its disk the clock runs ahead: programs are run once
before they are timed, and limits of time inside are generous.
"""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

from debian import Kernel

MEMORY_MB = 2048


@dataclass(frozen=True)
class Folders:
    """The host's folders that the guest sees."""

    root: Path
    """Its root, which it may not change."""
    guest: Path
    """What it runs: `init.sh` first."""
    out: Path
    """Where it writes; the console is kept beside."""


def boot(kernel: Kernel, initrd: Path, folders: Folders, limit_s: float) -> bool:
    """Runs the guest until it ends by itself; returns whether it has, within that time."""
    command = ["qemu-system-x86_64", "-machine", "q35", "-cpu", "max", "-smp", "1", "-m", str(MEMORY_MB)]
    command += ["-accel", "tcg,thread=single", "-icount", "shift=1,align=off,sleep=off"]
    command += ["-nodefaults", "-no-user-config", "-display", "none", "-no-reboot", "-nic", "none"]
    command += ["-serial", f"file:{folders.out / 'console'}", "-device", "virtio-rng-pci"]
    command += ["-kernel", str(kernel.image), "-initrd", str(initrd)]
    command += ["-append", "console=ttyS0 quiet loglevel=4 panic=-1"]
    shared = {"root": folders.root, "guest": folders.guest, "modules": kernel.modules, "out": folders.out}
    for tag, folder in shared.items():
        rights = "" if tag == "out" else ",readonly=on"
        command += ["-fsdev", f"local,id={tag},path={folder},security_model=none{rights}"]
        command += ["-device", f"virtio-9p-pci,fsdev={tag},mount_tag={tag}"]
    try:
        return subprocess.run(command, timeout=limit_s, check=False).returncode == 0
    except subprocess.TimeoutExpired:
        return False
