"""Paper 000: the TCP decoupling approach."""

from __future__ import annotations

from airtcp_studies.frame import Paper
from airtcp_studies.papers.decoupling.circuits import d2
from airtcp_studies.papers.decoupling.closed_forms import d0
from airtcp_studies.papers.decoupling.features import d8
from airtcp_studies.papers.decoupling.header_first import d5
from airtcp_studies.papers.decoupling.lossy import LOSSY, d3
from airtcp_studies.papers.decoupling.round_trips import d4
from airtcp_studies.papers.decoupling.shares import d6, d7
from airtcp_studies.papers.decoupling.sharing import d1
from airtcp_studies.papers.decoupling.smaller_headers import d9

PAPER = Paper(
    "decoupling",
    "000",
    "TCP decoupling",
    experiments=(d0, d1, d2, d3, d4, d5, d6, d7, d8, d9),
    links={"lossy-ethernet": LOSSY},
)
