"""`airtcp run`."""

from __future__ import annotations

import json as json_module
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from airtcp.cli.console import plain_console
from airtcp.cli.errors import InputError, writing
from airtcp.cli.lines import circuit_lines, flow_lines, link_lines
from airtcp.cli.options import DurationOption, ProfileOption, ScenarioArgument, SetOption, load
from airtcp.compare import SERIES_POINTS
from airtcp.jobs import interruptible
from airtcp.records import Run
from airtcp.results import to_json
from airtcp.series import Series, series_of, write_frame

EXAMPLES = """\b
Examples:
  airtcp run --scheme bbr
  airtcp run my-link.toml --scheme cubic --seed 3 --out lte-cubic
  airtcp run --scheme reno:recovery=newreno --series reno.csv --interval 0.01
  airtcp run --scheme reno --duration 5s --pcap reno.pcapng --link wireless
"""


def command(
    scenario: ScenarioArgument = None,
    scheme: Annotated[
        str | None,
        typer.Option(metavar="SCHEME", help="See `airtcp schemes`.  [default: the scenario's first]"),
    ] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="[default: the scenario's first]")] = None,
    changes: SetOption = None,
    duration: DurationOption = None,
    profile: ProfileOption = None,
    series: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Time series of the flows: .parquet or .csv."),
    ] = None,
    interval: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS", min=0, help="Between two samples; 0: at every ACK.  [default: duration/1500]"
        ),
    ] = None,
    pcap: Annotated[Path | None, typer.Option(metavar="FILE", help="Packets of one link as pcapng.")] = None,
    link: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The link to capture.  [default: the path's first]"),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Write record.json, the time series and their figures there."),
    ] = None,
) -> None:
    """Run one scheme once, and tell the truth that only a simulator knows: which losses were what, and which
    retransmissions were in vain."""
    if link and not pcap:
        raise InputError("--link names the link to capture: give --pcap FILE too")
    loaded = load(scenario, changes, duration=duration, profile=profile).scenario
    chosen = scheme or loaded.schemes[0]
    spacing = loaded.duration_s / SERIES_POINTS if interval is None else interval
    wanted = spacing if series or out else None
    # The engine writes nothing but the capture.
    with writing(pcap):
        record = interruptible(
            lambda cancel: loaded.run(
                chosen,
                loaded.seed if seed is None else seed,
                series_interval_s=wanted,
                pcap=str(pcap) if pcap else None,
                pcap_link=link,
                cancel=cancel,
            )
        )
    run: Run = json_module.loads(record.to_json())
    files = _write(run, series_of(record, run) if wanted is not None else None, series, out)
    _show(plain_console(), run, [*files, *([pcap] if pcap else [])])


def _write(run: Run, found: Series | None, series: Path | None, out: Path | None) -> list[Path]:
    files: list[Path] = []
    if series and found:
        with writing(series):
            write_frame(found.flows, series)
        files.append(series)
    if out and found:
        from airtcp.figures import draw_series  # noqa: PLC0415 see `airtcp compare`

        with writing(out):
            out.mkdir(parents=True, exist_ok=True)
            (out / "record.json").write_text(to_json(run), encoding="utf-8")
            write_frame(found.flows, out / "series.parquet")
            write_frame(found.queues, out / "queues.parquet")
            write_frame(found.events, out / "events.parquet")
            draw_series({run["scheme"]: found}, out)
        files.append(out)
    return files


def _show(console: Console, run: Run, files: list[Path]) -> None:
    console.print(f"{run['scheme']}, seed {run['seed']}")
    for line in [*flow_lines(run), *circuit_lines(run), *link_lines(run)]:
        console.print(line)
    for file in files:
        console.print(f"Written: {file}")
