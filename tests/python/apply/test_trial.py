"""`airtcp try`: what blocks say, in what order they run, and what is left of this host afterwards."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

import pytest

from airtcp.apply import ApplyError, Host, journal
from airtcp.trial import Command, Trial, prepare, trial_of, try_all

from .conftest import FakeHost

ORDER = [["bbr", "cubic"]] * 4


@dataclass
class Played:
    """Transfers whose results are known."""

    reached: Callable[[str, int], float]
    sets_default: bool = False
    objective: Literal["goodput", "time"] = "goodput"
    asked: list[str] = field(default_factory=list)
    defaults: list[str | None] = field(default_factory=list)

    def measure(self, control: str, host: Host) -> float:
        self.asked.append(control)
        self.defaults.append(host.sysctl("net.ipv4.tcp_congestion_control"))
        return self.reached(control, len(self.asked))


def tried(fake: FakeHost, transfer: Played | Command, schemes: str = "cubic,bbr,concord") -> Trial:
    plan = prepare(schemes.split(","), fake.host)
    return try_all(plan, transfer, fake.host, 8, 1, {}, lambda *_: None)


@pytest.fixture(autouse=True)
def state(fake: FakeHost, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AIRTCP_STATE", str(fake.folder / "var"))


def test_it_stops_when_it_is_decided(fake: FakeHost) -> None:
    before = fake.picture()
    rates = {"cubic": 2e6, "bbr": 18e6, "concord": 17.9e6}
    transfer = Played(lambda control, number: rates[control] * (1 + number % 3 / 1000))
    found = tried(fake, transfer)
    assert found.decided
    assert len(found.order) == 3
    assert {row.scheme: row.standing for row in found.rows} == {
        "bbr": "best",
        "concord": "as good",
        "cubic": "behind",
    }
    assert transfer.asked == [scheme for block in found.order for scheme in block]
    assert {tuple(sorted(block)) for block in found.order} == {("bbr", "concord", "cubic")}
    assert len(set(found.order)) > 1
    assert fake.picture() == before


def test_what_changes_from_block_to_block_is_common_to_all() -> None:
    """A path that halves its rate hides nothing: differences are within blocks."""
    values = {"bbr": [20.0, 10.0, 20.0, 10.0], "cubic": [18.0, 8.0, 18.0, 8.0]}
    found = trial_of("goodput", ORDER, values, {}, 1)
    assert found.decided
    assert found.rows[1].standing == "behind"
    assert found.rows[0].reached.half_width
    assert found.rows[0].reached.half_width > 10


def test_what_differs_by_chance_is_not_decided() -> None:
    values = {"bbr": [20.0, 10.0, 19.0, 12.0], "cubic": [15.0, 14.0, 13.0, 17.0]}
    found = trial_of("goodput", ORDER, values, {}, 1)
    assert not found.decided
    assert found.rows[1].standing == "not known"


def test_a_block_that_was_broken_off_does_not_count() -> None:
    values = {"bbr": [1.0, 1.0, 5.0], "cubic": [3.0, 3.0]}
    found = trial_of("time", ORDER, values, {}, 1, broken_off="interrupted")
    assert found.rows[0].scheme == "bbr"
    assert found.rows[0].values == (1.0, 1.0)
    assert not found.decided


def test_with_a_download_this_hosts_default_is_the_control(fake: FakeHost) -> None:
    before = fake.picture()
    transfer = Played(lambda control, _: {"cubic": 9.0, "bbr": 3.0}[control], True, "time")
    found = tried(fake, transfer, "cubic,bbr")
    assert found.rows[0].scheme == "bbr"
    assert transfer.defaults == transfer.asked
    assert fake.picture() == before


def test_ctrl_c_keeps_whole_blocks_and_undoes(fake: FakeHost) -> None:
    before = fake.picture()

    def reached(_: str, number: int) -> float:
        if number == 5:
            raise KeyboardInterrupt
        return 1e6 + number

    found = tried(fake, Played(reached, True), "cubic,bbr,concord")
    assert found.broken_off == "interrupted"
    assert len(found.order) == 1
    assert fake.picture() == before


def test_a_kill_in_the_middle_is_undone_by_undo(fake: FakeHost) -> None:
    """While a transfer runs, the journal has what there was."""
    noted: list[int] = []

    def reached(_: str, __: int) -> float:
        lines = (fake.folder / "var/applied.jsonl").read_text().splitlines()
        noted.append(sum('"begin"' in line for line in lines) - sum('"undone"' in line for line in lines))
        return 1.0

    tried(fake, Played(reached, True), "cubic,concord")
    assert set(noted) == {1, 2}
    with journal() as kept:
        assert kept.applied is None


def test_a_command_is_judged_by_its_time(fake: FakeHost) -> None:
    with pytest.raises(ApplyError, match="no such server"):
        tried(fake, Command("echo no such server >&2; exit 7"), "cubic,bbr")
    assert Command("exit 0").measure("bbr", fake.host) < 10


@pytest.mark.parametrize("scheme", ["cubic+split", "packet-control", "bbr3", "cubic:ecn=true+rto-m"])
def test_only_congestion_controls_are_tried(fake: FakeHost, scheme: str) -> None:
    with pytest.raises(ApplyError):
        prepare(["cubic", scheme], fake.host)
