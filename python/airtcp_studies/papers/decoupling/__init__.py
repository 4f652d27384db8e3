"""Paper 000: the TCP decoupling approach."""

from __future__ import annotations

from airtcp.papers.decoupling.circuits import d2
from airtcp.papers.decoupling.closed_forms import d0
from airtcp.papers.decoupling.header_first import d5
from airtcp.papers.decoupling.lossy import LOSSY, d3, d4, d8
from airtcp.papers.decoupling.shares import d6, d7
from airtcp.papers.decoupling.sharing import d1
from airtcp.papers.decoupling.smaller_headers import d9
from airtcp.papers.frame import Paper

PAPER = Paper(
    "decoupling",
    "000",
    "TCP decoupling",
    experiments=(d0, d1, d2, d3, d4, d5, d6, d7, d8, d9),
    links={"lossy-ethernet": LOSSY},
)
