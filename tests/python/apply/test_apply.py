"""Apply and undo on a host that is a folder: plans, journal, what broke off, what others have changed."""

from __future__ import annotations

import io
import subprocess
import time
from pathlib import Path

import pytest
from rich.console import Console

from airtcp.advise.deployment import Place
from airtcp.apply import ApplyError, Wanted, apply, journal, make_plan, undo
from airtcp.apply.journal import Applied
from airtcp.apply.steps import DefaultControl, File, Service, Step, Sysctl
from airtcp.cli.applying import show_premises
from airtcp.facts.scheme import Scheme

from .conftest import FakeHost

CONTROL = "net.ipv4.tcp_congestion_control"
SENDER: frozenset[Place] = frozenset({"sender"})
GATEWAY: frozenset[Place] = frozenset({"gateway"})
RECEIVER: frozenset[Place] = frozenset({"receiver"})


def quietly(_: str) -> None:
    pass


def applied(fake: FakeHost, wanted: Wanted) -> list[str]:
    """What was told."""
    told: list[str] = []
    with journal(fake.folder / "var") as kept:
        apply(wanted.name, make_plan(wanted, fake.host).steps, fake.host, kept, told.append)
    return told


def undone(fake: FakeHost) -> list[str]:
    """What was left."""
    with journal(fake.folder / "var") as kept:
        return undo(fake.host, kept, quietly)


@pytest.mark.parametrize(
    "wanted",
    [
        Wanted("bbr"),
        Wanted("bbr", persistent=True),
        Wanted("westwood-plus", persistent=True),
        Wanted("concord:look=0+rto-m:m=12", cgroup="/sys/fs/cgroup/data", persistent=True),
        Wanted("spectcp+sack", "red-ecn", persistent=True),
        Wanted("cubic:receive_window=120kB", role=RECEIVER, persistent=True),
        Wanted("cubic:send_buffer=18MB", persistent=True),
        Wanted("cubic+packet-control:threshold=9", role=GATEWAY, wired="eth0", persistent=True),
        Wanted("bbr", "fq-codel", role=GATEWAY, wireless="wlan0", persistent=True),
        Wanted("mtu-probing", persistent=True),
        Wanted("mss-clamp", role=GATEWAY, persistent=True),
        Wanted("bbr+mss-clamp:mtu=1400", persistent=True),
    ],
    ids=lambda wanted: f"{wanted.name}{' persistent' * wanted.persistent}",
)
def test_undo_restores_what_was_there(fake: FakeHost, wanted: Wanted) -> None:
    before = fake.picture()
    applied(fake, wanted)
    assert fake.picture() != before
    assert undone(fake) == []
    assert fake.picture() == before
    assert not (fake.folder / "var").exists()


@pytest.mark.parametrize("broken", range(9))
@pytest.mark.parametrize("when", ["before", "after"])
def test_what_was_killed_in_the_middle_is_undone(fake: FakeHost, broken: int, when: str) -> None:
    """As after kill -9: nothing runs any more, and the journal is what is on disk."""
    before = fake.picture()
    wanted = Wanted("concord+rto-m+sack", cgroup="/sys/fs/cgroup/data", persistent=True)
    steps = make_plan(wanted, fake.host).steps
    assert len(steps) == 9
    with journal(fake.folder / "var") as kept:
        kept.start(Applied("test", "today", fake.host.boot, fake.host.network, "0"))
        for number, step in enumerate(steps[: broken + 1]):
            kept.begin(number, step, step.look(fake.host))
            if number < broken or when == "after":
                step.do(fake.host)
        with kept.path.open("ab") as file:
            file.write(b'{"begin": 99, "ki')
        with pytest.raises(ApplyError, match="was interrupted"):
            apply("bbr", [], fake.host, kept, quietly)
    assert undone(fake) == []
    assert fake.picture() == before


@pytest.mark.parametrize("reached", range(1, 10))
def test_undo_that_was_killed_is_undone_again(fake: FakeHost, reached: int) -> None:
    """Each step was undone, and the journal does not know it of the last one."""
    before = fake.picture()
    applied(fake, Wanted("concord+rto-m+sack", cgroup="/sys/fs/cgroup/data", persistent=True))
    with journal(fake.folder / "var") as kept:
        for entry in reversed(kept.entries()[-reached:]):
            entry.step.undo(fake.host, entry.before)
            if entry.number != 9 - reached:
                kept.undone(entry.number)
    assert undone(fake) == []
    assert fake.picture() == before


def test_a_step_that_fails_takes_the_others_back(fake: FakeHost) -> None:
    before = fake.picture()
    steps: list[Step] = [Sysctl("net.ipv4.tcp_ecn", "1"), Sysctl("net.ipv4.there_is_none", "1")]
    with journal(fake.folder / "var") as kept, pytest.raises(ApplyError, match=r"no net.*state is restored"):
        apply("two", steps, fake.host, kept, quietly)
    assert fake.picture() == before


def test_what_does_not_hold_is_taken_back(fake: FakeHost, monkeypatch: pytest.MonkeyPatch) -> None:
    """The sysctl says so, and new connections use another one: a cgroup's, for example."""
    monkeypatch.setattr("airtcp.apply.steps.sysctl.control_of_a_new_connection", lambda: "reno")
    with pytest.raises(ApplyError, match="a new connection uses reno"):
        applied(fake, Wanted("bbr"))
    assert fake.get(CONTROL) == "cubic"


def test_what_somebody_else_has_changed_since_stays(fake: FakeHost) -> None:
    applied(fake, Wanted("bbr", persistent=True))
    fake.set(CONTROL, "vegas")
    own = fake.root / "etc/sysctl.d/90-airtcp.conf"
    own.write_text("net.ipv4.tcp_congestion_control = vegas\n")
    left = undone(fake)
    assert fake.get(CONTROL) == "vegas"
    assert own.exists()
    assert len(left) == 2
    assert any("it was cubic before" in line for line in left)


def test_undo_after_a_reboot(fake: FakeHost, monkeypatch: pytest.MonkeyPatch) -> None:
    """Settings are what our files make of them; namespaces have other numbers."""
    before = fake.picture()
    applied(fake, Wanted("bbr", persistent=True))
    monkeypatch.setattr("airtcp.apply.host.Host.boot", "another")
    monkeypatch.setattr("airtcp.apply.host.Host.network", "another")
    fake.set("net.ipv4.tcp_allowed_congestion_control", "reno cubic bbr")
    assert undone(fake) == []
    assert fake.picture() == before


def test_undo_is_for_the_namespace_that_was_changed(fake: FakeHost, monkeypatch: pytest.MonkeyPatch) -> None:
    applied(fake, Wanted("bbr"))
    monkeypatch.setattr("airtcp.apply.host.Host.network", "net:[1]")
    with pytest.raises(ApplyError, match="nsenter"):
        undone(fake)
    assert fake.get(CONTROL) == "bbr"


def test_one_thing_is_applied_at_a_time(fake: FakeHost) -> None:
    applied(fake, Wanted("bbr"))
    with pytest.raises(ApplyError, match="run `airtcp undo` first"):
        applied(fake, Wanted("reno"))


def test_files_of_others_are_restored(fake: FakeHost) -> None:
    place = "/etc/default/airtcpd-cc"
    path = fake.host.path(place)
    path.parent.mkdir(parents=True)
    path.write_text("CC_OPTIONS=veno\n")
    path.chmod(0o600)
    before = fake.picture()
    applied(fake, Wanted("concord", persistent=True))
    assert "concord --default" in path.read_text()
    undone(fake)
    assert fake.picture() == before
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_kernel_without_the_queue_is_named_and_all_is_taken_back(fake: FakeHost) -> None:
    state = fake.folder / "state"
    state.write_text(state.read_text().replace('"lacks_qdiscs": false', '"lacks_qdiscs": true'))
    before = fake.picture()
    with pytest.raises(ApplyError, match=r"no module sch_fq_codel.*previous state is restored"):
        applied(fake, Wanted("bbr", "fq-codel", role=SENDER | GATEWAY, wireless="wlan0"))
    assert fake.picture() == before


def test_a_plan_says_what_others_need_and_what_it_does_not_reach(fake: FakeHost) -> None:
    fake.set("net.ipv4.ip_forward", "1")
    plan = make_plan(Wanted("bbr", "fq-codel"), fake.host)
    assert [change.words for change in plan.changes] == [f"sysctl -w {CONTROL}=bbr  (now cubic)"]
    assert any("fq_codel" in other for other in plan.elsewhere)
    assert any("forwards" in limit for limit in plan.limits)
    assert make_plan(Wanted("cubic"), fake.host).changes == []


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        (
            Wanted("cubic+split", role=GATEWAY, wireless="wlan0"),
            "what this gateway sends over the lossy link",
        ),
        (Wanted("cubic+decoupling", circuit="--to 10.3.0.0/24 --key-file K"), "only what this host sends"),
    ],
    ids=lambda each: each.name if isinstance(each, Wanted) else "",
)
def test_a_plan_says_which_direction_it_helps(fake: FakeHost, wanted: Wanted, said: str) -> None:
    assert any(said in limit for limit in make_plan(wanted, fake.host).limits)


@pytest.mark.parametrize(
    ("wanted", "complaint"),
    [
        (Wanted("bbr3"), "cannot be applied: a kernel from"),
        (Wanted("hybla:rtt0=1ms+sr"), "sr cannot be applied"),
        (Wanted("bbr+rto-m"), "--cgroup"),
        (Wanted("nonsense"), "airtcp schemes"),
        (Wanted("bbr through fec-10"), "sets up no tunnel"),
        (Wanted("westwood"), "no implementation available"),
        (Wanted("cubic:fast=1"), "has no such setting"),
        (Wanted("red-ecn"), "is a queue"),
        (Wanted("cubic+split", role=GATEWAY), "--wireless"),
        (Wanted("cubic+packet-control", role=GATEWAY), "--wired"),
        (Wanted("cubic+decoupling", role=GATEWAY), "--circuit"),
        (Wanted("cubic", "red-ecn", role=GATEWAY), "thresholds"),
        (Wanted("cubic:ack_every=1", role=RECEIVER), "manually"),
    ],
    ids=lambda each: each.name if isinstance(each, Wanted) else "",
)
def test_what_cannot_be_applied_is_refused(fake: FakeHost, wanted: Wanted, complaint: str) -> None:
    before = fake.picture()
    with pytest.raises(ApplyError, match=complaint):
        make_plan(wanted, fake.host)
    assert fake.picture() == before


def test_what_was_not_measured_is_said_before_it_is_applied() -> None:
    def reading(name: str, use: str, *tied: str) -> dict[str, object]:
        return {"reading": name, "use": use, "tied": tied, "keep_now": use == "cubic", "decides": "Measure."}

    def said(*readings: dict[str, object], rate: str | None = None) -> str:
        console = Console(record=True, width=200, file=io.StringIO())
        show_premises(console, {"readings": readings, "rate_assumed": rate})
        return console.export_text()

    in_bursts = reading("losses come in bursts", "cubic", "bbr")
    apart = said(in_bursts, reading("each packet is lost independently", "bbr"))
    assert "Note: this is the answer if losses come in bursts, which was not measured." in apart
    assert "If each packet is lost independently: use bbr. Measure." in apart
    assert said(in_bursts, reading("each packet is lost independently", "bbr", "cubic")) == ""
    assert "10Mbit/s stands in" in said(rate="10Mbit/s stands in")
    assert said() == ""


def test_a_daemon_that_does_something_else_is_not_the_one_that_is_wanted(fake: FakeHost) -> None:
    file = fake.host.path("/run/airtcp/applied-circuit.pid")
    file.parent.mkdir(parents=True)
    with subprocess.Popen(["/bin/bash", "-c", "exec -a airtcpd /bin/sleep 60"]) as daemon:
        try:
            while not Path(f"/proc/{daemon.pid}/cmdline").read_text().startswith("airtcpd"):
                time.sleep(0.01)
            file.write_text(str(daemon.pid))
            assert Service("circuit", ("60",)).holds(fake.host)
            other = Service("circuit", ("send",))
            assert not other.holds(fake.host)
            with pytest.raises(ApplyError, match="has started an `airtcpd circuit` already"):
                other.look(fake.host)
        finally:
            daemon.kill()


def test_a_queue_that_somebody_has_set_up_is_not_replaced(fake: FakeHost) -> None:
    state = fake.folder / "state"
    state.write_text(state.read_text().replace('"noqueue", "handle": "0:"', '"htb", "handle": "1:"'))
    with pytest.raises(ApplyError, match="which undo could not restore"):
        make_plan(Wanted("cubic", "fq-codel", role=GATEWAY, wireless="wlan0"), fake.host)


def test_a_default_that_could_not_come_back_is_kept(fake: FakeHost, monkeypatch: pytest.MonkeyPatch) -> None:
    """Outside the first network namespace only what is allowed there can be set, whatever it is now."""

    def refuse(_: object, key: str, value: str) -> None:
        raise ApplyError(f"sysctl -w {key}={value}: Operation not permitted")

    monkeypatch.setattr("airtcp.apply.host.Host.set_sysctl", refuse)
    with pytest.raises(ApplyError, match="undo could not restore cubic"):
        DefaultControl("bbr").look(fake.host)


def test_a_draft_of_a_killed_write_goes(fake: FakeHost) -> None:
    step = File("/etc/sysctl.d/90-airtcp.conf", "a\n")
    before = step.look(fake.host)
    draft = fake.host.path("/etc/sysctl.d/.90-airtcp.conf.airtcp")
    draft.parent.mkdir(parents=True)
    draft.write_text("hal")
    step.undo(fake.host, before)
    assert not draft.parent.exists()


def test_names_as_advice_prints_them() -> None:
    for name, terms, queue in [("bbr @ fq-codel", "bbr", "fq-codel"), ("cubic+split", "cubic+split", None)]:
        assert (Scheme(name).without_queue, Scheme(name).queue) == (terms, queue)


def test_a_damaged_journal_is_named(tmp_path: Path) -> None:
    (tmp_path / "applied.jsonl").write_text("{\n{}\n")
    with journal(tmp_path) as kept, pytest.raises(ApplyError, match=r"applied\.jsonl is damaged"):
        kept.entries()
