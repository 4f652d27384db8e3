"""The guest's first root: busybox, the modules for the host's folders, and a script that mounts them.

The host's root folder lies below a layer in memory, so that the guest may write anywhere and nothing stays.
"""

from __future__ import annotations

import gzip
import lzma
import subprocess
from pathlib import Path

from debian import Kernel

NEEDED = ("virtio_pci", "9pnet_virtio", "9p", "overlay", "virtio_rng")
INIT = """#!/bin/busybox sh
/bin/busybox mkdir -p /proc /sys /dev /lower /upper /root
/bin/busybox --install -s /bin
mount -t proc proc /proc; mount -t sysfs sys /sys; mount -t devtmpfs dev /dev
while read module; do insmod /modules/$module; done </modules/order
of_host="trans=virtio,version=9p2000.L,msize=262144"
mount -t 9p -o $of_host,cache=loose,ro root /lower
mount -t tmpfs upper /upper; mkdir /upper/upper /upper/work
mount -t overlay -o lowerdir=/lower,upperdir=/upper/upper,workdir=/upper/work overlay /root
mkdir -p /root/guest /root/out /root/lib/modules/$(uname -r)
mount -t 9p -o $of_host,cache=loose,ro guest /root/guest
mount -t 9p -o $of_host,cache=loose,ro modules /root/lib/modules/$(uname -r)
mount -t 9p -o $of_host out /root/out
mount --move /proc /root/proc; mount --move /sys /root/sys; mount --move /dev /root/dev
exec switch_root /root /bin/sh /guest/init.sh
"""
REGULAR, FOLDER, LINK = 0o100755, 0o040755, 0o120777


def write(kernel: Kernel, busybox: Path, root: Path, place: Path) -> None:
    """Writes the initrd of this kernel; `root` is the guest's root, whose kmod orders the modules."""
    entries: list[tuple[str, int, bytes]] = [("bin", FOLDER, b""), ("modules", FOLDER, b"")]
    entries += [("bin/busybox", REGULAR, busybox.read_bytes()), ("bin/sh", LINK, b"busybox")]
    entries.append(("init", REGULAR, INIT.encode()))
    order = []
    for module in _in_order(kernel, root):
        name = module.name.removesuffix(".xz").removesuffix(".zst")
        order.append(name)
        entries.append((f"modules/{name}", REGULAR, _unpacked(module)))
    entries.append(("modules/order", REGULAR, "".join(f"{name}\n" for name in order).encode()))
    pack(entries, place)


def pack(entries: list[tuple[str, int, bytes]], place: Path) -> None:
    """Writes files, each with its path, mode and content, as a compressed archive."""
    end = _entry(("TRAILER!!!", 0, b""))
    place.write_bytes(gzip.compress(b"".join(map(_entry, entries)) + end, 1))


def _in_order(kernel: Kernel, root: Path) -> list[Path]:
    """The modules that are needed, each after those that it needs itself."""
    inside = root / "lib/modules" / kernel.release
    inside.mkdir(parents=True, exist_ok=True)
    script = (
        'mount --bind "$1" "$2/lib/modules/$3" && chroot "$2" depmod "$3" && shift 2 && release=$1 && shift\n'
        'for module; do chroot "$0" modprobe --set-version "$release" --show-depends "$module"; done'
    )
    command = [
        "unshare",
        "--mount",
        "sh",
        "-c",
        script,
        str(root),
        str(kernel.modules),
        str(root),
        kernel.release,
    ]
    done = subprocess.run([*command, *NEEDED], capture_output=True, text=True, check=False)
    found = [line.split()[1] for line in done.stdout.splitlines() if line.startswith("insmod ")]
    inside_guest = f"/lib/modules/{kernel.release}/"
    return [kernel.modules / path.split(inside_guest)[1] for path in dict.fromkeys(found)]


def _unpacked(module: Path) -> bytes:
    match module.suffix:
        case ".xz":
            return lzma.decompress(module.read_bytes())
        case ".zst":
            return subprocess.run(["zstd", "-qdc", module], capture_output=True, check=True).stdout
    return module.read_bytes()


def _entry(entry: tuple[str, int, bytes]) -> bytes:
    """One file of an archive of cpio's format `newc`."""
    path, mode, data = entry
    name = path.encode() + b"\0"
    fields = [0, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name), 0]
    head = b"070701" + b"".join(b"%08X" % field for field in fields) + name
    return _padded(head) + _padded(data)


def _padded(data: bytes) -> bytes:
    return data + b"\0" * (-len(data) % 4)
