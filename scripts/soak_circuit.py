"""Circuits between two gateways under repeated downloads, as root: none may stop.

    sudo python3 scripts/soak_circuit.py --airtcpd target/release/airtcpd [--seeds 20] [--minutes 10]

For each seed: two hosts behind two gateways with a circuit each way, as in docs/guide/circuits.md, over an
emulated link (50 Mbit/s, 20 ms, 0.5 % loss, a queue of 200 packets). Both hosts download from each other all
the time: long files and short ones, with pauses, so that each circuit carries data and now and then only
ACKs. A download that gets nothing for 20 s is a stall. Prints a line per seed: downloads that ended, stalls,
how often the gateways' watchdogs acted, and what is gone: gateways that tell no status, clients that tell
nothing. Exits with 1 if anything stalled or is gone, or a watchdog acted. Makes its
own network namespaces and removes them; needs `ip` (iproute2). `--parallel 4` runs four seeds at a time.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

LINK = """
name = "soak"
duration = "60s"
[[link]]
name = "wireless"
rate = "50Mbit/s"
delay = "10ms"
loss = { packet = 0.005 }
queue = { packets = 200 }
[[flow]]
name = "any"
"""
LONG_BYTES, SHORT_BYTES = 10_000_000, 20_000
PATIENCE_S = 20.0
"""A download that gets nothing for so long stalls."""
HTTP_PORT = 8000
READY_S = 10.0


@dataclass(frozen=True)
class Outcome:
    """What became of one seed."""

    seed: int
    downloads: int
    megabytes: float
    stalls: int
    standstills: int
    gone: int
    """Gateways and clients that tell nothing at the end."""

    @property
    def is_good(self) -> bool:
        """Returns whether nothing stopped, and something was done."""
        return self.stalls + self.standstills + self.gone == 0 and self.downloads > 0


def download(url: str, seconds: float, seed: int) -> None:
    """Downloads again and again, in a process of its own, and prints what became of it."""
    chance, end = random.Random(seed), time.monotonic() + seconds
    downloads = stalls = received = 0
    while time.monotonic() < end:
        name = "long" if chance.random() < 0.5 else "short"
        try:
            with urllib.request.urlopen(f"{url}/{name}", timeout=PATIENCE_S) as answer:
                while part := answer.read(1 << 16):
                    received += len(part)
            downloads += 1
        except (OSError, urllib.error.URLError):
            stalls += 1
        time.sleep(chance.choice([0.0, 0.05, 0.3, 1.5]))
    print(json.dumps({"downloads": downloads, "stalls": stalls, "received": received}))


class Bed:
    """The namespaces of one seed and the processes in them, which end with it."""

    def __init__(self, name: str, airtcpd: str, folder: Path) -> None:
        self.name, self.airtcpd, self.folder = name, airtcpd, folder
        self.processes: list[subprocess.Popen[str]] = []

    def __enter__(self) -> Bed:
        with ExitStack() as undo:
            undo.callback(self.close)
            self._make()
            undo.pop_all()
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends the processes, the last one first, and removes the namespaces."""
        for process in reversed(self.processes):
            process.send_signal(signal.SIGINT)
        for process in self.processes:
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
        for host in ("h1", "g1", "e", "g2", "h2"):
            subprocess.run(["ip", "netns", "del", self.name + host], check=False, stderr=subprocess.DEVNULL)

    def inside(self, host: str, *command: str) -> list[str]:
        """Returns the command that runs another one in a namespace."""
        return ["ip", "netns", "exec", self.name + host, *command]

    def start(self, host: str, *command: str) -> subprocess.Popen[str]:
        """Starts a process in a namespace. Its output goes to a file."""
        log = (self.folder / f"{host}-{len(self.processes)}.log").open("w")
        process = subprocess.Popen(
            self.inside(host, *command),
            stdout=log,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            text=True,
        )
        self.processes.append(process)
        return process

    def _make(self) -> None:
        def ip(host: str, *words: str) -> None:
            subprocess.run(["ip", "-n", self.name + host, *words], check=True)

        for host in ("h1", "g1", "e", "g2", "h2"):
            subprocess.run(["ip", "netns", "add", self.name + host], check=True)
            ip(host, "link", "set", "lo", "up")
        for host, device, far, at in (
            ("h1", "eth0", "lan", "g1"),
            ("g1", "wl", "ea", "e"),
            ("g2", "wl", "eb", "e"),
            ("h2", "eth0", "lan", "g2"),
        ):
            ip(host, "link", "add", device, "type", "veth", "peer", "name", far, "netns", self.name + at)
        for host, device, address in (
            ("h1", "eth0", "10.9.1.2"),
            ("g1", "lan", "10.9.1.1"),
            ("g1", "wl", "10.9.0.1"),
            ("g2", "wl", "10.9.0.2"),
            ("g2", "lan", "10.9.2.1"),
            ("h2", "eth0", "10.9.2.2"),
        ):
            ip(host, "addr", "add", f"{address}/24", "dev", device)
            ip(host, "link", "set", device, "up")
        for device in ("ea", "eb"):
            ip("e", "link", "set", device, "up")
        for number, other in ((1, 2), (2, 1)):
            ip(f"h{number}", "route", "add", "default", "via", f"10.9.{number}.1")
            ip(f"g{number}", "route", "add", f"10.9.{other}.0/24", "via", f"10.9.0.{other}")
            forward = self.inside(f"g{number}", "sh", "-c", "echo 1 > /proc/sys/net/ipv4/ip_forward")
            subprocess.run(forward, check=True)

    def serve(self, seed: int, key: Path, link: Path, files: Path) -> list[int]:
        """Starts everything but the downloads. Returns the process numbers of the sending gateways."""
        link_command = ("link", "--between", "eb", "ea", "--every", "0", "--seed", str(seed), str(link))
        self.start("e", self.airtcpd, *link_command)
        for number in (1, 2):
            listen, prefix = f"10.9.0.{number}:400{number}", f"10.9.{number}.0/24"
            circuit = ("circuit", "receive", "--listen", listen, "--prefix", prefix, "--key-file", str(key))
            self.start(f"g{number}", self.airtcpd, *circuit)
        senders = []
        for number, other in ((1, 2), (2, 1)):
            to, prefix = f"10.9.0.{other}:400{other}", f"10.9.{other}.0/24"
            circuit = ("circuit", "send", "--to", to, "--prefix", prefix, "--key-file", str(key))
            senders.append(self.start(f"g{number}", self.airtcpd, *circuit).pid)
            server = (sys.executable, "-m", "http.server", "-d", str(files), str(HTTP_PORT))
            self.start(f"h{number}", *server)
        return senders

    def counters(self, senders: Sequence[int]) -> list[dict[str, int]]:
        """Returns the counters of the sending gateways that answer."""
        status = subprocess.run(
            [self.airtcpd, "circuit", "status", "--json"], check=True, capture_output=True, text=True
        )
        return [one["counters"] for one in json.loads(status.stdout) if one["pid"] in senders]


def wait_until_open(bed: Bed, senders: Sequence[int]) -> None:
    """Waits until both circuits are open."""
    end = time.monotonic() + READY_S
    while time.monotonic() < end:
        if [one["open"] for one in bed.counters(senders)] == [1, 1]:
            return
        time.sleep(0.2)
    raise RuntimeError(f"the circuits do not open within {READY_S:.0f} s; see {bed.folder}")


def soak(seed: int, minutes: float, airtcpd: str, prefix: str, folder: Path) -> Outcome:
    """Runs one seed."""
    own = folder / str(seed)
    own.mkdir()
    with Bed(f"{prefix}{seed}-", airtcpd, own) as bed:
        senders = bed.serve(seed, folder / "key", folder / "link.toml", folder / "files")
        wait_until_open(bed, senders)
        clients = []
        for number, other in ((1, 2), (2, 1)):
            ask = (f"http://10.9.{other}.2:{HTTP_PORT}", str(minutes * 60), str(2 * seed + number))
            command = bed.inside(f"h{number}", sys.executable, __file__, "--download", *ask)
            clients.append(subprocess.Popen(command, stdout=subprocess.PIPE, text=True))
        told = [json.loads(client.communicate()[0] or "{}") for client in clients]
        counters = bed.counters(senders)

        def total(key: str) -> int:
            return sum(one.get(key, 0) for one in told)

        gone = (2 - len(counters)) + sum(not one for one in told)
        standstills = sum(one["standstills_total"] for one in counters)
        return Outcome(seed, total("downloads"), total("received") / 1e6, total("stalls"), standstills, gone)


def main() -> int:
    """Runs all seeds, and returns the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("--airtcpd", default="airtcpd", help="the program to test")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first", type=int, default=1, help="the first seed")
    parser.add_argument("--minutes", type=float, default=10.0, help="how long each seed runs")
    parser.add_argument("--parallel", type=int, default=1, help="seeds at a time")
    parser.add_argument("--prefix", default="soak", help="what the namespaces' names begin with")
    parser.add_argument("--download", nargs=3, metavar=("URL", "SECONDS", "SEED"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.download:
        url, seconds, seed = options.download
        download(url, float(seconds), int(seed))
        return 0
    airtcpd = shutil.which(options.airtcpd)
    if airtcpd is None or os.geteuid() != 0:
        parser.error("needs root, and airtcpd: give its path with --airtcpd")
    folder = Path(tempfile.mkdtemp(prefix="soak-circuit-"))
    (folder / "files").mkdir()
    (folder / "files" / "long").write_bytes(os.urandom(LONG_BYTES))
    (folder / "files" / "short").write_bytes(os.urandom(SHORT_BYTES))
    (folder / "link.toml").write_text(LINK)
    subprocess.run([airtcpd, "circuit", "key", str(folder / "key")], check=True, stdout=subprocess.DEVNULL)
    are_good = True
    program = str(Path(airtcpd).resolve())

    def one(seed: int) -> Outcome:
        return soak(seed, options.minutes, program, options.prefix, folder)

    with ThreadPoolExecutor(options.parallel) as pool:
        for outcome in pool.map(one, range(options.first, options.first + options.seeds)):
            are_good &= outcome.is_good
            print(
                f"seed {outcome.seed}: {outcome.downloads} downloads, {outcome.megabytes:.0f} MB, "
                f"{outcome.stalls} stalls, watchdog {outcome.standstills}, {outcome.gone} gone",
                flush=True,
            )
    if are_good:
        shutil.rmtree(folder)
    else:
        print(f"something stopped: the logs are in {folder}")
    return 0 if are_good else 1


if __name__ == "__main__":
    sys.exit(main())
