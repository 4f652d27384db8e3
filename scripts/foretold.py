"""Does what advice foretells come true? On ten paths: advise, measure, apply, measure again, undo.

As root, on Linux: everything is in network namespaces of its own, behind `airtcpd link`, with servers beyond
it. Advice is asked of the path as it is, or, with --measured, of what `airtcp measure` has found behind it.
A path counts as told right where goodput with what was applied, over goodput before, is within 15 % of what
was foretold. It takes half an hour, measured ones an hour.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import secrets
import subprocess
import sys
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from typing import Any

from airtcp.apply import Host
from airtcp.trial import Iperf3

NOW = "reno"
"""A namespace accepts only what the host allows to everyone, which always includes reno."""
TOLERANCE = 0.15
NEEDED = 0.9
TRANSFER_S = 20
PATHS: dict[str, dict[str, str]] = {
    "short": {"rate": "20Mbit/s", "delay": "10ms", "loss": "{ packet = 0.01 }"},
    "wifi": {"rate": "50Mbit/s", "delay": "5ms", "loss": "{ packet = 0.005 }"},
    "lossy": {"rate": "10Mbit/s", "delay": "20ms", "loss": "{ packet = 0.03 }"},
    "slow": {"rate": "2Mbit/s", "delay": "40ms", "loss": "{ packet = 0.02 }"},
    "long": {"rate": "10Mbit/s", "delay": "75ms", "loss": "{ packet = 0.005 }"},
    "satellite": {"rate": "5Mbit/s", "delay": "150ms", "loss": "{ packet = 0.01 }"},
    "mild": {"rate": "10Mbit/s", "delay": "25ms", "loss": "{ packet = 0.002 }"},
    "pairs": {"rate": "10Mbit/s", "delay": "30ms", "loss": "{ burst = { to_bad = 0.01, to_good = 0.5 } }"},
    "bursts": {"rate": "20Mbit/s", "delay": "20ms", "loss": "{ burst = { to_bad = 0.002, to_good = 0.2 } }"},
    "bit errors": {"rate": "10Mbit/s", "delay": "20ms", "loss": "{ ber = 1e-6 }"},
}
"""Keys of the link `wireless` in the built-in scenario."""
OTHERS = Path("/run/airtcp/test.lock")
"""Loaded controls are global to the kernel: the tests take the same lock."""
AIRTCP = Path(sys.executable).with_name("airtcp")


def main() -> None:
    """The exit status is 1 if fewer than nine of ten forecasts are right."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--paths", default=",".join(PATHS), metavar="A,B,…", help="default: %(default)s")
    parser.add_argument("--repeats", type=int, default=4, help="transfers before, and after")
    parser.add_argument("--measured", action="store_true", help="advise from what was measured, too")
    parser.add_argument("--for", dest="for_", default="60s", help="of the measurement; default: %(default)s")
    parser.add_argument("--out", type=Path, help="where the figures are kept, as JSON")
    parser.add_argument("--inside", metavar="ADVICE", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.inside:
        print(json.dumps(inside(Path(asked.inside), asked.repeats)))
        return
    found = []
    for name in asked.paths.split(","):
        found.append(one_path(name, asked.repeats, asked.for_ if asked.measured else None))
        print(line(found[-1]), flush=True)
    right = sum(each["right"] for each in found)
    print(f"{right} of {len(found)} within {TOLERANCE:.0%}")
    if asked.out:
        asked.out.write_text(json.dumps(found, indent=1) + "\n")
    sys.exit(right < NEEDED * len(found))


def one_path(name: str, repeats: int, for_: str | None) -> dict[str, Any]:
    """Returns the forecast for a path, and the result. `for_`: the path is measured for this long first."""
    with TemporaryDirectory() as text:
        folder = Path(text)
        path = [word for key, value in PATHS[name].items() for word in ("--set", f"wireless.{key}={value}")]
        known = path if for_ is None else measured(path, for_, folder)
        advice = folder / "advice.json"
        asked = ["--control", "sender", "--now", NOW, "--for", "bulk", "--duration", f"{TRANSFER_S}s"]
        run(AIRTCP, "advise", *known, *asked, "--out", folder, "--json", advice)
        told = json.loads(advice.read_text())
        use = told["recommendation"]["use"]
        gain = next(row["gain"]["mean"] for row in told["rows"] if row["name"] == use)
        again = [sys.executable, __file__, "--inside", str(advice), "--repeats", str(repeats)]
        seen = json.loads(behind(path, again, folder))
    foretold, came = 1 + gain, fmean(seen["after_bps"]) / fmean(seen["before_bps"])
    return {
        "path": name,
        "use": use,
        "foretold": foretold,
        "came": came,
        "loss": told["loss"],
        **seen,
        "right": abs(came / foretold - 1) <= TOLERANCE,
    }


def measured(path: list[str], for_: str, folder: Path) -> list[str]:
    """Returns the logs of a measurement behind the path."""
    logs = folder / "logs"
    measure = f'{AIRTCP} measure "$AIRTCP_LINK_FAR" --for {for_} --iperf3 5201 --no-advise --out {logs}'
    behind(path, ["sh", "-c", measure], folder)
    return [str(file) for file in sorted(logs.iterdir()) if file.suffix in (".csv", ".json", ".txt")]


def behind(path: list[str], command: list[str], folder: Path) -> str:
    """Returns the output of a command behind the path, with servers of iperf3 and ours beyond it."""
    airtcpd = os.environ.get("AIRTCPD") or str(Path(sys.executable).with_name("airtcpd"))
    script = (
        'ip link set lo up; iperf3 -s -D -I "$0"; "$1" measure --serve --listen 0.0.0.0 >/dev/null & '
        'ours=$!; sleep 3; shift; "$@"; status=$?; kill $(cat "$0") $ours; exit $status'
    )
    link = [airtcpd, "link", "--shell", *path, "--quiet", "--every", "0", "--", *command]
    pid = str(folder / "server.pid")
    environment = {"AIRTCP_STATE": str(folder / "state"), "AIRTCP_TOKEN": secrets.token_urlsafe()}
    return run("unshare", "--net", "--mount", "sh", "-c", script, pid, AIRTCP, *link, **environment)


def inside(advice: Path, repeats: int) -> dict[str, Any]:
    """Behind the path: measures, applies, measures again, undoes."""
    Path("/proc/sys/net/ipv4/tcp_congestion_control").write_text(NOW)
    before = [goodput_bps() for _ in range(repeats)]
    OTHERS.parent.mkdir(exist_ok=True)
    with OTHERS.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        run(AIRTCP, "apply", advice, "--yes")
        try:
            after = [goodput_bps() for _ in range(repeats)]
        finally:
            run(AIRTCP, "undo")
    return {"before_bps": before, "after_bps": after}


def goodput_bps() -> float:
    """Returns the goodput of one transfer, as the server reports it."""
    return Iperf3(os.environ["AIRTCP_LINK_FAR"], 5201, TRANSFER_S).measure(None, Host())


def run(*command: str | Path, **environment: str) -> str:
    """Returns the output. Ends this script on failure."""
    words = [str(word) for word in command]
    done = subprocess.run(
        words, capture_output=True, text=True, check=False, env={**os.environ, **environment}
    )
    if done.returncode:
        sys.exit(f"{' '.join(words)}: {done.stderr or done.stdout}")
    return done.stdout


def line(found: dict[str, Any]) -> str:
    """Formats one path."""
    before, after = (fmean(found[key]) / 1e6 for key in ("before_bps", "after_bps"))
    word = "right" if found["right"] else "WRONG"
    return (
        f"{found['path']:12} {found['use']:20} {NOW} {before:6.2f} -> {after:6.2f} Mbit/s, "
        f"times {found['came']:5.2f}, foretold {found['foretold']:5.2f}: {word}"
    )


if __name__ == "__main__":
    main()
