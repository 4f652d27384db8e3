"""What a boot finds on the disk is what was applied, whatever was loaded when it was made persistent."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import pytest

from airtcp.advise.deployment import Place
from airtcp.apply import ApplyError, Wanted, make_plan
from airtcp.apply.boot import device_unit, settings
from airtcp.apply.persistence import MODULES, SYSCTLS
from airtcp.apply.steps import (
    DefaultControl,
    File,
    Filter,
    LoadedControl,
    Module,
    Qdisc,
    Service,
    Step,
    Sysctl,
    Timer,
    Unit,
)

from .conftest import FakeHost

ALL: frozenset[Place] = frozenset({"sender", "receiver", "gateway"})
SENDER: frozenset[Place] = frozenset({"sender"})
CONTROL = DefaultControl.KEY
CGROUP = "/sys/fs/cgroup/data.slice"
WANTED = [
    Wanted("concord", role=SENDER),
    Wanted("concord:look=0", role=SENDER),
    Wanted("bbr", role=SENDER),
    Wanted("cubic", role=SENDER),
    Wanted("reno+sack", role=SENDER),
    Wanted("westwood-plus", role=SENDER),
    Wanted("spectcp+sack", role=SENDER),
    Wanted("concord+rto-m:m=12", role=SENDER, cgroup=CGROUP),
    Wanted("cubic:receive_window=120kB", role=ALL),
    Wanted("cubic+packet-control:threshold=9", role=ALL, wired="eth0"),
    Wanted("bbr", "fq-codel", role=ALL, wireless="br-lan"),
    Wanted("cubic+split:congestion_control=bbr", role=ALL, wireless="wlan0"),
    Wanted("cubic+split:congestion_control=concord", role=ALL, wireless="wlan0"),
    Wanted("cubic+decoupling", role=SENDER, circuit="--to 10.3.0.0/24 --key-file /etc/airtcp/key"),
    Wanted(
        "cubic+decoupling", role=SENDER, circuit="receive --listen 192.0.2.2:4007 --key-file /etc/airtcp/key"
    ),
]
Effect = tuple[str, ...]


def persistent(wanted: Wanted) -> Wanted:
    return Wanted(**{**vars(wanted), "persistent": True})


def effects(step: Step) -> Iterator[Effect]:
    """What a step makes true."""
    match step:
        case LoadedControl():
            yield ("cc", step.scheme)
        case DefaultControl():
            yield ("sysctl", CONTROL, step.name)
        case Sysctl():
            yield ("sysctl", step.key, step.value)
        case Module():
            yield ("module", step.name)
        case Timer() | Filter() | Qdisc():
            yield tuple(step.words.split())
        case Service():
            yield ("airtcpd", *step.arguments)


def booted(fake: FakeHost) -> Iterator[Effect]:
    """What a boot makes true, in its order: modules, sysctls, enabled units."""
    modules = fake.host.path(MODULES)
    found = modules.read_text().splitlines() if modules.exists() else []
    loaded = [line for line in found if not line.startswith("#")]
    yield from (("module", name) for name in loaded)
    there = {"reno", "cubic", *(name.removeprefix("tcp_") for name in loaded)}
    for setting in settings(fake.host):
        # The kernel refuses a control that nobody has loaded.
        if setting.key != CONTROL or setting.value in there:
            yield ("sysctl", setting.key, setting.value)
    for name in json.loads((fake.folder / "state").read_text())["units"]:
        yield from _started(*_command(fake, name))


def _command(fake: FakeHost, name: str) -> list[str]:
    """The words that an enabled unit starts."""
    stem, _, instance = name.removesuffix(".service").partition("@")
    own = fake.host.path(f"/etc/systemd/system/{name}")
    unit = (
        own if own.exists() else fake.host.path(f"/lib/systemd/system/{stem}{'@' * bool(instance)}.service")
    )
    text = unit.read_text().replace("%i", instance)
    assert "DefaultDependencies=no" not in text, "sysctls are set before it starts"
    values: dict[str, str] = {}
    program: list[str] = []
    for key, _, value in (line.partition("=") for line in text.splitlines()):
        if key == "Environment":
            name_of, _, told = value.strip('"').partition("=")
            values[name_of] = told
        elif key == "EnvironmentFile":
            values |= _variables(fake.host.path(value.removeprefix("-")).read_text())
        elif key == "ExecStart":
            program = value.split()
    path, *words = program
    assert Path(path).is_absolute()
    assert fake.host.path(path).exists() or Path(path).exists(), f"{unit}: no {path}"
    return [
        Path(path).name,
        *(part for word in words for part in values.get(word.removeprefix("$"), word).split()),
    ]


def _variables(text: str) -> dict[str, str]:
    lines = [line.partition("=") for line in text.splitlines() if not line.startswith("#")]
    return {name: " ".join(shlex.split(told)) for name, _, told in lines}


def _started(*words: str) -> Iterator[Effect]:
    match words:
        case ("airtcpd", "cc", "load", *schemes, "--default"):
            for scheme in schemes:
                yield ("cc", scheme)
                yield ("sysctl", CONTROL, scheme.split(":")[0].replace("-", "_"))
        case ("airtcpd", "cc", "load", *schemes):
            yield from (("cc", scheme) for scheme in schemes)
        case _:
            yield tuple(word for word in words if word not in ("--log", "json"))


def kept(fake: FakeHost, wanted: Wanted) -> None:
    """Makes the changes to the disk alone."""
    for change in make_plan(persistent(wanted), fake.host).changes:
        if isinstance(change.step, File | Unit):
            change.step.do(fake.host)


@pytest.mark.parametrize("already", [False, True], ids=["fresh", "loaded already"])
@pytest.mark.parametrize("wanted", WANTED, ids=lambda wanted: wanted.name)
def test_a_boot_finds_what_was_applied(fake: FakeHost, wanted: Wanted, already: bool) -> None:
    steps = make_plan(wanted, fake.host).steps
    expected = {effect for step in steps for effect in effects(step)}
    if already:
        for step in steps:
            # Of these a second one is refused.
            if not isinstance(step, Timer | Filter | Service) and ":" not in getattr(step, "scheme", ""):
                step.do(fake.host)
    kept(fake, wanted)
    found = set(booted(fake))
    # What the kernel had before, and its own default, a boot finds only if it is written down.
    before = {("module", "tcp_bbr"), ("sysctl", CONTROL, "cubic")}
    assert expected <= found
    assert found - expected <= before, "nothing else"


def test_what_holds_now_by_hand_is_kept_by_a_file(fake: FakeHost) -> None:
    """`modprobe tcp_bbr; sysctl -w …=bbr` is gone after a reboot."""
    fake.host.run("modprobe", "tcp_bbr")
    fake.set(CONTROL, "bbr")
    plan = make_plan(persistent(Wanted("bbr")), fake.host)
    assert {step.place for step in plan.steps if isinstance(step, File)} == {MODULES, SYSCTLS}
    assert len(plan.steps) == 2


def test_what_a_boot_finds_already_is_not_done_again(fake: FakeHost) -> None:
    wanted = Wanted("concord")
    for change in make_plan(persistent(wanted), fake.host).changes:
        change.step.do(fake.host)
    assert make_plan(persistent(wanted), fake.host).changes == []


@pytest.mark.parametrize(
    ("file", "line", "is_refused"),
    [
        ("etc/sysctl.d/99-sysctl.conf", "net.ipv4.tcp_congestion_control=vegas", True),
        ("usr/lib/sysctl.d/99-x.conf", "-net/ipv4/tcp_congestion_control = vegas", True),
        ("etc/sysctl.d/99-sysctl.conf", "# net.ipv4.tcp_congestion_control=vegas", False),
        ("etc/sysctl.d/99-sysctl.conf", "net.ipv4.tcp_congestion_control = bbr", False),
        ("etc/sysctl.d/50-x.conf", "net.ipv4.tcp_congestion_control = vegas", False),
    ],
)
def test_a_file_that_a_boot_reads_later_is_named(
    fake: FakeHost, file: str, line: str, is_refused: bool
) -> None:
    path = fake.root / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{line}\n")
    if not is_refused:
        kept(fake, Wanted("bbr"))
        return
    with pytest.raises(ApplyError, match=rf"/{file} sets {CONTROL} = vegas after .*remove the line"):
        kept(fake, Wanted("bbr"))
    # airtcpd's unit sets the default after all files.
    kept(fake, Wanted("concord"))


def test_a_unit_that_would_not_start_is_refused(fake: FakeHost) -> None:
    wanted = Wanted("concord")
    (fake.root / "usr/bin/airtcpd").unlink()
    with pytest.raises(ApplyError, match=r"starts /usr/bin/airtcpd, which is not there"):
        kept(fake, wanted)
    masked = fake.root / "etc/systemd/system/airtcpd-cc.service"
    masked.parent.mkdir(parents=True)
    masked.symlink_to("/dev/null")
    with pytest.raises(ApplyError, match="masked"):
        kept(fake, wanted)
    masked.unlink()
    (fake.root / "lib/systemd/system/airtcpd-cc.service").unlink()
    with pytest.raises(ApplyError, match="not installed"):
        kept(fake, wanted)


def test_a_unit_that_is_enabled_with_options_of_others_is_left_alone(fake: FakeHost) -> None:
    options = fake.host.path("/etc/default/airtcpd-cc")
    options.parent.mkdir(parents=True)
    options.write_text("CC_OPTIONS=veno\n")
    fake.host.run("systemctl", "enable", "airtcpd-cc.service")
    with pytest.raises(ApplyError, match="already enabled, with its own options"):
        kept(fake, Wanted("concord"))
    assert options.read_text() == "CC_OPTIONS=veno\n"


def test_what_one_unit_cannot_load_is_refused(fake: FakeHost) -> None:
    both = Wanted("concord+split:congestion_control=westwood-vt", role=ALL, wireless="wlan0")
    with pytest.raises(ApplyError, match="concord and westwood-vt"):
        kept(fake, both)


def test_two_modules_are_in_one_file(fake: FakeHost) -> None:
    kept(fake, Wanted("westwood-plus+split:congestion_control=bbr", role=ALL, wireless="wlan0"))
    assert {("module", "tcp_westwood"), ("module", "tcp_bbr")} <= set(booted(fake))


def test_a_cgroup_that_a_boot_does_not_make_is_mentioned(fake: FakeHost) -> None:
    wanted = Wanted("cubic+rto-m", role=SENDER, cgroup=CGROUP)
    assert not any("boot" in limit for limit in make_plan(wanted, fake.host).limits)
    assert any(f"until {CGROUP} exists" in limit for limit in make_plan(persistent(wanted), fake.host).limits)


def test_no_two_steps_write_one_file(fake: FakeHost) -> None:
    for wanted in WANTED:
        places = [
            step.place for step in make_plan(persistent(wanted), fake.host).steps if isinstance(step, File)
        ]
        assert not any(one == other for one, other in combinations(places, 2)), wanted


@pytest.mark.parametrize(
    ("interface", "unit"),
    [
        ("eth0", "sys-subsystem-net-devices-eth0.device"),
        ("br-lan", r"sys-subsystem-net-devices-br\x2dlan.device"),
        ("eth0.100", "sys-subsystem-net-devices-eth0.100.device"),
        ("wlan@1", r"sys-subsystem-net-devices-wlan\x401.device"),
    ],
)
def test_units_of_interfaces_are_escaped_as_systemd_does(interface: str, unit: str) -> None:
    """As `systemd-escape --path --suffix=device /sys/subsystem/net/devices/INTERFACE` prints it."""
    assert device_unit(interface) == unit
