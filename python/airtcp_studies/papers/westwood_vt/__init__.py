"""Paper 004: WestwoodVT, which attributes a loss to corruption while the path's buffers are nearly empty."""

from __future__ import annotations

from airtcp_studies.frame import Paper, altered
from airtcp_studies.papers.westwood_vt.alone import w1
from airtcp_studies.papers.westwood_vt.background import w2
from airtcp_studies.papers.westwood_vt.setup import SIMPLE

PAPER = Paper(
    "westwood-vt",
    "004",
    "Sender-based TCP scheme for improving performance in wireless environment (WestwoodVT)",
    experiments=(w1, w2),
    links={"two-percent": altered(SIMPLE, {"link.wireless.loss.packet": 0.02})},
)
