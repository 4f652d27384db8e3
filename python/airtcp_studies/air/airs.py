"""The wireless links of today on which the papers' ideas are tried, and the ideas."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import airtcp
from airtcp_studies.frame.context import altered

SCENARIOS = Path(airtcp.__file__).resolve().parents[2] / "scenarios"
"""In the source tree; not in a wheel."""
PROFILE = {"profile": "linux"}
MARKING = '{ discipline = "fq-codel", ecn = true }'
DROP_TAIL = '{ discipline = "droptail" }'
BESIDE = {"scheme": "cubic", "measure": "false"}
"""Of the flows that do not try an idea."""


@dataclass(frozen=True)
class Air:
    """A ready-made scenario, perhaps with other keys. One flow tries the ideas; the others have CUBIC."""

    name: str
    file: str
    flow: str
    about: str
    sets: Mapping[str, str] = field(default_factory=dict)

    def text(self) -> str:
        text = (SCENARIOS / self.file).read_text(encoding="utf-8")
        others = (flow["name"] for flow in tomllib.loads(text)["flow"] if flow["name"] != self.flow)
        beside = {f"flow.{name}.{key}": value for name in others for key, value in BESIDE.items()}
        return altered(text, {**PROFILE, **beside, **self.sets})

    def with_queue(self, queue: str) -> dict[str, str]:
        """Returns the keys that put a queue in front of the radio, both ways; none for the scenario's own."""
        document = tomllib.loads(self.text())
        return {
            f"link.{link['name']}.{way}queue": queue
            for link in document["link"]
            if queue and _is_radio(link, document)
            for way in ("", "reverse.")
        }


@dataclass(frozen=True)
class Idea:
    """A scheme, beside the one that it is without the idea."""

    name: str
    scheme: str
    base: str
    queue: str = ""
    """In front of the radio, for both; empty for the scenario's own."""
    of_paper: bool = True


AIRS = (
    Air(
        "Wi-Fi, alone",
        "wifi-walk.toml",
        "download",
        "a download over 802.11n to somebody who walks about a room, shadowed and fading",
        {
            "duration": "30s",
            "link.walk.snr": "{ db = 25, speed_kmh = 3.6, path_loss_exponent = 0, shadowing_db = 3, "
            "shadowing_distance_m = 10, rician_k_db = 7 }",
        },
    ),
    Air(
        "ten stations",
        "wifi-office.toml",
        "far",
        "a download from far away in an office, while seven others download and two upload over 802.11n",
    ),
    Air(
        "rate anomaly",
        "wifi-anomaly.toml",
        "near1",
        "a download near an access point of 802.11a, while two stations near it and one far away upload",
        {"base_station": "near1", "flow.near1.from": "server", "flow.near1.to": "laptop1"},
    ),
    Air("walking away", "wifi-walk.toml", "download", "the download alone, from 3 to 63 m in a minute"),
    Air(
        "LEO",
        "starlink.toml",
        "download",
        "Starlink: each 15 s another satellite, another delay, and a burst of loss",
    ),
    Air("3G cell", "3g-cell.toml", "download", "one of eight users of a proportional-fair scheduler, fading"),
    Air("LTE", "lte.toml", "download", "a deep buffer, HARQ's delays, and a hand-over about every 20 s"),
)

IDEAS = (
    Idea("a circuit (000)", "cubic+decoupling", "cubic"),
    Idea("a circuit (000) at DropTail", "cubic+decoupling", "cubic", DROP_TAIL),
    Idea("filters (001)", "reno+packet-control", "reno"),
    Idea("SpecTCP (002) at marks", "spectcp", "reno:ecn=true", MARKING),
    Idea("a longer timer (003)", "reno+rto-m:m=12", "reno"),
    Idea("go-back-N (003)", "reno+gbn", "reno+sr"),
    Idea("WestwoodVT (004)", "westwood-vt", "reno"),
    Idea("WestwoodVT (004) at DropTail", "westwood-vt", "reno", DROP_TAIL),
    Idea("Concord", "concord", "cubic", of_paper=False),
    Idea("BBR", "bbr", "cubic", of_paper=False),
    Idea("NewReno", "newreno", "cubic", of_paper=False),
)
QUEUES = tuple(dict.fromkeys(idea.queue for idea in IDEAS))


def schemes(queue: str) -> list[str]:
    """Returns what runs at this queue, each scheme once."""
    ran = (name for idea in IDEAS if idea.queue == queue for name in (idea.base, idea.scheme))
    return list(dict.fromkeys(ran))


def _is_radio(link: Mapping[str, Any], document: Mapping[str, Any]) -> bool:
    return "medium" in link or link["name"] == document["base_station"]
