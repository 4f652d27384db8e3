"""An `airtcpd` that takes no time and needs no root, and what it was asked."""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path
from threading import Thread
from time import sleep

import pytest

import airtcp
from airtcp import _engine

FAKE = Path(__file__).with_name("fake_airtcpd.py")
LINK = {"name": "radio", "rate": "10Mbit/s", "delay": "5ms", "loss": {"packet": "1%"}}


class Fake:
    """The program that stands in for `airtcpd`, and how it behaves."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.path = folder / "airtcpd"
        self._log = folder / "log"
        self._monkeypatch = monkeypatch
        self.path.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{FAKE}" "$@"\n')
        self.path.chmod(0o755)
        monkeypatch.setenv("AIRTCP_ENGINE", _engine.__file__)
        monkeypatch.setenv("AIRTCPD", str(self.path))
        monkeypatch.setenv("FAKE_AIRTCPD_LOG", str(self._log))
        monkeypatch.setattr(os, "geteuid", lambda: 0)

    def behaves(self, **options: object) -> None:
        self._monkeypatch.setenv("FAKE_AIRTCPD", json.dumps(options))

    def interrupted_at(self, line: str) -> None:
        """Once its log has that line, this process gets SIGINT."""

        def wait() -> None:
            for _ in range(1000):
                if line in self.log:
                    os.kill(os.getpid(), signal.SIGINT)
                    return
                sleep(0.05)

        Thread(target=wait, daemon=True).start()

    @property
    def log(self) -> list[str]:
        return self._log.read_text().splitlines() if self._log.exists() else []


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Fake:
    folder = tmp_path / "fake"
    folder.mkdir()
    return Fake(folder, monkeypatch)


@pytest.fixture
def scenario() -> airtcp.Scenario:
    return airtcp.Scenario.build(name="short", duration="1s", seeds=2, schemes=["reno", "cubic"], link=[LINK])
