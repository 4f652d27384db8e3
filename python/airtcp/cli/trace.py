"""`airtcp trace`."""

from __future__ import annotations

from typing import Annotated

import typer

from airtcp._engine import size_in_bytes
from airtcp.cli.errors import InputError
from airtcp.cli.options import ScenarioArgument, SetOption, load
from airtcp.facts.scenario import document

EXAMPLES = """\b
Examples:
  airtcp trace scenarios/3g-cell.toml --link cell > rtt.txt
  airtcp trace scenarios/3g-cell.toml --link cell --set link.cell.channel.users=16
  airtcp compare --set 'link.wireless.jitter={distribution="series", file="rtt.txt", share="100%"}'
"""


def command(
    scenario: ScenarioArgument = None,
    link: Annotated[
        str | None, typer.Option(metavar="NAME", help="The link to probe.  [default: the wireless one]")
    ] = None,
    packet: Annotated[str, typer.Option(metavar="SIZE", help="Length of the IP packets.")] = "500B",
    packets: Annotated[int, typer.Option(metavar="N", min=1, help="Number of packets.")] = 1000,
    seed: Annotated[
        int | None,
        typer.Option(metavar="N", min=0, help="Seed of the link.  [default: the scenario's first]"),
    ] = None,
    changes: SetOption = None,
) -> None:
    """Print the round-trip times of packets sent one at a time over a link, in ms, one per line.

    Each is the packet's transmission time (in a cell: until the scheduler has served it) plus the link's
    delay in both directions. Jitter with `distribution = "series"` reads a file of them.
    """
    found = load(scenario, changes).scenario
    try:
        packet_bytes = size_in_bytes(packet)
    except ValueError as error:
        raise InputError(f"--packet {packet}: {error}") from error
    name = link or document(found)["base_station"]
    first = found.seed if seed is None else seed
    times = found.round_trips(name, first, packet_bytes=packet_bytes, packets=packets)
    typer.echo(f"# {found.name}, link {name}, {packet} packets, seed {first}: round trips in ms")
    for seconds in times:
        typer.echo(f"{seconds * 1e3:.6f}")
