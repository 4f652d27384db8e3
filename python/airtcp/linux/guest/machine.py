"""A guest under qemu's software emulation, with a counted clock.

The guest's clock counts its instructions: what it measures does not depend on this host's load, and time in
which it idles costs nothing. Its calendar begins on the same day, and its random numbers are always the same.
It has one processor, no disk and no network, and writes to a serial line.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from time import monotonic

MEMORY_MB = 1536
# Without what only costs under emulation: copies byte by byte, another page table for each system call.
PROCESSOR = "max,-erms,-fsrm,-smap,-smep,-la57"
# Whatever ends the thread that has started the guest ends the guest.
WITH_ITS_MAKER = ["setpriv", "--pdeathsig", "KILL"]
KERNEL_OPTIONS = (
    "console=ttyS0 quiet loglevel=4 panic=-1 random.trust_cpu=on mitigations=off nokaslr norandmaps audit=0"
)

LOOK_S = 0.1


def boot(
    image: Path, initrd: Path, out: Path, limit_s: float, check: Callable[[], object] = lambda: None
) -> bool:
    """Runs the guest until it ends by itself; returns whether it has, within that time.

    `check` is called now and then; the guest ends with an error from it, with KeyboardInterrupt, and with
    this thread, even if that is killed.

    The folder `out` gets the kernel's messages as `console`, and as `said` what it wrote to its line.
    """
    command = [*WITH_ITS_MAKER, "qemu-system-x86_64", "-machine", "q35", "-cpu", PROCESSOR]
    command += ["-smp", "1", "-m", str(MEMORY_MB)]
    command += ["-accel", "tcg,thread=single", "-icount", "shift=1,align=off,sleep=off"]
    command += ["-rtc", "base=2026-01-01T00:00:00,clock=vm", "-seed", "1"]
    command += ["-nodefaults", "-no-user-config", "-display", "none", "-no-reboot", "-nic", "none"]
    command += ["-serial", f"file:{out / 'console'}", "-serial", f"file:{out / 'said'}"]
    command += ["-kernel", str(image), "-initrd", str(initrd)]
    command += ["-append", KERNEL_OPTIONS]
    deadline_s = monotonic() + limit_s
    # Ctrl-C is for this process to handle.
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, process_group=0) as qemu:
        try:
            while monotonic() < deadline_s:
                check()
                try:
                    return qemu.wait(LOOK_S) == 0
                except subprocess.TimeoutExpired:
                    continue
            return False
        finally:
            qemu.kill()
