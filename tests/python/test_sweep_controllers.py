"""Congestion controls in Python in a sweep, on this machine and where their file is not."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from conftest import Cli

SWEEP = [
    *("sweep", "--vary", "wireless.delay=10ms,40ms", "--schemes", "reno,mine", "--seeds", "2"),
    *("--duration", "2s", "--controller", "own/mine.py"),
]
CODE = """
import airtcp

HALF = 0.5

class Mine(airtcp.CongestionControl):
    def on_ack(self, ack):
        self.cwnd += self.mss * ack.acked_bytes / self.cwnd

    def on_loss(self, loss):
        self.ssthresh = max(HALF * loss.flight_size_bytes, 2 * self.mss)
        self.cwnd = self.ssthresh
"""


@pytest.fixture
def own(cli: Cli) -> Path:
    (cli.directory / "own").mkdir()
    (cli.directory / "own" / "mine.py").write_text(CODE)
    return cli.directory / "own" / "mine.py"


def test_processes_get_the_code_of_a_controller(cli: Cli, own: Path) -> None:
    assert own.exists()
    cli.ok(*SWEEP, "--out", "threads")
    cli.ok(*SWEEP, "--out", "processes", "--executor", "processes")
    one, other = (cli.directory / name / "results.parquet" for name in ("threads", "processes"))
    assert one.read_bytes() == other.read_bytes()
    assert pl.read_parquet(one)["error"].null_count() == 8


def test_changed_code_is_another_sweep(cli: Cli, own: Path) -> None:
    cli.ok(*SWEEP, "--out", "d")
    own.write_text(CODE.replace("HALF = 0.5", "HALF = 0.8"))
    done = cli(*SWEEP, "--out", "d")
    assert done.returncode == 2
    assert "controllers changed" in done.stderr


def test_an_error_of_a_controller_is_in_its_row_and_said(cli: Cli, own: Path) -> None:
    own.write_text(CODE.replace("HALF *", "NO_SUCH *"))
    text = cli.ok(*SWEEP, "--set", "wireless.loss.packet=2%", "--out", "d")
    assert "4 of 8 runs failed" in text
    assert "NO_SUCH" in text
    frame = pl.read_parquet(cli.directory / "d" / "results.parquet")
    failed = frame.filter(pl.col("error").is_not_null())
    assert failed["scheme"].unique().to_list() == ["mine"]
    assert failed["goodput_bps"].null_count() == 4
