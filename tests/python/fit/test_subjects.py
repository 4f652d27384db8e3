"""Several paths in one file: one is chosen by name, or the file is refused with the names."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import Cli
from hypothesis import given
from hypothesis import strategies as st

from airtcp.cli.errors import InputError
from airtcp.cli.options import load
from airtcp.fit import fit
from airtcp.fit.measurement import Measurement, Subjects
from airtcp.fit.readers import FileError
from airtcp.fit.subjects import chosen

NAMES = st.lists(st.text(min_size=1, max_size=30), min_size=2, max_size=40, unique=True)


def subjects(names: list[str], usual: str | None = None) -> Subjects:
    return Subjects("hosts", {name: Measurement(Path("x.txt"), name) for name in names}, usual)


@given(names=NAMES)
def test_nobody_chooses_a_path_silently(names: list[str]) -> None:
    with pytest.raises(FileError, match="--only") as refused:
        chosen(subjects(names))
    assert f"{len(names)} hosts" in str(refused.value)
    found = chosen(subjects(names, usual=names[1]))
    assert found.format == names[1]
    assert "left out" in found.notes[0]


@given(names=NAMES, place=st.integers(0, 1))
def test_a_whole_name_chooses_its_path(names: list[str], place: int) -> None:
    assert chosen(subjects(names), names[place]).format == names[place]


def test_a_part_of_a_name_chooses_if_only_one_has_it() -> None:
    of = subjects(["Verizon_mbps", "T-Mobile_mbps"])
    assert chosen(of, "verizon").format == "Verizon_mbps"
    for only, why in (("mbps", "several hosts"), ("att", "none of its hosts"), (" ", "none of its hosts")):
        with pytest.raises(FileError, match=why):
            chosen(of, only)


def pings(host: str, rtt_ms: float, count: int) -> str:
    answers = "".join(
        f"64 bytes from {host}: icmp_seq={n} ttl=56 time={rtt_ms + n % 7 / 10} ms\n" for n in range(1, count)
    )
    return f"PING {host} ({host}) 56(84) bytes of data.\n{answers}\n"


def test_the_command_takes_a_name(cli: Cli) -> None:
    (cli.directory / "two.log").write_text(pings("192.0.2.1", 20, 60) + pings("192.0.2.2", 50, 40))
    said = " ".join(cli.ok("fit", "two.log", "--out", "one.toml").split())
    assert "Of 2 hosts, 192.0.2.1 is used; left out: 192.0.2.2" in said
    said = cli.ok("fit", "two.log", "--only", "2.2", "--out", "two.toml")
    assert "round trip without a queue 50" in " ".join(said.split())
    assert "192.0.2.1, 192.0.2.2" in cli.refused("fit", "two.log", "--only", "198.51.100.1")


def test_a_name_for_a_file_of_one_path_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "one.log"
    path.write_text(pings("192.0.2.1", 20, 60))
    with pytest.raises(FileError, match="leave it out"):
        fit(path, only="192.0.2.1")


def test_every_question_about_a_measurement_takes_one_of_its_paths(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "fping.txt"
    path.write_text("".join(f"192.0.2.{host} : {' '.join(['20.5'] * 30)}\n" for host in (1, 2)))
    asked = load([path], None, only="192.0.2.2")
    assert asked.arguments == [str(path), "--only", "192.0.2.2"]
    assert "192.0.2.2 is used; left out: 192.0.2.1" in capsys.readouterr().err
    with pytest.raises(InputError, match="2 hosts"):
        load([path], None)
    with pytest.raises(InputError, match="a scenario has one"):
        load(None, None, only="192.0.2.2")
