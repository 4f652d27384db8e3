"""`airtcp measure`."""

from __future__ import annotations

import os
import secrets
import shlex
import signal
import time
from datetime import datetime
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from airtcp._engine import ScenarioError, rate_in_bps, time_in_seconds
from airtcp.cli.console import plain_console
from airtcp.cli.errors import FAILED, INTERRUPTED, InputError, reason, writing
from airtcp.cli.given import check_excluded, check_needs

if TYPE_CHECKING:
    from rich.console import Console

    from airtcp.measure import Measured

EXAMPLES = """\b
Examples:
  airtcp measure example.org
  airtcp measure 192.0.2.1 --for 5m --iperf3 5201
  airtcp measure --serve --listen 0.0.0.0          (on the other host: prints a token)
  AIRTCP_TOKEN=… airtcp measure 192.0.2.1          (here: each way by itself, and the rate)
"""

PORT = 7117
TOKEN = "AIRTCP_TOKEN"
LEAST_S, MOST_S = 1.0, 3600.0


AS_CLIENT = ("for_", "per_second", "iperf3", "load", "dense", "out", "advise")
"""Options without an effect on the far end."""


def command(
    context: typer.Context,
    host: Annotated[
        str | None, typer.Argument(metavar="HOST", help="Host name or address.", show_default=False)
    ] = None,
    for_: Annotated[
        str, typer.Option("--for", metavar="TIME", help="How long to probe the idle path.")
    ] = "60s",
    per_second: Annotated[
        int,
        typer.Option(metavar="N", min=5, max=20, help="Probes per second, alternately small and full-sized."),
    ] = 20,
    iperf3: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=65535,
            metavar="PORT",
            help="Port of an iperf3 server on HOST, used to fill the path in each direction.",
            show_default=False,
        ),
    ] = None,
    load: Annotated[
        str, typer.Option(metavar="TIME", help="How long to run iperf3 in each direction.")
    ] = "10s",
    dense: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="With a server: how long to probe afterwards at half the link's rate, to find rare losses "
            "and short bursts.  [default: same as --for]",
            show_default=False,
        ),
    ] = None,
    serve: Annotated[
        bool,
        typer.Option(
            "--serve", help="Act as the far end, so that each direction can be measured separately."
        ),
    ] = False,
    listen: Annotated[
        str, typer.Option(metavar="ADDRESS", help="With --serve: address to listen on.")
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(metavar="PORT", min=1, max=65535, help="UDP port of the server.")
    ] = PORT,
    token_file: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help=f"File with the shared token; or set {TOKEN}. Without either, --serve makes a token.",
            show_default=False,
        ),
    ] = None,
    limit: Annotated[
        str, typer.Option(metavar="RATE", help="With --serve: maximum rate at which to send to a client.")
    ] = "100Mbit/s",
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Directory for logs and the scenario.  [default: airtcp-out/HOST-DATE]"
        ),
    ] = None,
    advise: Annotated[bool, typer.Option(help="Run `airtcp advise --quick` afterwards.")] = True,
) -> None:
    """Measure the path to a host, fit a scenario to it, and recommend a scheme.

    Pings the host with small and full-sized packets and, with --iperf3, also under load. With `airtcp
    measure --serve` at the far end, measures loss, delay, variation and rate in each direction separately.
    Announces what it will send. Ctrl-C keeps what has been measured. The forward direction is from this
    host to the other, so run it on the host that sends the data.
    """
    check_excluded(context, "serve", AS_CLIENT)
    check_needs(context, {"listen": ["serve"], "limit": ["serve"], "load": ["iperf3"]})
    token = _token(token_file)
    if dense is not None and token is None:
        raise InputError(f"--dense has no effect without a server: give its token, {TOKEN} or --token-file")
    if serve:
        if host is not None:
            raise InputError(f"--serve takes no host: leave out {host}, and use --listen to set the address")
        _serve(listen, port, token, _bps(limit))
        return
    if host is None:
        raise InputError("name a host: airtcp measure HOST (or use --serve to act as the far end)")
    folder = out or Path("airtcp-out") / f"{_file_name(host)}-{datetime.now().astimezone():%Y%m%d-%H%M%S}"
    if out is not None and out.exists() and any(out.iterdir() if out.is_dir() else [out]):
        raise InputError(f"--out {out}: the directory is not empty; name another one")
    console = plain_console()
    for_s = _seconds("--for", for_, LEAST_S)
    dense_s = for_s if dense is None else _seconds("--dense", dense, 0.0)
    load_s = _seconds("--load", load, 0.0)
    measured = _measure(console, host, folder, for_s, per_second, load_s, iperf3, port, token, dense_s)
    goes_on = advise and not measured.interrupted
    logs = _fit(console, measured, folder, is_said=not goes_on)
    if measured.interrupted:
        raise typer.Exit(INTERRUPTED)
    if not logs:
        raise InputError(f"{host} sent no replies, so there is nothing to fit. The logs are in {folder}")
    if goes_on:
        # Passes the logs rather than the scenario, to repeat what they leave open.
        load_command = import_module("airtcp.cli.app").load
        arguments = [*map(str, logs), "--quick", "--out", str(folder / "advice")]
        load_command("advise").main(arguments, standalone_mode=False)


def _measure(
    console: Console,
    host: str,
    folder: Path,
    for_s: float,
    per_second: int,
    load_s: float,
    iperf3: int | None,
    port: int,
    token: bytes | None,
    dense_s: float,
) -> Measured:
    # Sockets and tables are slow to import, and `--help` needs neither.
    from airtcp.measure import Wanted, measure  # noqa: PLC0415
    from airtcp.measure.measuring import plan  # noqa: PLC0415
    from airtcp.measure.prober import ProbeError  # noqa: PLC0415
    from airtcp.measure.show import LiveTable  # noqa: PLC0415
    from airtcp.measure.sockets import resolve  # noqa: PLC0415

    try:
        found = resolve(host)
    except (OSError, UnicodeError) as error:
        why = reason(error) if isinstance(error, OSError) else "not a host name"
        raise InputError(f"{host}: {why}") from error
    wanted = Wanted(found, folder, for_s, per_second, load_s, iperf3, port, token, dense_s)
    console.print(f"To {host}:")
    for line in plan(wanted):
        console.print(f"  {line}")
    try:
        with LiveTable(console) as watch:
            return measure(wanted, watch)
    except ProbeError as error:
        raise InputError(str(error)) from error
    except OSError as error:
        raise InputError(f"{folder}: {reason(error)}") from error


def _fit(console: Console, measured: Measured, folder: Path, *, is_said: bool) -> list[Path]:
    """Writes the scenario; returns the logs that contribute to it."""
    # Readers of all formats are slow to import.
    from airtcp.cli.fit import say  # noqa: PLC0415
    from airtcp.fit import NothingArrives, fit_measurements  # noqa: PLC0415
    from airtcp.fit.detect import read  # noqa: PLC0415
    from airtcp.fit.readers import FileError  # noqa: PLC0415

    found = {}
    ss = folder / "ss.txt"
    for file in [*measured.files, *([ss] if ss.exists() else [])]:
        try:
            found[file] = read(file)
        except FileError as error:
            console.print(f"Note: {error}")
    if not found:
        return []
    try:
        fitted = fit_measurements(list(found.values()), name=measured.host.name)
    except FileError as error:
        console.print(f"Note: {error}")
        return []
    except NothingArrives as failure:
        console.print(str(failure))
        console.print(f"Logs: {folder}.")
        raise typer.Exit(FAILED) from failure
    place = folder / "path.toml"
    with writing(place):
        fitted.write(place)
    if is_said:
        say(fitted, console)
        console.print(f"Logs: {folder}. Scenario: {place}. Next: airtcp advise {shlex.join(map(str, found))}")
    else:
        console.print(f"Logs: {folder}. Scenario: {place}")
    return list(found)


def _serve(listen: str, port: int, token: bytes | None, limit_bps: float) -> None:
    from airtcp.measure.server import open_socket, serve  # noqa: PLC0415 as above

    console = plain_console()
    if token is None:
        token = secrets.token_urlsafe(18).encode()
        console.print(f"Token: {token.decode()}")
    try:
        opened = open_socket(listen, port)
    except OSError as error:
        raise InputError(f"--listen {listen} --port {port}: {reason(error)}") from error
    here = "this host alone" if listen in ("127.0.0.1", "::1") else listen
    console.print(f"Answers {here} at UDP port {port}; Ctrl-C ends it. On the other host, with the token:")
    console.print(f"  {TOKEN}=… airtcp measure THIS-HOST --port {port}")
    clients = 0
    # A shell starts background jobs with SIGINT ignored.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    try:
        for server in serve(opened, token, limit_bps):
            if len(server.sessions) != clients:
                clients = len(server.sessions)
                console.print(f"{time.strftime('%H:%M:%S')} {clients} client{'s' if clients != 1 else ''}")
    except KeyboardInterrupt:
        raise typer.Exit from None
    finally:
        opened.close()


def _token(file: Path | None) -> bytes | None:
    where = f"--token-file {file}" if file else TOKEN
    try:
        token = file.read_bytes().strip() if file else os.environ.get(TOKEN, "").encode().strip()
    except OSError as error:
        raise InputError(f"cannot read {file}: {reason(error)}") from error
    if not token and file is None:
        return None

    from airtcp.measure.wire import LEAST_TOKEN  # noqa: PLC0415 as above

    if len(token) < LEAST_TOKEN:
        raise InputError(f"{where}: a token needs at least {LEAST_TOKEN} characters; `--serve` generates one")
    return token


def _seconds(option: str, text: str, least: float) -> float:
    try:
        found = float(time_in_seconds(text))
    except (ValueError, ScenarioError) as error:
        raise InputError(f"{option} {text}: {error}") from error
    if not least <= found <= MOST_S:
        raise InputError(f"{option} {text}: from {least:g}s to {MOST_S:g}s")
    return found


def _bps(text: str) -> float:
    try:
        found = float(rate_in_bps(text))
    except (ValueError, ScenarioError) as error:
        raise InputError(f"--limit {text}: {error}") from error
    if found < 1e5:
        raise InputError(f"--limit {text}: at least 100kbit/s")
    return found


def _file_name(host: str) -> str:
    return "".join(letter if letter.isalnum() or letter in "-_." else "-" for letter in host)[:80] or "host"
