"""The features: each is tried as an operator would use it, and says in a word or two how well it works."""

from __future__ import annotations

import json
import re
import signal
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import hosts
from beside_netem import COMPARISONS
from commands import Failed, carries, daemon, fast_enough, reason, run, until

LOSSY = "/guest/lossy-ethernet.toml"
MARKING = "/guest/marking.toml"
PLAIN = "/guest/plain.toml"
CONTROLLERS = (
    "concord",
    "hybla",
    "jersey",
    "new-jersey",
    "spectcp",
    "vegas",
    "veno",
    "westwood-nr",
    "westwood-vt",
)
# They hear of congestion by ECN alone.
BY_ECN = ("jersey", "new-jersey", "spectcp")
# From which goodput on each works, in Mbit/s; table.py says it on the page.
CONTROLLER, MARKED, CONCORD, LINK, LONG, ROUTED, CIRCUIT = 1, 8.5, 8.5, 8.5, 9.2, 25, 5
AVAILABLE = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")
TRANSFER_S = 2
LONG_S = 30
UPLOAD_BYTES = 2_500_000
UDP_SEGMENT = 103
KEY = "/tmp/circuit.key"
KEY_FILE = ("--key-file", KEY)
GATEWAY = f"{hosts.MOBILE}:4007"


@dataclass(frozen=True)
class Feature:
    """One of the table's rows."""

    name: str
    section: str
    """Of the doctor."""
    check: str
    """Of that section: the doctor must say of it what is found; empty if the section alone tells."""
    attempt: Callable[[], str]
    group: str = ""
    """Those that are tried together, if not all of the section."""


def behind_the_link(
    control: str, at_least_mbps: float, scenario: str = LOSSY, seconds: int = TRANSFER_S
) -> str:
    transfer = f"iperf3 -c $AIRTCP_LINK_FAR -C {control} -t {seconds} -i 0 -J"
    if scenario == MARKING:
        transfer = f"sysctl -qw net.ipv4.tcp_ecn=1; {transfer}"
    return carries(run("airtcpd", "link", "--shell", scenario, "--", "sh", "-c", transfer), at_least_mbps)


def link_udp_segments() -> str:
    """A datagram that the kernel cuts, as QUIC sends them, does not end the emulator."""
    send = (
        "import socket, sys; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); "
        f"s.setsockopt(socket.IPPROTO_UDP, {UDP_SEGMENT}, 1200); s.sendto(bytes(12000), (sys.argv[1], 9999))"
    )
    script = f"python3 -c '{send}' $AIRTCP_LINK_FAR; ping -c 1 -W 5 $AIRTCP_LINK_FAR"
    run("airtcpd", "link", "--shell", PLAIN, "--", "sh", "-c", script)
    return ""


def controller(name: str) -> str:
    """Over a path on which it hears of congestion."""
    if name in BY_ECN:
        return loaded(name, MARKED, MARKING)
    return loaded(name, CONCORD if name == "concord" else CONTROLLER)


def loaded(name: str, at_least_mbps: float, scenario: str = LOSSY, seconds: int = TRANSFER_S) -> str:
    in_kernel = name.replace("-", "_")
    try:
        run("airtcpd", "cc", "load", name)
        if in_kernel not in run("airtcpd", "cc", "status").replace("-", "_"):
            raise Failed("`cc status` does not name it")
        return behind_the_link(in_kernel, at_least_mbps, scenario, seconds)
    finally:
        run("airtcpd", "cc", "unload", "--all")


def killed_while_loading() -> str:
    """Killed with one registered and none pinned: the next airtcpd finds the names free."""
    before, names = AVAILABLE.read_text(), CONTROLLERS[-4:]
    with subprocess.Popen(["airtcpd", "cc", "load", *names]) as process:
        until(lambda: names[0] in AVAILABLE.read_text() or process.poll() is not None, every_s=0.005)
        process.kill()
    if names[0] in run("airtcpd", "cc", "status"):
        raise Failed("it was killed too late")
    try:
        run("airtcpd", "cc", "load", names[0])
    finally:
        run("airtcpd", "cc", "unload", "--all")
    if AVAILABLE.read_text() != before:
        raise Failed(f"the kernel has {AVAILABLE.read_text().strip()}, and had {before.strip()}")
    return ""


def timer(*options: str) -> str:
    cgroup = Path("/sys/fs/cgroup/slow")
    cgroup.mkdir()
    try:
        run("airtcpd", "rto", *options, "--cgroup", str(cgroup))
        run("airtcpd", "rto", "status")
        run("airtcpd", "rto", "off")
    finally:
        cgroup.rmdir()
    return ""


def packet_filter() -> str:
    run("airtcpd", "filter", "attach", hosts.WIRED, inside="R")
    try:
        run("airtcpd", "filter", "status", inside="R")
        return hosts.transfer(ROUTED)
    finally:
        run("airtcpd", "filter", "detach", hosts.WIRED, inside="R")


def proxy(*options: str, ending: signal.Signals = signal.SIGTERM) -> str:
    command = ("airtcpd", "proxy", "run", "--wireless", hosts.WIRELESS, *options, "--drain", "1s")
    with daemon(*command, inside="R", ending=ending):
        rate = hosts.transfer(ROUTED)
        run("airtcpd", "proxy", "status", inside="R")
    return rate


def circuit(ending: signal.Signals = signal.SIGTERM) -> str:
    """The guide's: both gateways on the path."""
    receive = ("airtcpd", "circuit", "receive", "--listen", GATEWAY, *KEY_FILE)
    send = ("airtcpd", "circuit", "send", "--to", GATEWAY, "--prefix", f"{hosts.MOBILE}/32", *KEY_FILE)
    with hosts.slow(), daemon(*receive, inside="M"), daemon(*send, inside="R", ending=ending):
        return hosts.transfer(CIRCUIT)


def decoupled(*command: str) -> str:
    """Runs a command whose connections are decoupled; returns what it wrote."""
    receive = ("airtcpd", "circuit", "receive", "--listen", GATEWAY, *KEY_FILE)
    with hosts.slow(), daemon(*receive, inside="M"):
        return run("airtcpd", "decouple", "--receiver", GATEWAY, *KEY_FILE, "--", *command, inside="R")


def decouple() -> str:
    transfer = ("iperf3", "-c", hosts.MOBILE, "-t", str(TRANSFER_S), "-i", "0", "-J")
    return carries(decoupled(*transfer), CIRCUIT)


def decouple_curl() -> str:
    """The guide's: a file goes up."""
    file = Path("/tmp/photos.tar")
    file.write_bytes(bytes(UPLOAD_BYTES))
    upload = ("curl", "-sS", "--upload-file", str(file), "--write-out", "\n%{speed_upload}\n")
    try:
        with daemon("python3", "-B", "/guest/uploads.py", inside="M"):
            said = decoupled(*upload, f"http://{hosts.MOBILE}:8000/")
    finally:
        file.unlink()
    arrived = re.search(rf"^{UPLOAD_BYTES} bytes\n(\d+)$", said, re.MULTILINE)
    if not arrived:
        raise Failed(reason(said))
    return fast_enough(float(arrived[1]) * 8 / 1e6, CIRCUIT)


def trial() -> str:
    recipe, record = Path("/tmp/recipe.json"), Path("/tmp/record.json")
    text = Path(PLAIN).read_text(encoding="utf-8")
    recipe.write_text(json.dumps({"text": text, "file_name": "", "folder": "", "overrides": [], "files": {}}))
    try:
        run(
            "airtcpd",
            "run",
            "--recipe",
            str(recipe),
            "--scheme",
            "cubic",
            "--seed",
            "1",
            "--out",
            str(record),
        )
        json.loads(record.read_text(encoding="utf-8"))
    finally:
        recipe.unlink()
        record.unlink(missing_ok=True)
    return ""


def _killed(daemon: str, attempt: Callable[..., str]) -> Callable[[], str]:
    """Kills the daemon, and undoes what it has left; what is there then is what counts."""

    def tried() -> str:
        attempt(ending=signal.SIGKILL)
        if "undone" not in (said := run("airtcpd", daemon, "clean", inside="R")):
            raise Failed(reason(said))
        return ""

    return tried


VETH, TPROXY, DETOUR = "veth, AF_PACKET", "TPROXY", "TUN and policy routes"
FEATURES = (
    Feature("link: BBR over 10 Mbit/s with losses", "link", VETH, lambda: behind_the_link("bbr", LINK)),
    Feature("link: UDP segments", "link", VETH, link_udp_segments),
    *(Feature(f"cc: {name}", "cc", name, lambda name=name: controller(name)) for name in CONTROLLERS),  # type: ignore[misc]
    Feature("cc load, killed", "cc", "struct_ops", killed_while_loading),
    Feature("rto --factor 10", "rto", "--factor", lambda: timer("--factor", "10")),
    Feature(
        "rto --floor 50ms --max 120s", "rto", "sockops", lambda: timer("--floor", "50ms", "--max", "120s")
    ),
    Feature("filter", "filter", "programs", packet_filter),
    Feature("proxy, the kernel's stack", "proxy", TPROXY, lambda: proxy("--wireless-cc", "bbr")),
    Feature("proxy, own stack", "proxy", TPROXY, lambda: proxy("--wireless-stack", "own")),
    Feature("proxy, killed and cleaned up", "proxy", TPROXY, _killed("proxy", proxy)),
    Feature("circuit", "circuit", DETOUR, circuit),
    Feature("circuit, killed and cleaned up", "circuit", DETOUR, _killed("circuit", circuit)),
    Feature("decouple", "circuit", "cgroup2", decouple),
    Feature("decouple -- curl", "circuit", "cgroup2", decouple_curl),
    Feature("run (compare --on linux)", "compare", "", trial),
    # Last, because they take longest.
    *(Feature(f"link: {each.name}", "link", VETH, each.attempt, "netem") for each in COMPARISONS),
    Feature(
        f"link: BBR, {LONG_S} s",
        "link",
        VETH,
        lambda: behind_the_link("bbr", LONG, seconds=LONG_S),
        "long",
    ),
    Feature(
        f"cc: concord, {LONG_S} s", "cc", "concord", lambda: loaded("concord", LONG, seconds=LONG_S), "long"
    ),
)


def warm() -> None:
    """Brings in what the first use brings in: later, it would be found as left behind."""
    run("modprobe", "-a", "tcp_bbr", "veth", "tun", "sch_fq", "sch_netem")
    run("nft", "list", "ruleset")
    run("airtcpd", "--version")
    run("airtcpd", "circuit", "key", KEY)
    run("airtcpd", "link", "--shell", PLAIN, "--", "true")
