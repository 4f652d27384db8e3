"""Paper 002: SpecTCP, and the maximum threshold of RED that loses no packet."""

from __future__ import annotations

from airtcp_studies.frame import Paper, altered
from airtcp_studies.papers.spectcp.course import s3
from airtcp_studies.papers.spectcp.satellite import SATELLITE, s4
from airtcp_studies.papers.spectcp.threshold import DUMBBELL, s1, s2

PAPER = Paper(
    "spectcp",
    "002",
    "SpecTCP",
    experiments=(s1, s2, s3, s4),
    links={
        "red-bottleneck": DUMBBELL,
        "satellite": altered(SATELLITE, {"link.satellite.loss.ber": 1e-5, "base_station": "satellite"}),
    },
    notes=(
        "SpecTCP takes every loss for corruption until ECN-Echo says otherwise: on a path with a queue that "
        "drops instead of marking, nothing slows it down.",
    ),
)
