"""Probes over a simulated path, and what `ping` and `irtt` would have written of them.

Each way has its own packets, one every interval, between two taps. A packet and its answer leave together, so
a round trip is the sum of what both took. Many senders take turns: the next packet of one leaves long after
its last has arrived or been lost, which tells them apart.
"""

from __future__ import annotations

import json
import math
import os
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from airtcp._engine import Scenario
from airtcp.facts.scenario import document
from airtcp.running.scratch import scratch_folder

Floats = npt.NDArray[np.float64]
ICMP_BYTES = 84
"""Of `ping`'s usual packets, with IPv4's header."""
TURN_S = 16.0
"""Time between two packets of one sender: no delay is longer."""
TAP_RATE = "100Gbit/s"
BEFORE, BEHIND = "before", "behind"
FILE_KEYS = frozenset({"file", "trace", "log"})
_PACKET_BLOCK, _UDP = 6, 17
_PREFIX_MS = ((0.999_5, 3), (9.995, 2), (99.95, 1))


@dataclass(frozen=True)
class Probes:
    """What happened to each; shape (n,). A lost one is NaN."""

    sent_s: Floats
    there_s: Floats
    back_s: Floats
    packet_bytes: int

    @property
    def rtt_s(self) -> Floats:
        return self.there_s + self.back_s


def probe(
    path: Scenario,
    seed: int = 1,
    *,
    count: int = 600,
    interval_s: float = 0.2,
    packet_bytes: int = ICMP_BYTES,
    load: Mapping[str, object] | None = None,
    scheme: str = "cubic",
) -> Probes:
    """Sends probes over both ways of `path`, whose own flows are replaced.

    `load` are the keys of a transfer that runs beside the probes, such as `{"start": "40s"}`; without it the
    path is idle. The same arguments give the same fates.
    """
    with scratch_folder() as folder:
        return Probing(
            path, folder, count=count, interval_s=interval_s, packet_bytes=packet_bytes, load=load
        ).run(seed, scheme)


class Probing:
    """A scenario that sends probes over both ways of a path, in place of its own flows."""

    def __init__(
        self,
        path: Scenario,
        folder: Path,
        *,
        count: int,
        interval_s: float,
        packet_bytes: int,
        load: Mapping[str, object] | None,
    ) -> None:
        self._folder, self._count, self._interval_s, self._bytes = folder, count, interval_s, packet_bytes
        self._senders = max(1, math.ceil(TURN_S / interval_s))
        self.test = _between_taps(path, folder).vary(
            duration=f"{count * interval_s + TURN_S:.9f}s",
            warmup="0s",
            flow=[
                {"name": "load", **(load or {"traffic": {"kind": "bytes", "size": "1B"}})},
                *(
                    _probe_flow(way, self._senders, interval_s, packet_bytes)
                    for way in ("forward", "reverse")
                ),
            ],
        )

    def run(self, seed: int, scheme: str) -> Probes:
        turn_s = self._senders * self._interval_s
        there, back = (
            _delays(
                _captured(self.test, seed, scheme, tap, self._folder),
                turn_s,
                self._interval_s,
                self._count,
                first,
            )
            for tap, first in ((BEHIND, 0), (BEFORE, self._senders))
        )
        sent_s = self._interval_s * np.arange(self._count, dtype=np.float64)
        return Probes(sent_s, there, back, self._bytes)


def arrivals_s(
    path: Scenario, seed: int, flows: Sequence[Mapping[str, object]], duration_s: float, folder: Path
) -> Floats:
    """Returns when datagrams of the second of `flows`, which replace the path's, came out of it, in order."""
    test = _between_taps(path, folder).vary(duration=f"{duration_s:.9f}s", warmup="0s", flow=list(flows))
    found = [
        time_s for time_s, number in datagrams(_captured(test, seed, "cubic", BEHIND, folder)) if number == 0
    ]
    return np.array(found, dtype=np.float64)


def _between_taps(path: Scenario, folder: Path) -> Scenario:
    """Returns the path with a tap at each end; the files that it names are written to `folder`."""
    recipe = json.loads(path.recipe_json())
    moved: dict[str, str] = {}
    for number, (name, content) in enumerate(recipe["files"].items()):
        file = folder / f"{number}-{Path(name).name}"
        file.write_text(content, encoding="utf-8")
        for form in (name, Path(name).name, os.path.relpath(name, recipe["folder"])):
            moved[form] = str(file)
    taps = [{"name": name, "rate": TAP_RATE, "delay": "0s"} for name in (BEFORE, BEHIND)]
    return path.vary(link=[taps[0], *(_moved(link, moved) for link in document(path)["link"]), taps[1]])


def _moved(value: object, files: Mapping[str, str]) -> object:
    """Returns the value with the files' new names."""
    if isinstance(value, dict):
        return {
            key: files.get(each, each) if key in FILE_KEYS else _moved(each, files)
            for key, each in value.items()
        }
    return value


def _probe_flow(way: str, senders: int, interval_s: float, packet_bytes: int) -> dict[str, object]:
    return {
        "name": f"probe-{way}",
        "count": senders,
        "direction": way,
        "start": "0s",
        "stagger": f"{senders * interval_s:.9f}s",
        "traffic": {
            "kind": "udp",
            "packet": f"{packet_bytes}B",
            "rate": f"{8 * packet_bytes / (senders * interval_s):.9g}bit/s",
        },
    }


def _captured(test: Scenario, seed: int, scheme: str, tap: str, folder: Path) -> bytes:
    file = folder / f"{tap}.pcapng"
    test.run(scheme, seed, pcap=str(file), pcap_link=tap)
    return file.read_bytes()


def _delays(capture: bytes, turn_s: float, interval_s: float, count: int, first: int) -> Floats:
    """Returns the delay of each probe whose sender is `first` or one of those after it."""
    senders = round(turn_s / interval_s)
    delays = np.full(count, np.nan)
    for time_s, number in datagrams(capture):
        sender = number - first
        if not 0 <= sender < senders:
            continue
        began_s = sender * interval_s
        turn = math.floor((time_s - began_s) / turn_s + 1e-9)
        place = turn * senders + sender
        if 0 <= place < count:
            delays[place] = time_s - began_s - turn * turn_s
    return delays


def datagrams(capture: bytes) -> Iterator[tuple[float, int]]:
    """Yields when each UDP datagram of a pcapng file of raw IP passed, and the number of its sender.

    The simulator numbers flows of datagrams downwards from the greatest address; the first flow is another.
    """
    place = 0
    while place < len(capture):
        kind, length = struct.unpack_from("<II", capture, place)
        packet = place + 28
        if kind == _PACKET_BLOCK and capture[packet + 9] == _UDP:
            _, high, low = struct.unpack_from("<III", capture, place + 8)
            (host,) = struct.unpack_from(">H", capture, packet + 14)
            yield (high << 32 | low) * 1e-9, 0xFFFF - host
        place += length


def ping_log(probes: Probes) -> str:
    """Returns what Linux's `ping` prints: three digits, or whole milliseconds from 100 on."""
    rtts = probes.rtt_s * 1e3
    lines = [f"PING example.org (192.0.2.1) {probes.packet_bytes - 28}({probes.packet_bytes}) bytes of data."]
    lines += [
        f"{probes.packet_bytes - 20} bytes from 192.0.2.1: icmp_seq={(n + 1) & 0xFFFF} ttl=56 "
        f"time={_shown_ms(rtt)} ms"
        for n, rtt in enumerate(rtts)
        if np.isfinite(rtt)
    ]
    received = int(np.isfinite(rtts).sum())
    share = 100 * (len(rtts) - received) / len(rtts)
    spacing_ms = 1e3 * float(np.diff(probes.sent_s).mean())
    known = rtts[np.isfinite(rtts)] if received else np.zeros(1)
    return "\n".join(
        [
            *lines,
            "",
            "--- example.org ping statistics ---",
            f"{len(rtts)} packets transmitted, {received} received, {share:.6g}% packet loss, "
            f"time {spacing_ms * (len(rtts) - 1):.0f}ms",
            "rtt min/avg/max/mdev = "
            f"{known.min():.3f}/{known.mean():.3f}/{known.max():.3f}/{known.std():.3f} ms",
            "",
        ]
    )


def _shown_ms(rtt_ms: float) -> str:
    return f"{rtt_ms:.{next((digits for below, digits in _PREFIX_MS if rtt_ms < below), 0)}f}"


def irtt_json(probes: Probes, *, length_bytes: int = 172) -> str:
    """Returns the result of `irtt client -o`, from two hosts with one clock."""
    spacing_ns = round(float(np.diff(probes.sent_s).mean()) * 1e9)
    return json.dumps(
        {
            "version": {"irtt": "0.9.1"},
            "config": {"params": {"length": length_bytes, "interval": spacing_ns}},
            "round_trips": [_irtt_round_trip(probes, n) for n in range(len(probes.sent_s))],
        },
        indent="\t",
    )


def _irtt_round_trip(probes: Probes, n: int) -> dict[str, object]:
    there, back = probes.there_s[n], probes.back_s[n]
    lost = "true_up" if np.isnan(there) else "true_down" if np.isnan(back) else "false"
    delay = (
        {}
        if lost != "false"
        else {
            "rtt": round((there + back) * 1e9),
            "send": round(there * 1e9),
            "receive": round(back * 1e9),
        }
    )
    sent = {"monotonic": round(probes.sent_s[n] * 1e9)}
    return {"seqno": n, "lost": lost, "timestamps": {"client": {"send": sent}}, "delay": delay}
