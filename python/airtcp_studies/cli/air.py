"""Implements `airtcp paper air`; its options are in `paper`."""

from __future__ import annotations

from airtcp.cli.errors import InputError
from airtcp_studies.air import SEEDS, air
from airtcp_studies.air.airs import SCENARIOS
from airtcp_studies.air.page import AirPlot, by_idea, findings, page
from airtcp_studies.cli.study import StudyRequest, run_study, write_study
from airtcp_studies.frame import words


def run_air(request: StudyRequest) -> None:
    if not SCENARIOS.is_dir():
        raise InputError("the links are scenarios of the source tree; run this in a clone of it")
    found = run_study("air", request, SEEDS, air, "some links would say nothing of the others")
    console = request.console
    console.print(findings(found))
    for line in by_idea(found):
        console.print(f"- {line}")
    if found["quick"]:
        console.print(words.QUICK)
    write_study("air", request, found, AirPlot(found).draw, lambda: page(found))
