"""Measures one way over one link."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import ground
from ground import CLIENT, SERVER, running, within
from ways import WAYS

TALK = Path(__file__).with_name("talk.py")


@dataclass(frozen=True)
class Result:
    """`fetches_s`: all fetches, one after the other; `crowd_s`: eight at once. `None`: not carried."""

    link: str
    way: str
    seed: int
    bulk_mbps: float
    fetches: int
    fetches_s: float | None
    crowd_s: float | None


def measure(
    airtcpd: Path, link: str, scenario: str, way: str, seed: int, bulk_s: float, fetches: int
) -> Result:
    rival = WAYS[way]
    with ground.hosts(airtcpd, scenario, seed), rival.way(airtcpd):
        if not rival.carries_answers:
            with running(within(SERVER, sys.executable, TALK, "push"), "server"):
                return Result(link, way, seed, talk("sink", bulk_s), fetches, None, None)
        serve = within(SERVER, sys.executable, TALK, "serve", rival.control)
        with running(serve, "server"):
            fetches_s = talk("fetch", fetches, 1)
            crowd_s = talk("fetch", fetches, 8)
            return Result(link, way, seed, talk("bulk", bulk_s), fetches, fetches_s, crowd_s)


def talk(*words: str | float) -> float:
    """What the client prints."""
    command = within(CLIENT, sys.executable, TALK, *map(str, words))
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
