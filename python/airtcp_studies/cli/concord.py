"""Implements `airtcp paper concord`; its options are in `paper`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from airtcp.cli.errors import InputError
from airtcp_studies.cli.study import StudyRequest, run_study, write_study
from airtcp_studies.concord import SEEDS, concord
from airtcp_studies.concord.page import ConcordPlot, page
from airtcp_studies.frame import words


@dataclass(frozen=True)
class Request(StudyRequest):
    """The options of `airtcp paper concord`."""

    traces: Path | None


def run_concord(request: Request) -> None:
    if request.traces and not any(request.traces.glob("*.down")):
        raise InputError(
            f"--traces {request.traces}: contains no NAME.down file, as mahimahi's traces are named"
        )
    found = run_study(
        "concord",
        request,
        SEEDS,
        lambda ctx: concord(ctx, request.traces),
        "a subset of the gates would prove nothing",
    )
    console = request.console
    for gate in found["gates"]:
        failed = [row["path"] for row in gate["paths"] if not row["met"]]
        console.print(f"{gate['name']}: {'met' if gate['met'] else 'not met: ' + '; '.join(failed)}")
    if found["quick"]:
        console.print(words.QUICK)
    write_study("concord", request, found, ConcordPlot(found).draw, lambda: page(found))
