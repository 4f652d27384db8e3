"""A command whose output nobody takes, or that is stopped at once, ends without a traceback."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import COMMAND, Cli

from airtcp.cli.app import _quieten_libraries
from airtcp.cli.errors import InputError
from airtcp.cli.streams import outlet

IMPORTS = """
import sys
before = {*sys.modules, *sys.builtin_module_names}
import airtcp.cli
print(set(sys.modules) - before)
"""
STOPPED_BY_AN_IMPORT = """
import builtins, sys
from airtcp.cli import main

def stopped(*_, **__):
    raise KeyboardInterrupt

builtins.__import__ = stopped
main()
"""


def test_what_the_reader_leaves_is_dropped() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with outlet(writer, "utf-8", name="standard output", by_line=True) as stream:
        stream.write("one\n" * 100_000)
    os.close(writer)


def test_a_full_disk_is_said_once() -> None:
    with Path("/dev/full").open("wb", buffering=0) as full:
        stream = outlet(full.fileno(), "utf-8", name="standard output", by_line=False)
        stream.write("lost")
        with pytest.raises(InputError, match="cannot write standard output: No space left"):
            stream.flush()
        stream.write("more")
        stream.close()
        silent = outlet(full.fileno(), "utf-8", name=None, by_line=True)
        silent.write("nobody hears of it\n")
        silent.close()


def test_letters_that_a_terminal_lacks_become_question_marks(tmp_path: Path) -> None:
    with (tmp_path / "t").open("wb") as file:
        outlet(file.fileno(), "ascii", name="standard output", by_line=False).write("±")
    assert (tmp_path / "t").read_bytes() == b"?"


def _ended(cli: Cli, *arguments: str, closed: int | None = None, out: str = os.devnull) -> tuple[int, str]:
    close: Callable[[], None] | None = None if closed is None else lambda: os.close(closed)
    with Path(out).open("wb") as to:
        done = subprocess.run(
            [*COMMAND, *arguments],
            cwd=cli.directory,
            stdout=to,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=close,
            timeout=60,
            check=False,
        )
    return done.returncode, done.stderr


def test_no_standard_output_is_no_traceback(cli: Cli) -> None:
    assert _ended(cli, "schemes", closed=1) == (0, "")
    assert _ended(cli, "--help", out="/dev/full") == (
        2,
        "airtcp: cannot write standard output: No space left on device\n",
    )


def test_head_does_not_end_a_command_that_writes_files(cli: Cli) -> None:
    command = [*COMMAND, "compare", "--duration", "1s", "--seeds", "1", "--schemes", "reno"]
    with subprocess.Popen(command, cwd=cli.directory, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as done:
        assert done.stdout
        assert done.stderr
        done.stdout.close()
        said = done.stderr.read()
    assert (done.returncode, said) == (0, b"")
    assert (cli.directory / "airtcp-out" / "lossy-wireless-link" / "results.json").exists()


def test_ctrl_c_while_it_loads_is_no_traceback() -> None:
    """Until `main` runs no file is loaded; then whatever it is about to load may be stopped."""
    told = subprocess.run([sys.executable, "-c", IMPORTS], capture_output=True, text=True, check=True).stdout
    assert set(eval(told)) == {"airtcp", "airtcp.cli", "__future__"}
    done = subprocess.run(
        [sys.executable, "-c", STOPPED_BY_AN_IMPORT], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (130, "airtcp: interrupted\n")


def test_an_empty_argument_is_an_unset_variable(cli: Cli) -> None:
    assert "argument 2, after fit, is empty" in cli.refused("fit", "")


def test_what_matplotlib_says_of_its_caches_and_layouts_is_left_out(
    caplog: pytest.LogCaptureFixture, recwarn: pytest.WarningsRecorder
) -> None:
    logger = logging.getLogger("matplotlib")
    before = logger.level
    try:
        with warnings.catch_warnings():
            _quieten_libraries()
            logger.warning("a temporary cache directory")
            warnings.warn_explicit(
                "no room for the legend", UserWarning, "x.py", 1, "airtcp.showing.figures.bars"
            )
            warnings.warn_explicit("of a user's own", UserWarning, "x.py", 1, "mine")
    finally:
        logger.setLevel(before)
    assert not caplog.records
    assert [str(each.message) for each in recwarn] == ["of a user's own"]
