"""`--controller FILE.py[:CLASS]`: congestion controls that a user has written in Python."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Sequence
from difflib import get_close_matches
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Annotated

import typer

from airtcp.cli.errors import InputError
from airtcp.control import CongestionControl

ControllerOption = Annotated[
    list[str] | None,
    typer.Option(
        "--controller",
        metavar="FILE.py[:CLASS]",
        help="Add a congestion control written in Python, which schemes can then name. Repeatable.",
    ),
]


def controllers(options: Sequence[str]) -> list[type[CongestionControl]]:
    """Returns the classes that the options name; without :CLASS, all those that the file defines.

    Raises InputError.
    """
    return [found for option in options for found in _of(option)]


def _of(option: str) -> list[type[CongestionControl]]:
    path, class_name = _split(option)
    there = _defined(_module(option, path))
    if class_name is None:
        wanted = [found for found in there if not found.lacking()] or there
    else:
        wanted = [found for found in there if found.__name__ == class_name]
    if not wanted:
        raise InputError(f"--controller {option}: {_nothing(path, class_name, there)}")
    for found in wanted:
        if found.lacking():
            raise InputError(f"--controller {option}: {found.__name__} lacks {' and '.join(found.lacking())}")
    return wanted


def _split(option: str) -> tuple[Path, str | None]:
    path, colon, class_name = option.rpartition(":")
    return (Path(path), class_name) if colon and class_name.isidentifier() else (Path(option), None)


def _module(option: str, path: Path) -> ModuleType:
    name = f"airtcp_controller_{path.stem}"
    spec = spec_from_file_location(name, path)
    if spec is None or spec.loader is None or not path.is_file():
        raise InputError(f"--controller {option}: {path} is not a readable Python file")
    module = module_from_spec(spec)
    # As when Python runs a file: its neighbours can be imported.
    sys.path.insert(0, str(path.parent.absolute()))
    try:
        sys.modules[name] = module
        spec.loader.exec_module(module)
    except Exception as error:
        raise InputError(f"--controller {option}: {path} failed to run:\n{_told(error, path)}") from error
    finally:
        sys.path.pop(0)
    return module


def _told(error: Exception, path: Path) -> str:
    """Returns the traceback from the user's file on, without our loading code."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [number for number, frame in enumerate(frames) if Path(frame.filename) == path.absolute()]
    shown = traceback.format_list(frames[own[0] :]) if own else []
    return "".join([*shown, *traceback.format_exception_only(error)]).rstrip()


def _defined(module: ModuleType) -> list[type[CongestionControl]]:
    values = vars(module).values()
    kinds = [value for value in values if isinstance(value, type) and issubclass(value, CongestionControl)]
    return list(dict.fromkeys(kind for kind in kinds if kind.__module__ == module.__name__))


def _nothing(path: Path, class_name: str | None, there: Sequence[type[CongestionControl]]) -> str:
    names = [found.__name__ for found in there]
    if class_name is None or not names:
        return (
            f"{path} does not define a subclass of airtcp.CongestionControl; write "
            "`class Mine(airtcp.CongestionControl):` with on_ack and on_loss"
        )
    near = get_close_matches(class_name, names, n=1)
    hint = f" (did you mean {near[0]}?)" if near else ""
    return f"{path} has no class {class_name}{hint}; it has: {', '.join(names)}"
