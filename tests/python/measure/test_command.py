"""`airtcp measure` as a user starts it, without a path to measure."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from pathlib import Path

import pytest
from conftest import COMMAND, Cli


def test_mistakes_are_named(cli: Cli) -> None:
    assert "name a host" in cli.refused("measure")
    assert "leave out" in cli.refused("measure", "host.example", "--serve")
    assert "no-such-host.invalid" in cli.refused("measure", "no-such-host.invalid")
    assert "--for 0s" in cli.refused("measure", "127.0.0.1", "--for", "0s")
    assert "--for soon" in cli.refused("measure", "127.0.0.1", "--for", "soon")
    assert "at least 12 characters" in cli("measure", "127.0.0.1", AIRTCP_TOKEN="short").stderr
    assert "cannot read" in cli.refused("measure", "127.0.0.1", "--token-file", "nowhere")
    assert "--limit" in cli.refused("measure", "--serve", "--limit", "nothing")
    (cli.directory / "there").mkdir()
    (cli.directory / "there" / "log").write_text("x")
    assert "name another one" in cli.refused("measure", "127.0.0.1", "--out", "there")


def test_measures_the_loopback_with_a_server_and_keeps_what_there_is(cli: Cli, tmp_path: Path) -> None:
    serve = [*COMMAND, "measure", "--serve", "--port", "7127"]
    with subprocess.Popen(serve, stdout=subprocess.PIPE, text=True, cwd=tmp_path) as server:
        try:
            assert server.stdout is not None
            token = re.fullmatch(r"Token: (\S+)\n", server.stdout.readline())
            assert token is not None
            assert "7127" in server.stdout.readline()
            asked = ["measure", "127.0.0.1", "--for", "1s", "--port", "7127", "--no-advise", "--out", "logs"]
            # Where lines end depends on what else is connected on this host.
            said = " ".join(cli.ok(*asked, AIRTCP_TOKEN=token[1]).split())
            assert "20 a second" in said
            assert "dense probes" in said
            assert "load=own" in (tmp_path / "logs" / "dense.csv").read_text()
            assert "delay in the forward direction" in said
            assert (tmp_path / "logs" / "path.toml").read_text()
            assert (tmp_path / "logs" / "probes.csv").read_text().startswith("# airtcp probes 1\n")
            asked[3], asked[-1] = "60s", "stopped"
            environment = {**os.environ, "AIRTCP_TOKEN": token[1]}
            with subprocess.Popen(
                [*COMMAND, *asked], cwd=tmp_path, env=environment, stdout=subprocess.PIPE, text=True
            ) as client:
                assert client.stdout is not None
                while "idle" not in client.stdout.readline():
                    pass
                with pytest.raises(subprocess.TimeoutExpired):
                    client.wait(2)
                client.send_signal(signal.SIGINT)
                said = client.stdout.read()
            assert client.returncode == 130, said
            assert "stopped" in said
            assert len((tmp_path / "stopped" / "probes.csv").read_text().splitlines()) > 20
        finally:
            server.send_signal(signal.SIGINT)
    assert server.returncode == 0
