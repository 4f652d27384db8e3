"""Paper 004: its path, and what its thresholds decide."""

from __future__ import annotations

from airtcp_studies.frame import Context
from airtcp_studies.papers.westwood_vt.setup import SCHEMES, SIMPLE, VT, WINDOW

SETS = {"duration": "20s", "link.wireless.loss.packet": 0.03}


def test_errors_come_before_the_queue_as_by_ns2s_lossmodel() -> None:
    schemes = [f"{SCHEMES[VT]}:{WINDOW}"]
    (run,) = Context(seeds=1).run(SIMPLE, schemes, SETS).of(schemes[0])
    (link,) = [each for each in run["links"] if (each["name"], each["direction"]) == ("wireless", "forward")]
    assert link["drops_corruption"] > 20
    assert link["packets_sent"] + link["drops_corruption"] + link["drops_overflow"] <= link["packets_arrived"]


def test_alpha_changes_nothing() -> None:
    """As the documentation of the parameter says: between α and β the window stays, as it does below α."""
    ran = [f"{SCHEMES[VT]}:alpha={alpha}:{WINDOW}" for alpha in (0, 14, 16)]
    found = Context(seeds=2).run(SIMPLE, ran, SETS)
    assert found.goodput(ran[0]) == found.goodput(ran[1]) == found.goodput(ran[2])
    narrow = f"{SCHEMES[VT]}:alpha=0:beta=2:{WINDOW}"
    assert Context(seeds=2).run(SIMPLE, [narrow], SETS).goodput(narrow) != found.goodput(ran[0])
