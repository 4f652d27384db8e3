"""Measures one way over one link."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import asdict, dataclass, field
from pathlib import Path

import ground
from ground import CLIENT, SERVER, running, within
from links import scenario
from ways import WAYS

TALK = Path(__file__).with_name("talk.py")


@dataclass(frozen=True)
class Result:
    """`fetches_s`: all fetches, one after the other; `crowd_s`: eight at once. `None`: not carried."""

    link: str
    way: str
    seed: int
    bulk_mbps: float
    fetches_s: float | None
    crowd_s: float | None


@dataclass
class Record:
    """All results of one kernel, of one revision of airtcp, and of measurements of one length."""

    kernel: str
    revision: str
    bulk_s: float
    fetches: int
    results: list[Result] = field(default_factory=list)

    @classmethod
    def read(cls, file: Path) -> Record:
        kept = json.loads(file.read_text(encoding="utf-8"))
        return cls(**{**kept, "results": [Result(**each) for each in kept["results"]]})

    def write(self, file: Path) -> None:
        file.write_text(json.dumps(asdict(self), indent=1) + "\n", encoding="utf-8")

    def has(self, link: str, way: str, seed: int) -> bool:
        return any((each.link, each.way, each.seed) == (link, way, seed) for each in self.results)


def measure(airtcpd: Path, record: Record, link: str, way: str, seed: int) -> Result:
    rival = WAYS[way]
    with ground.hosts(airtcpd, scenario(link), seed), rival.way(airtcpd):
        if not rival.carries_answers:
            with running(within(SERVER, sys.executable, TALK, "push"), "server"):
                return Result(link, way, seed, talk("sink", record.bulk_s), None, None)
        serve = within(SERVER, sys.executable, TALK, "serve", rival.control)
        with running(serve, "server"):
            fetches_s = talk("fetch", record.fetches, 1)
            crowd_s = talk("fetch", record.fetches, 8)
            return Result(link, way, seed, talk("bulk", record.bulk_s), fetches_s, crowd_s)


def talk(*words: str | float) -> float:
    """What the client prints."""
    command = within(CLIENT, sys.executable, TALK, *map(str, words))
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
