"""The commands by name."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from airtcp._engine import ControllerError, ScenarioError, version
from airtcp.cli import advise, compare, fidelity, fit, listings, model, paper, run, sweep, trace
from airtcp.cli.controllers import hinted
from airtcp.cli.errors import BAD_INPUT, FAILED, InputError
from airtcp.linux import LinuxError

app = typer.Typer(
    name="airtcp",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("compare", short_help="Compare schemes on a link.", epilog=compare.EXAMPLES)(compare.command)
app.command("advise", short_help="Say what to use on a link.", epilog=advise.EXAMPLES)(advise.command)
app.command("fit", short_help="Fit a scenario to measurements.", epilog=fit.EXAMPLES)(fit.command)
app.command("run", short_help="Run one scheme once, in detail.", epilog=run.EXAMPLES)(run.command)
app.command("sweep", short_help="Compare schemes while keys of the scenario vary.", epilog=sweep.EXAMPLES)(
    sweep.command
)
app.add_typer(paper.app, name="paper", short_help="Repeat what the papers measured.")
app.add_typer(model.app, name="model", short_help="The papers' closed forms beside the simulator.")
app.command(
    "fidelity", short_help="Compare the simulator with this host's kernel.", epilog=fidelity.EXAMPLES
)(fidelity.command)
app.command("trace", short_help="Print a link's round trips.", epilog=trace.EXAMPLES)(trace.command)
app.command("schemes", short_help="List the schemes and their parameters.", epilog=listings.SCHEMES_EXAMPLES)(
    listings.schemes_command
)
app.command("profiles", epilog=listings.PROFILES_EXAMPLES)(listings.profiles_command)
app.command(
    "schema", short_help="Print the JSON Schema of the scenario file.", epilog=listings.SCHEMA_EXAMPLES
)(listings.schema_command)


def run_app() -> None:
    """Runs the command of `sys.argv` and exits. KeyboardInterrupt is the caller's."""
    for stream in (sys.stdout, sys.stderr):
        # A terminal without ± shows a question mark instead of a traceback.
        stream.reconfigure(errors="replace")  # type: ignore[union-attr]
    try:
        app()
    except (InputError, LinuxError) as error:
        print(f"airtcp: {error}", file=sys.stderr)
        sys.exit(BAD_INPUT)
    except ScenarioError as error:
        print(f"airtcp: {hinted(str(error))}", file=sys.stderr)
        sys.exit(BAD_INPUT)
    except ControllerError as error:
        print(f"airtcp: {error}", file=sys.stderr)
        sys.exit(FAILED)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"airtcp {version()}")
        raise typer.Exit


@app.callback()
def root(
    _version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit."),
    ] = False,
) -> None:
    """Which TCP is best on a lossy link, by how much, and why."""
