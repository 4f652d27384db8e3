"""Runs one scheme once."""

from __future__ import annotations

import json
from os import PathLike, fspath
from typing import Literal

from airtcp._engine import Scenario
from airtcp.asking.given import ScenarioLike, scenario_of
from airtcp.control import CongestionControl
from airtcp.facts.failure import Failure
from airtcp.facts.files import CAPTURE
from airtcp.facts.records import Run
from airtcp.facts.series import SERIES_POINTS, series_of
from airtcp.linux.airtcpd import find
from airtcp.linux.error import LinuxError
from airtcp.linux.forms import forms
from airtcp.linux.host import host_of
from airtcp.linux.runs import Job, run_all
from airtcp.results.one_run import RunResult
from airtcp.running.jobs import interruptible


def run(
    scenario: ScenarioLike | None = None,
    scheme: str | type[CongestionControl] | None = None,
    seed: int | None = None,
    *,
    on: Literal["sim", "linux"] = "sim",
    duration: str | None = None,
    series: bool = True,
    interval_s: float | None = None,
    pcap: str | PathLike[str] | None = None,
    pcap_link: str | None = None,
    no_shortcuts: bool = False,
) -> RunResult:
    """Run one scheme once; by default the scenario's first scheme and first seed.

    The same scenario, scheme and seed give the same result on any machine, except with `on="linux"`, which
    runs on this host's kernel in real time, as in `compare`, and without `pcap`. With `series`, time series
    are sampled every `interval_s` seconds: 0 means every ACK, None a 1500th of the duration. `pcap` writes
    the packets of `pcap_link` (by default the path's first link) to that file as pcapng. With `no_shortcuts`,
    the simulator handles every packet the general way: the same result, more slowly.

    Raises ScenarioError for an invalid scenario, scheme or link, ValueError if `pcap` has another file's
    suffix or an option is not for Linux, OSError, ControllerError for an error in a Python congestion
    control, and LinuxError for a run that the kernel cannot do. KeyboardInterrupt stops the run.

    >>> import airtcp
    >>> found = airtcp.run(scheme="reno", duration="2s")
    >>> found.flows.select("flow_name", "timeouts", "losses_corruption").rows()
    [('main', 0, 11)]
    >>> found.series.columns[:4]
    ['time_s', 'flow', 'cwnd_bytes', 'ssthresh_bytes']
    """
    if pcap is not None:
        CAPTURE.check(pcap)
    found = scenario_of(scenario, duration=duration)
    spacing = found.duration_s / SERIES_POINTS if interval_s is None else interval_s
    if on == "linux":
        if pcap is not None:
            raise ValueError("kernel runs cannot be captured; `airtcpd link` writes captures")
        if no_shortcuts:
            raise ValueError("no_shortcuts is about the simulator; on='linux' has none")
        return _on_linux(found, scheme, seed, spacing if series else None)
    record = interruptible(
        lambda cancel: found.run(
            found.schemes[0] if scheme is None else scheme,
            found.seed if seed is None else seed,
            series_interval_s=spacing if series else None,
            pcap=None if pcap is None else fspath(pcap),
            pcap_link=pcap_link,
            no_shortcuts=no_shortcuts,
            cancel=cancel,
        )
    )
    content: Run = json.loads(record.to_json())
    all_series = series_of(record, content) if series else None
    return RunResult(found, content, all_series, hooks_not_run=tuple(record.hooks_not_run))


def _on_linux(
    scenario: Scenario,
    scheme: str | type[CongestionControl] | None,
    seed: int | None,
    series_interval_s: float | None,
) -> RunResult:
    alone = scenario.vary(schemes=[scenario.schemes[0] if scheme is None else scheme], seeds=1)
    airtcpd = find()
    (name,) = forms(airtcpd, alone).schemes
    job = Job(alone, name, scenario.seed if seed is None else seed, series_interval_s)
    (outcome,) = run_all([job], place=airtcpd)
    if isinstance(outcome, Failure):
        raise LinuxError(outcome.text)
    host = host_of(airtcpd, [outcome.host])
    return RunResult(scenario, outcome.run, outcome.series, host=host)
