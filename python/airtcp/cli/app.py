"""The commands by name. A command's modules are imported when it is chosen, so that `--help` is fast."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Sequence
from importlib import import_module
from typing import Annotated, Any, NamedTuple, NoReturn

import typer
from typer._completion_classes import completion_init
from typer.core import TyperCommand, TyperGroup

from airtcp._engine import ControllerError, ScenarioError, version
from airtcp.cli.errors import BAD_INPUT, FAILED, InputError, PathError, hinted
from airtcp.cli.settings import SETTINGS
from airtcp.cli.streams import prepare_streams
from airtcp.linux.error import LinuxError

COMPLETE = "_AIRTCP_COMPLETE"
"""Set by a shell that asks for completions or for its completion script."""


class _Command(NamedTuple):
    """The location of a command: a module of `package`, and the names in it."""

    module: str
    short_help: str
    function: str = "command"
    examples: str = "EXAMPLES"
    package: str = "airtcp.cli"


_STUDIES = "airtcp_studies.cli"
"""Studies are built on airtcp, which refers to them only by name: here and in `listings`."""

_COMMANDS = {
    "compare": _Command("compare", "Compare schemes on a link."),
    "advise": _Command("advise", "Recommend a scheme for a link."),
    "apply": _Command("apply", "Apply a scheme to this host."),
    "try": _Command("trying", "Test congestion controls on the real path."),
    "undo": _Command("apply", "Undo what was applied to this host.", "undo", "UNDO_EXAMPLES"),
    "measure": _Command("measure", "Measure the path to a host, fit a scenario, and advise."),
    "fit": _Command("fit", "Fit a scenario to measurements."),
    "run": _Command("run", "Run one scheme once, in detail."),
    "play": _Command("play", "Open the playground: the simulator as a web page."),
    "sweep": _Command("sweep", "Compare schemes over a range of scenario values."),
    "fidelity": _Command("fidelity", "Compare the simulator with this host's kernel.", package=_STUDIES),
    "trace": _Command("trace", "Print a link's round-trip times."),
    "schemes": _Command(
        "listings", "List the schemes and their parameters.", "schemes_command", "SCHEMES_EXAMPLES"
    ),
    "profiles": _Command("listings", "List the TCP stack profiles.", "profiles_command", "PROFILES_EXAMPLES"),
    "schema": _Command(
        "listings", "Print the JSON Schema of the scenario file.", "schema_command", "SCHEMA_EXAMPLES"
    ),
    "paper": _Command("paper", "Reproduce the papers' measurements.", package=_STUDIES),
    "model": _Command("model", "Compare the papers' closed forms with the simulator.", package=_STUDIES),
}


def load(name: str) -> Any:
    """Returns the command called `name` with its options, or the group."""
    place = _COMMANDS[name]
    module = import_module(f"{place.package}.{place.module}")
    if hasattr(module, "app"):
        return typer.main.get_command(module.app)
    alone = typer.Typer(**SETTINGS)
    alone.command(name, epilog=getattr(module, place.examples))(getattr(module, place.function))
    return typer.main.get_command(alone)


class Commands(TyperGroup):
    """Lists the commands with the summaries given here, and loads only the chosen one."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        self.commands = {
            name: TyperCommand(name, short_help=place.short_help) for name, place in _COMMANDS.items()
        }

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name, found, rest = super().resolve_command(ctx, args)
        if name is None:
            return name, found, rest
        _quieten_libraries()
        return name, load(name), rest

    def invoke(self, ctx: Any) -> Any:
        """Names the hooks that Ctrl-C has ended; Typer would exit without a word."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as interrupt:
            for hook in getattr(interrupt, "__notes__", ()):
                print(f"airtcp: interrupted; {hook}", file=sys.stderr)
            raise


app = typer.Typer(name="airtcp", cls=Commands, no_args_is_help=True, **SETTINGS)


def run_app() -> None:
    """Runs the command of `sys.argv` and exits. The caller handles KeyboardInterrupt."""
    prepare_streams()
    if COMPLETE in os.environ:
        completion_init()
    try:
        _refuse_empty_arguments(sys.argv[1:])
        try:
            app()
        finally:
            # Otherwise Python's final flush would report a full disk in its own words.
            sys.stdout.flush()
    except (InputError, LinuxError) as error:
        _end(str(error), BAD_INPUT)
    except ScenarioError as error:
        _end(hinted(str(error)), BAD_INPUT)
    except (ControllerError, PathError) as error:
        _end(str(error), FAILED)


def _end(text: str, code: int) -> NoReturn:
    print(f"airtcp: {text}", file=sys.stderr)
    sys.exit(code)


def _quieten_libraries() -> None:
    """Silences Matplotlib's remarks on caches and layouts, and limits NumPy's linear algebra to one thread.

    It would start a thread per core with every command, and no command has matrices that are worth it.
    """
    import logging  # noqa: PLC0415 `airtcp --help` needs none

    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    logging.getLogger("matplotlib").setLevel(logging.ERROR)
    warnings.filterwarnings("ignore", module=r"matplotlib|airtcp(_studies)?\.")


def _refuse_empty_arguments(arguments: Sequence[str]) -> None:
    """Refuses empty arguments, as from `airtcp fit "$LOG"` with LOG unset."""
    for place, argument in enumerate(arguments, 1):
        if not argument:
            before = f", after {arguments[place - 2]}" if place > 1 else ""
            raise InputError(f"argument {place}{before}, is empty: is a shell variable unset?")


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
