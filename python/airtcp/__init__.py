"""Which TCP is best on a lossy link, by how much, and why.

All that the command line does::

    import airtcp
    scenario = airtcp.Scenario.load("scenarios/lte.toml", [("schemes", '["cubic", "bbr"]')])
    found = airtcp.compare(scenario)
    for row in airtcp.summarise_all(found.runs):
        print(row.scheme, row.goodput.mean, row.goodput.half_width)
"""

from airtcp._engine import (
    Cancelled,
    CancelToken,
    Record,
    Scenario,
    ScenarioError,
    profiles,
    schema,
    schemes,
    version,
)
from airtcp.advise import Advice, advise
from airtcp.compare import compare
from airtcp.comparison import Comparison
from airtcp.fit import Fit, fit
from airtcp.output import flows_frame
from airtcp.series import Series, series_of
from airtcp.summary import SchemeSummary, summarise_all
from airtcp.sweep import SweepError, SweepResult, sweep
from airtcp.verdict import Verdict, verdict

__version__ = version()
__all__ = [
    "Advice",
    "CancelToken",
    "Cancelled",
    "Comparison",
    "Fit",
    "Record",
    "Scenario",
    "ScenarioError",
    "SchemeSummary",
    "Series",
    "SweepError",
    "SweepResult",
    "Verdict",
    "advise",
    "compare",
    "fit",
    "flows_frame",
    "profiles",
    "schema",
    "schemes",
    "series_of",
    "summarise_all",
    "sweep",
    "verdict",
    "version",
]
