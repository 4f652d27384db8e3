"""Hosts of their own, as namespaces without names.

The kernel removes them when their first process ends, and that ends with the test, however the test does.
"""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

SHARED = Path("/mnt")
"""Where the programs of all hosts find the test's folder."""
OWN = ["--net", "--mount", "--pid", "--ipc"]
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
# The first process says what it is called outside, and lives until the test closes its input or ends.
FIRST = """
read -r pid _ </proc/self/stat
mount --bind "$2" "$1/mnt"
[ "$1" = / ] || mount --rbind /dev "$1/dev"
for place in run tmp root dev/shm; do mount -t tmpfs tmpfs "$1/$place"; done
mount -t proc proc "$1/proc"
[ ! -e "$1/etc/resolv.conf" ] || mount --bind /dev/null "$1/etc/resolv.conf"
ip link set lo up
echo "$pid"
exec chroot "$1" cat
"""


class Host:
    """Processes, mounts and a network. Its programs are those below `root`; all hosts share one folder."""

    def __init__(self, root: Path, shared: Path) -> None:
        self._first = subprocess.Popen(
            ["unshare", *OWN, "--fork", "sh", "-euc", FIRST, "sh", root, shared],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._first.stdout
        self.pid = int(self._first.stdout.readline())

    def beside(self, *command: str | Path) -> Sequence[str | Path]:
        """A program of the real host, in this one's network."""
        return ["nsenter", f"--net=/proc/{self.pid}/ns/net", *command]

    def within(
        self, script: str, directory: Path, environment: dict[str, str | Path], patience_s: float = 0
    ) -> Sequence[str]:
        """A script of this host's shell. It ends at the first error, or when patience does (0: never)."""
        return [
            *["nsenter", f"--target={self.pid}", *OWN, "--root", "--wd"],
            *["env", "--ignore-environment", f"--chdir={directory}", f"PATH={PATH}", "HOME=/root"],
            *[f"{name}={value}" for name, value in environment.items()],
            *["timeout", "--kill-after=1", str(patience_s), "bash", "-euo", "pipefail", "-c", script],
        ]

    def set_up(self, *lines: str) -> None:
        """Carries out lines of `ip` or `sysctl` in its network."""
        subprocess.run(self.beside("sh", "-euc", "\n".join(lines)), check=True)

    def ask(self, script: str) -> str:
        """Returns what a script of its shell says."""
        command = self.within(script, Path("/"), {})
        return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout

    def listens(self, port: int) -> bool:
        """Whether someone waits for connections; nobody notices the question."""
        for table in ("tcp", "tcp6"):
            for line in Path(f"/proc/{self.pid}/net/{table}").read_text(encoding="utf-8").splitlines()[1:]:
                _, local, _, state, *_ = line.split()
                if state == "0A" and int(local.rpartition(":")[2], 16) == port:
                    return True
        return False

    def end_programs(self) -> None:
        """All but its first process."""
        subprocess.run(self.within("kill -KILL -1", Path("/"), {}), check=False)

    def end(self) -> None:
        self._first.communicate()
