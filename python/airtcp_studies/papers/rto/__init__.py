"""Paper 003: a larger RTO factor, and go-back-N after a timeout, over links whose delay varies."""

from __future__ import annotations

from airtcp_studies.frame import Paper
from airtcp_studies.papers.rto.go_back_n import r3
from airtcp_studies.papers.rto.setup import CELL_LINK, TRACE_A_LINK, behind_a_wire
from airtcp_studies.papers.rto.trace_a import r1
from airtcp_studies.papers.rto.trace_b import r2

PAPER = Paper(
    "rto",
    "003",
    "A larger RTO factor and go-back-N for variable delays",
    experiments=(r1, r2, r3),
    links={
        # 1xEV-DO's highest rate; without one, an unlimited sender would send without limit.
        "trace-a-synthetic": behind_a_wire(TRACE_A_LINK.replace("1Gbit/s", "2457.6kbit/s")),
        "trace-b": behind_a_wire(CELL_LINK),
    },
)
