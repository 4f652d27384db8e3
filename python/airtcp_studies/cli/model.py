"""`airtcp model`: the papers' closed forms, and the simulator beside them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from airtcp._engine import rate_in_bps, size_in_bytes, time_in_seconds
from airtcp.cli.errors import InputError
from airtcp.cli.given import check_excluded
from airtcp.cli.settings import SETTINGS

if TYPE_CHECKING:
    from airtcp_studies.model.closed_forms import Answer

WINDOW_EXAMPLES = """\b
Examples:
  airtcp model window
  airtcp model window --ber 2e-6 --packet 52B
  airtcp model window --per 1%
"""
MAT_EXAMPLES = """\b
Examples:
  airtcp model mat --ber 2e-6 --packet 1500B --window-packet 52B --rtt 100ms
  airtcp model mat --per 0.001 --packet 1000B --rtt 50ms --no-run
"""
RED_EXAMPLES = """\b
Examples:
  airtcp model red
  airtcp model red --max-probability 0.2
  airtcp model red --flows 8 --window 10 --rate 10Mbit/s --rtt 40ms --json
"""
GAIN_EXAMPLES = """\b
Examples:
  airtcp model gain
  airtcp model gain --mtu 1500B --header-packet 15B --ber 1e-6
"""
BIANCHI_EXAMPLES = """\b
Examples:
  airtcp model bianchi
  airtcp model bianchi --stations 1,10,50 --mcs 0 --rts
  airtcp model bianchi --cw-min 31 --packet 500B --json
"""

app = typer.Typer(
    no_args_is_help=True,
    help="Compare the papers' closed forms with short simulator runs.",
    epilog="\b\nExamples:\n  airtcp model window --ber 2e-6 --packet 52B\n  airtcp model red\n",
    **SETTINGS,
)


BerOption = Annotated[str | None, typer.Option(metavar="BER", help="Bit error rate, e.g. 2e-6.")]
PerOption = Annotated[
    str | None, typer.Option(metavar="SHARE", help="Packet error rate, e.g. 1%, instead of --ber.")
]
RttOption = Annotated[str, typer.Option(metavar="TIME", help="Round-trip time.")]
PacketOption = Annotated[str, typer.Option(metavar="SIZE", help="Length of the IP packets.")]
RunOption = Annotated[bool, typer.Option("--run/--no-run", help="Also run the simulator.")]
SeedsOption = Annotated[
    int, typer.Option(metavar="N", min=1, help="Number of runs, each with other random losses or marks.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON instead.")]


@app.command(
    "window", short_help="Show the window at which TCP loses its next packet.", epilog=WINDOW_EXAMPLES
)
def window_command(
    context: typer.Context,
    ber: BerOption = None,
    per: PerOption = None,
    packet: PacketOption = "576B",
    run: RunOption = True,
    seeds: SeedsOption = 5,
    json: JsonOption = False,
) -> None:
    """Show the window W at which TCP loses its next packet, from the bit error rate (default 3e-5) or the
    packet error rate.

    The simulated value is the average cwnd just before each reduction.
    """
    _check(context, run)
    from airtcp_studies.model import closed_forms  # noqa: PLC0415 it loads Polars

    found = closed_forms.windows(
        _ber(ber, per), _probability("--per", per), _size("--packet", packet), seeds if run else 0
    )
    _show(found, json)


@app.command("mat", short_help="Show the Maximum Allowable Throughput of a lossy link.", epilog=MAT_EXAMPLES)
def mat_command(
    context: typer.Context,
    ber: BerOption = None,
    per: PerOption = None,
    packet: PacketOption = "576B",
    window_packet: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE", help="Length of the packets whose errors shrink the window.  [default: --packet]"
        ),
    ] = None,
    header: Annotated[str, typer.Option(metavar="SIZE", help="Length of each packet's headers.")] = "52B",
    rtt: RttOption = "540ms",
    run: RunOption = True,
    seeds: SeedsOption = 5,
    json: JsonOption = False,
) -> None:
    """Show the Maximum Allowable Throughput for a bit error rate (default 3e-5) or a packet error rate.

    With --window-packet, it is that under decoupling, where the loss of short header packets sets the window.
    """
    _check(context, run)
    from airtcp_studies.model import closed_forms  # noqa: PLC0415 it loads Polars

    found = closed_forms.throughput(
        _ber(ber, per),
        _probability("--per", per),
        _size("--packet", packet),
        None if window_packet is None else _size("--window-packet", window_packet, least=1),
        _size("--header", header, least=1),
        _time("--rtt", rtt),
        seeds if run else 0,
    )
    _show(found, json)


@app.command("red", short_help="Show the largest average queue of a marking RED.", epilog=RED_EXAMPLES)
def red_command(
    context: typer.Context,
    min_threshold: Annotated[float, typer.Option(min=0, help="Minimum threshold, in packets.")] = 5,
    max_threshold: Annotated[float, typer.Option(min=0, help="Maximum threshold, in packets.")] = 15,
    max_probability: Annotated[
        float, typer.Option(help="Marking probability at the maximum threshold.")
    ] = 0.1,
    weight: Annotated[float, typer.Option(help="Weight of the instantaneous queue in the average.")] = 0.002,
    flows: Annotated[int, typer.Option(metavar="N", min=1, help="Number of flows that share the queue.")] = 2,
    window: Annotated[
        int, typer.Option(metavar="N", min=1, help="Window of each flow, in packets of 1000 B.")
    ] = 27,
    rtt: RttOption = "59ms",
    rate: Annotated[str, typer.Option(metavar="RATE", help="Rate of the bottleneck.")] = "5Mbit/s",
    probability: Annotated[
        str | None,
        typer.Option(
            metavar="SHARE", help="Probability of a mark.  [default: RED's at the maximum threshold]"
        ),
    ] = None,
    run: RunOption = True,
    seeds: SeedsOption = 5,
    json: JsonOption = False,
) -> None:
    """Show the largest average queue of a marking RED: the smallest maximum threshold that avoids loss."""
    _check(context, run)
    if not min_threshold < max_threshold:
        raise InputError("--max-threshold must be above --min-threshold")
    if not (0 < max_probability <= 1 and 0 < weight <= 1):
        raise InputError("--max-probability and --weight must be above 0 and at most 1")

    from airtcp_studies.model import closed_forms  # noqa: PLC0415 it loads Polars

    given = closed_forms.RedInputs(
        min_threshold,
        max_threshold,
        max_probability,
        weight,
        flows,
        window,
        _time("--rtt", rtt),
        _quantity(rate_in_bps, "--rate", rate),
        _probability("--probability", probability),
        seeds if run else 0,
    )
    _show(closed_forms.red_queue(given), json)


@app.command(
    "gain", short_help="Show the gain from decoupling on a link with bit errors.", epilog=GAIN_EXAMPLES
)
def gain_command(
    context: typer.Context,
    ber: BerOption = "2e-6",
    mtu: Annotated[str, typer.Option(metavar="SIZE", help="Length of the data packets.")] = "1500B",
    header_packet: Annotated[str, typer.Option(metavar="SIZE", help="Length of the header packets.")] = "52B",
    rtt: RttOption = "100ms",
    run: RunOption = True,
    seeds: SeedsOption = 5,
    json: JsonOption = False,
) -> None:
    """Show the gain from decoupling on a link with bit errors: √(MTU/HP_Sz), and the exact form.

    The simulation compares a TCP that loses packets as rarely as header packets with one that loses them at
    the rate of their full length.
    """
    _check(context, run)
    from airtcp_studies.model import closed_forms  # noqa: PLC0415 it loads Polars

    rate = _probability("--ber", ber) or 0.0
    found = closed_forms.gain(
        rate,
        _size("--mtu", mtu),
        _size("--header-packet", header_packet, least=1),
        _time("--rtt", rtt),
        seeds if run else 0,
    )
    _show(found, json)


@app.command("bianchi", short_help="Show what a saturated Wi-Fi cell carries.", epilog=BIANCHI_EXAMPLES)
def bianchi_command(
    context: typer.Context,
    stations: Annotated[
        str, typer.Option(metavar="N,...", help="Numbers of stations that always have something to send.")
    ] = "1,2,5,10,20,50",
    mcs: Annotated[
        int, typer.Option(min=0, max=7, help="0 to 7: 6, 9, 12, 18, 24, 36, 48 and 54 Mbit/s of 802.11a.")
    ] = 7,
    packet: PacketOption = "1500B",
    cw_min: Annotated[int, typer.Option(min=0, max=32767, help="Smallest contention window, in slots.")] = 15,
    cw_max: Annotated[int, typer.Option(min=0, max=32767, help="Largest contention window.")] = 1023,
    attempts: Annotated[int, typer.Option(min=1, max=100, help="How often a frame is sent at most.")] = 7,
    rts: Annotated[bool, typer.Option("--rts/--no-rts", help="RTS and CTS precede each frame.")] = False,
    run: RunOption = True,
    seeds: SeedsOption = 3,
    json: JsonOption = False,
) -> None:
    """Show what a saturated cell of 802.11a carries, and how often frames collide: Bianchi's closed form with
    a retry limit."""
    _check(context, run)
    if cw_min > cw_max:
        raise InputError("--cw-max must not be below --cw-min")
    from airtcp_studies.model.wifi import Cell, saturated  # noqa: PLC0415 it loads Polars

    size = _size("--packet", packet)
    cell = Cell(mcs, size, cw_min, cw_max, attempts, rts, seeds if run else 0)
    _show(saturated(cell, _counts("--stations", stations)), json)


def _counts(option: str, text: str) -> list[int]:
    try:
        counts = [int(part) for part in text.split(",")]
    except ValueError as error:
        raise InputError(f"{option} {text}: write numbers, e.g. 1,5,20") from error
    if not all(1 <= count <= MOST_STATIONS for count in counts):
        raise InputError(f"{option} {text}: must be 1 to {MOST_STATIONS}")
    return counts


MOST_STATIONS = 200
PAPERS_BER = 3e-5
"""Paper 000, §3."""


def _ber(ber: str | None, per: str | None) -> float | None:
    if ber is not None and per is not None:
        raise InputError("give --ber or --per, not both")
    return PAPERS_BER if ber is None and per is None else _probability("--ber", ber)


def _probability(option: str, text: str | None) -> float | None:
    if text is None:
        return None
    try:
        value = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError as error:
        raise InputError(f"{option} {text}: write a number or a percentage, e.g. 1e-6 or 1%") from error
    if not 0 < value < 1:
        raise InputError(f"{option} {text}: must lie between 0 and 1")
    return value


def _size(option: str, text: str, least: int = 41) -> int:
    """Parses the length of a packet, with at least a byte of payload unless `least` is given."""
    value = _quantity(size_in_bytes, option, text)
    if not least <= value <= 65535:
        raise InputError(f"{option} {text}: must be {least} to 65535 B")
    return value


def _time(option: str, text: str) -> float:
    value = _quantity(time_in_seconds, option, text)
    if value <= 0:
        raise InputError(f"{option} {text}: must be above zero")
    return value


T = TypeVar("T")


def _quantity(parse: Callable[[str], T], option: str, text: str) -> T:
    try:
        return parse(text)
    except ValueError as error:
        raise InputError(f"{option} {text}: {error}") from error


def _check(context: typer.Context, run: bool) -> None:
    """Raises InputError."""
    if not run:
        check_excluded(context, "run", ["seeds"])


def _show(found: Answer, json: bool) -> None:
    from airtcp_studies.cli.answer import show  # noqa: PLC0415 it loads Rich and the records' types

    show(found, json)
