"""Paper 001: TCP packet control."""

from __future__ import annotations

from airtcp_studies.frame import Paper
from airtcp_studies.papers.packet_control.beyond import p4
from airtcp_studies.papers.packet_control.path import VARYING
from airtcp_studies.papers.packet_control.short import p5
from airtcp_studies.papers.packet_control.timeout import p3
from airtcp_studies.papers.packet_control.variation import p1, p2

PAPER = Paper(
    "packet-control",
    "001",
    "TCP packet control for wireless networks",
    experiments=(p1, p2, p3, p4, p5),
    links={"varying-delay": VARYING, "varying-delay-and-loss": VARYING + "\n[link.loss]\npacket = 0.01\n"},
)
