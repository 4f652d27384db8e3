"""Temporary folders, and those of the dead."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from airtcp.running.scratch import scratch_folder

MAKER = """
from airtcp.running.scratch import scratch_folder

with scratch_folder() as folder:
    (folder / "file").write_text("content")
    print(folder, flush=True)
    input()
"""


def _maker(folder: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", MAKER],
        env={**os.environ, "TMPDIR": str(folder)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def _made_by(maker: subprocess.Popen[str]) -> Path:
    assert maker.stdout
    return Path(maker.stdout.readline().rstrip())


def test_a_folder_goes_with_what_is_in_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with scratch_folder() as folder:
        (folder / "inside").mkdir()
        assert folder.parent == tmp_path
    assert not list(tmp_path.iterdir())


def test_a_dead_ones_folder_goes_and_others_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    (tmp_path / "airtcp-out").mkdir()
    (tmp_path / "airtcp.running.scratch-link").symlink_to(tmp_path / "airtcp-out")
    with _maker(tmp_path) as dead, _maker(tmp_path) as alive:
        left, used = _made_by(dead), _made_by(alive)
        dead.kill()
        dead.wait()
        assert (left / "file").exists()
        with scratch_folder() as own:
            there = {path.name for path in tmp_path.iterdir()}
            assert there == {own.name, used.name, "airtcp-out", "airtcp.running.scratch-link"}
        assert (used / "file").exists()
        alive.communicate("\n")
    assert not used.exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a folder somebody else's")
def test_another_users_folder_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    theirs = tmp_path / "airtcp.running.scratch-theirs"
    theirs.mkdir()
    os.chown(theirs, 65534, 65534)
    with scratch_folder():
        assert theirs.exists()
