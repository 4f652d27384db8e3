"""Does what `airtcp try` asks for."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from rich.console import Console

from airtcp._engine import Scenario
from airtcp.apply import ApplyError
from airtcp.asking.compare import compare
from airtcp.cli.applying import check_root, this_host
from airtcp.cli.errors import InputError
from airtcp.facts.routes import way
from airtcp.facts.scenario import document
from airtcp.facts.stats import Estimate, estimate
from airtcp.running.progress import watched
from airtcp.showing.table import Heading, print_fitted
from airtcp.trial import Iperf3, Transfer, Trial, TrialRow, prepare, try_all

FORECAST_SEEDS = 8


def tried(
    console: Console,
    names: Sequence[str],
    transfer: Transfer,
    path: Scenario | None,
    blocks: int,
    seed: int,
) -> Trial:
    """Announces the trial and makes it, with a forecast if there is a `path`. Raises InputError."""
    here = this_host()
    seconds = transfer.seconds if isinstance(transfer, Iperf3) else None
    try:
        plan = prepare(names, here)
        if plan.takes_root(transfer, here):
            check_root(f"airtcp try with {', '.join(names)}")
        _announce(console, names, transfer, blocks, seed, [step.words for step in plan.steps])
        forecast = {} if path is None or seconds is None else _forecast(path, names, seconds)
        with watched("try", seconds) as watcher:
            watcher.expect(blocks * len(names))
            return try_all(
                plan, transfer, here, blocks, seed, forecast, lambda _, scheme: watcher.done(scheme)
            )
    except ApplyError as error:
        raise InputError(str(error)) from error


def show(console: Console, found: Trial) -> None:
    """Prints the table and the conclusion."""
    print_fitted(console, _headings(found), _rows(found))
    best, *others = found.rows
    count = len(best.values)
    if found.broken_off:
        console.print(f"It ended early: {found.broken_off}.")
    if not found.decided:
        unknown = [row.scheme for row in others if row.standing == "not known"]
        console.print(
            f"Not decided after {count} blocks: {', '.join(unknown)} may be as good as {best.scheme}. Use "
            "more --blocks or longer transfers."
        )
        return
    alike = [row.scheme for row in others if row.standing == "as good"]
    behind = [row.scheme for row in others if row.standing == "behind"]
    said = [
        f"{best.scheme} is best here" if not alike else f"{' and '.join([best.scheme, *alike])} are as good"
    ]
    said += [f"{', '.join(behind)} {'is' if len(behind) == 1 else 'are'} behind"] if behind else []
    console.print(f"Decided after {count} blocks: {'; '.join(said)}.")


def _headings(found: Trial) -> list[Heading]:
    told = (Heading("forecast,\nMbit/s", 1), Heading("to forecast,\n%", 2)) if _has_forecast(found) else ()
    unit = "Mbit/s" if found.objective == "goodput" else "s"
    return [
        Heading("control", kind="words"),
        Heading(unit),
        Heading("behind the best,\n%", 3),
        *told,
        Heading("so it is", kind="words"),
    ]


def _rows(found: Trial) -> list[list[str]]:
    scale = 1e-6 if found.objective == "goodput" else 1.0
    return [
        [
            row.scheme,
            _interval(row.reached.scaled(scale), 2),
            "–" if row.behind is None else _interval(row.behind.scaled(100), 1),
            *(_told(row, scale) if _has_forecast(found) else []),
            row.standing,
        ]
        for row in found.rows
    ]


def _has_forecast(found: Trial) -> bool:
    return any(row.forecast for row in found.rows)


def _told(row: TrialRow, scale: float) -> list[str]:
    if row.forecast is None:
        return ["–", "–"]
    return [
        _interval(row.forecast.scaled(scale), 2),
        f"{100 * (row.reached.mean / row.forecast.mean - 1):+.1f}",
    ]


def _interval(found: Estimate, places: int) -> str:
    half = "" if found.half_width is None else f" ± {found.half_width:.{places}f}"
    return f"{found.mean:.{places}f}{half}"


def _announce(
    console: Console,
    schemes: Sequence[str],
    transfer: Transfer,
    blocks: int,
    seed: int,
    loaded: Sequence[str],
) -> None:
    for words in loaded:
        console.print(f"For as long as it runs: {words}")
    most = f"{blocks} blocks of {len(schemes)} transfers at most"
    if isinstance(transfer, Iperf3):
        most += f", {transfer.seconds:g} s each, at the full rate of the path: up to "
        most += f"{blocks * len(schemes) * transfer.seconds / 60:.0f} min"
    console.print(f"{most}. The order is that of --seed {seed}. Ctrl-C keeps the whole blocks.")


def _forecast(path: Scenario, schemes: Sequence[str], seconds: float) -> Mapping[str, Estimate]:
    """Simulates one connection alone on the path, for the same time, with Linux senders."""
    first = way(document(path)["flow"][0])
    first.pop("direction", None)
    bulk = path.vary({"flow": [{**first, "name": "transfer", "traffic": {"kind": "unlimited"}}]})
    duration = f"{seconds:g}s"
    asked = bulk.vary(
        schemes=list(schemes), seeds=FORECAST_SEEDS, duration=duration, profile="linux", warmup="0s"
    )
    found = compare(asked, jobs=os.cpu_count())
    return {
        scheme: estimate([run["goodput_bps"] for run in found.runs if run["scheme"] == scheme])
        for scheme in schemes
    }
