"""Runs `airtcp` for the tests, each time in a process of its own that has Python and the libraries loaded.

Loading them takes longer than most commands do. A line of JSON on standard input is a command to run; a line
on standard output is the exit code that it ended with.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from importlib import import_module
from pkgutil import walk_packages
from typing import TypedDict

import airtcp_studies

import airtcp

TIMEOUT_S = 120


class Request(TypedDict):
    arguments: list[str]
    directory: str
    environment: dict[str, str]
    out: str
    err: str


def serve() -> None:
    load_all()
    for line in sys.stdin:
        process = os.fork()
        if process == 0:
            run(json.loads(line))
        _, status = os.waitpid(process, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


def load_all() -> None:
    """Everything that a command may need. Nothing of it computes here: a fork would lose Polars' threads."""
    for package in (airtcp, airtcp_studies):
        for module in walk_packages(package.__path__, f"{package.__name__}."):
            if not module.name.endswith("__main__"):
                import_module(module.name)


def run(request: Request) -> None:
    """As `python -m airtcp` would: it ends this process."""
    from airtcp.cli import main  # noqa: PLC0415

    signal.alarm(TIMEOUT_S)
    for number, path, flags in (
        (0, os.devnull, os.O_RDONLY),
        (1, request["out"], os.O_WRONLY),
        (2, request["err"], os.O_WRONLY),
    ):
        os.dup2(os.open(path, flags), number)
    os.environ.clear()
    os.environ.update(request["environment"])
    os.chdir(request["directory"])
    sys.path[0] = request["directory"]
    sys.argv = ["airtcp", *request["arguments"]]
    main()
    sys.exit()


if __name__ == "__main__":
    serve()
