"""Which TCP is best on a lossy link, by how much, and why.

All that the command line does::

    import airtcp
    link = {"name": "wireless", "rate": "10Mbit/s", "delay": "25ms", "loss": {"ber": 1e-6}}
    scenario = airtcp.Scenario.build(schemes=["cubic", "bbr"], link=[link])
    found = airtcp.compare(scenario)                # or of a file: airtcp.compare("scenarios/lte.toml")
    found                                           # draws itself: table, verdict, figure
    found.summary                                   # polars data frames; .flows, .links, .series, .events, …
    found.plot("cwnd").savefig("cwnd.svg")
    airtcp.compare(scenario.vary({"wireless.loss.ber": 1e-5}))
    airtcp.run(scenario, "bbr", seed=3)             # one run in detail
    airtcp.compare(scenario, on="both")             # and on this host's kernel, side by side
"""

from airtcp._engine import (
    Ack,
    Cancelled,
    CancelToken,
    ControllerError,
    Loss,
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
from airtcp.control import CongestionControl, parameter
from airtcp.executors import ExecutorError
from airtcp.failure import Failure
from airtcp.fit import Fit, fit
from airtcp.linux import LinuxError
from airtcp.one_run import RunResult, run
from airtcp.series import Series
from airtcp.side_by_side import SideBySide
from airtcp.stats import Estimate
from airtcp.summary import SchemeSummary
from airtcp.sweep import SweepError, SweepResult, sweep
from airtcp.verdict import Verdict

__version__ = version()
__all__ = [
    "Ack",
    "Advice",
    "CancelToken",
    "Cancelled",
    "Comparison",
    "CongestionControl",
    "ControllerError",
    "Estimate",
    "ExecutorError",
    "Failure",
    "Fit",
    "LinuxError",
    "Loss",
    "Record",
    "RunResult",
    "Scenario",
    "ScenarioError",
    "SchemeSummary",
    "Series",
    "SideBySide",
    "SweepError",
    "SweepResult",
    "Verdict",
    "advise",
    "compare",
    "fit",
    "parameter",
    "profiles",
    "run",
    "schema",
    "schemes",
    "sweep",
    "version",
]
