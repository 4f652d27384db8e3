"""The emulator and the kernel's own, netem, over the same paths: do they agree?"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import hosts
from commands import Failed, parsed, run

SCENARIO = Path("/tmp/beside-netem.toml")
PING = "ping -q -c 100 -i 0.02 {far}"
DATAGRAM = 1372
"""Content of a datagram of 1400 bytes."""
FAST = 'rate = "100Mbit/s"\n'
"""No limit for what is measured: a link must have a rate, and netem need not."""


@dataclass(frozen=True)
class Comparison:
    """One property of a path, measured over both emulators."""

    name: str
    link: str
    """Keys of the scenario's link."""
    netem: tuple[str, str]
    """netem's words for the same, there and back."""
    command: str
    """Measures it, towards `{far}`."""
    read: Callable[[str], float]
    unit: str
    digits: int
    apart: float
    """By how much the two may differ, in the unit."""

    def attempt(self) -> str:
        measured = self._over_link(), self._over_netem()
        found = "{:.{digits}f} {unit}, netem {:.{digits}f}".format(
            *measured, digits=self.digits, unit=self.unit
        )
        if abs(measured[0] - measured[1]) > self.apart:
            raise Failed(f"{found}: more than {self.apart:g} apart")
        return found

    def _over_link(self) -> float:
        SCENARIO.write_text(f'[[link]]\nname = "wire"\n{self.link}\n', encoding="utf-8")
        try:
            command = self.command.format(far="$AIRTCP_LINK_FAR")
            return self.read(run("airtcpd", "link", "--shell", str(SCENARIO), "--", "sh", "-c", command))
        finally:
            SCENARIO.unlink()

    def _over_netem(self) -> float:
        with hosts.netem(*self.netem):
            return self.read(run(*self.command.format(far=hosts.MOBILE).split(), inside="R"))


def _datagrams(mbps: int, seconds: int) -> str:
    return f"iperf3 -u -c {{far}} -b {mbps}M -l {DATAGRAM} -t {seconds} -i 0 -J --get-server-output"


def _mean_ms(said: str) -> float:
    return float(re.findall(r"= [0-9.]+/([0-9.]+)/", said)[-1])


def _received(said: str) -> dict[str, Any]:
    found: dict[str, Any] = parsed(said)["end"]["streams"][0]["udp"]
    return found


def _rate_mbps(said: str) -> float:
    """With the headers of IP and UDP."""
    found = _received(said)
    return float((found["packets"] - found["lost_packets"]) * (DATAGRAM + 28) * 8 / found["seconds"] / 1e6)


def _lost(said: str) -> float:
    found = _received(said)
    return float(100 * found["lost_packets"] / found["packets"])


def _late(said: str) -> float:
    # The sender's own account does not tell; the receiver's says nothing if there are none.
    late = re.search(r"([0-9]+) datagrams received out-of-order", said)
    return 100 * int(late[1]) / _received(said)["packets"] if late else 0.0


COMPARISONS = (
    Comparison(
        "RTT for 40 ms", FAST + 'delay = "20ms"', ("delay 20ms", "delay 20ms"), PING, _mean_ms, "ms", 2, 1
    ),
    # netem counts Ethernet's 14 bytes, too, and its limit what is on its way.
    Comparison(
        "rate of 10 Mbit/s",
        'rate = "10Mbit/s"\ndelay = "5ms"\nqueue = { packets = 50 }',
        ("rate 10mbit delay 5ms limit 55", "delay 5ms"),
        _datagrams(12, 5),
        _rate_mbps,
        "Mbit/s",
        2,
        0.2,
    ),
    Comparison(
        "2 % lost",
        FAST + 'delay = "5ms"\nloss = { packet = 0.02 }\nreverse = { loss = {} }',
        ("delay 5ms loss 2%", "delay 5ms"),
        _datagrams(20, 10),
        _lost,
        "%",
        2,
        # Four standard deviations of the difference of two counts among 17 800.
        0.6,
    ),
    Comparison(
        "reordered, 15 to 25 ms",
        FAST + 'delay = "15ms"\njitter = { distribution = "uniform", high = "10ms", overtaking = true }',
        ("delay 20ms 5ms", "delay 20ms 5ms"),
        _datagrams(5, 10),
        _late,
        "%",
        1,
        2,
    ),
)
