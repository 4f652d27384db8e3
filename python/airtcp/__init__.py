"""Which TCP is best on a lossy link, by how much, and why.

Everything that the command line does::

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

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

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
    from airtcp.advise.advice import Advice
    from airtcp.advise.ask import advise
    from airtcp.asking.compare import compare
    from airtcp.asking.run import run
    from airtcp.asking.sweep import sweep
    from airtcp.control import CongestionControl, parameter
    from airtcp.facts.failure import Failure
    from airtcp.facts.scheme import Scheme
    from airtcp.facts.series import Series
    from airtcp.facts.stats import Estimate
    from airtcp.facts.summary import SchemeSummary
    from airtcp.facts.verdict import Verdict
    from airtcp.fit import Fit, fit
    from airtcp.linux.error import LinuxError
    from airtcp.results.comparison import Comparison
    from airtcp.results.one_run import RunResult
    from airtcp.results.side_by_side import SideBySide
    from airtcp.running.executors import ExecutorError
    from airtcp.sweep.errors import SweepError
    from airtcp.sweep.result import SweepResult

    __version__: str

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
    "Scheme",
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

_HOMES = {
    "Ack": "_engine",
    "Advice": "advise.advice",
    "advise": "advise.ask",
    "Cancelled": "_engine",
    "CancelToken": "_engine",
    "compare": "asking.compare",
    "Comparison": "results.comparison",
    "CongestionControl": "control",
    "ControllerError": "_engine",
    "Estimate": "facts.stats",
    "ExecutorError": "running.executors",
    "Failure": "facts.failure",
    "Fit": "fit",
    "fit": "fit",
    "LinuxError": "linux.error",
    "Loss": "_engine",
    "parameter": "control",
    "profiles": "_engine",
    "Record": "_engine",
    "run": "asking.run",
    "RunResult": "results.one_run",
    "Scenario": "_engine",
    "ScenarioError": "_engine",
    "schema": "_engine",
    "schemes": "_engine",
    "Scheme": "facts.scheme",
    "SchemeSummary": "facts.summary",
    "Series": "facts.series",
    "SideBySide": "results.side_by_side",
    "sweep": "asking.sweep",
    "SweepError": "sweep.errors",
    "SweepResult": "sweep.result",
    "Verdict": "facts.verdict",
    "version": "_engine",
}
"""Modules of lazily imported names. Some take long to load; Ctrl-C is handled only once the command's `main`
runs."""


if not TYPE_CHECKING:  # a type checker would accept any name

    def __getattr__(name: str) -> Any:
        from importlib import import_module  # noqa: PLC0415 as `_HOMES` says

        if name == "__version__":
            found = import_module(f"{__name__}._engine").version()
        elif name in _HOMES:
            found = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
        else:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        globals()[name] = found
        return found


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})


class _Package(type(sys)):  # type: ignore[misc]
    """Makes `airtcp.compare` the function, not the module of that name."""

    def __setattr__(self, name: str, value: object) -> None:
        if not (name in _HOMES and isinstance(value, type(sys))):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
