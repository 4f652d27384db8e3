"""Takes a scheme apart into what each place on the path needs, on whatever platform it is done."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Generic, Protocol, TypeVar

from airtcp.advise.deployment import (
    CONGESTION_CONTROLS,
    FACTS,
    QUEUES,
    SETTINGS,
    STAGES,
    TUNNELS,
    Facts,
    Place,
)
from airtcp.apply.cures import CURES
from airtcp.apply.errors import ApplyError
from airtcp.apply.wanted import Wanted
from airtcp.facts.scheme import Scheme

TIMER_FACTOR = "10"
"""Paper 003 §V, and the default of `rto-m`."""
SETTING_PLACES: dict[str, Place] = {"ecn": "sender", "send_buffer": "sender"}
"""The other settings are the receiver's."""

Done = TypeVar("Done")
Done_co = TypeVar("Done_co", covariant=True)
Keys = Mapping[str, str]


class Platform(Protocol[Done_co]):
    """How a host does what a part needs. What it cannot do, it refuses with an ApplyError."""

    def cure(self, name: str, keys: Keys) -> Done_co: ...

    def congestion_control(self, name: str, keys: Keys) -> Done_co: ...

    def recovery(self, name: str) -> Done_co: ...

    def setting(self, key: str, value: str) -> Done_co: ...

    def timer(self, factor: str, cgroup: str) -> Done_co: ...

    def packet_control(self, options: tuple[str, ...]) -> Done_co:
        """`options` are those of `airtcpd filter attach`."""

    def split(self, congestion_control: str | None) -> Done_co: ...

    def circuit(self, program: str, arguments: tuple[str, ...]) -> Done_co:
        """`program` is the command of airtcpd."""

    def queue(self, name: str) -> Done_co: ...


@dataclass(frozen=True)
class Part(Generic[Done]):
    """What one place needs. `done` says how, and raises ApplyError."""

    place: Place
    how: str
    done: Callable[[], Done]


def parts(wanted: Wanted, platform: Platform[Done]) -> Iterator[Part[Done]]:
    """Yields what a scheme and its queue need beyond Linux's defaults. Raises ApplyError."""
    for term in Scheme(wanted.scheme).terms:
        keys = {key: value for key, value in term.keys.items() if key not in SETTINGS}
        yield from _part(term.name, keys, wanted, platform)
        for key, value in term.keys.items():
            if key in SETTINGS:
                place = SETTING_PLACES.get(key, "receiver")
                yield Part(place, SETTINGS[key].how, partial(platform.setting, key, value))
    if wanted.queue is not None:
        yield Part("gateway", _known(wanted.queue, QUEUES).how, partial(platform.queue, wanted.queue))


def _part(name: str, keys: Keys, wanted: Wanted, platform: Platform[Done]) -> Iterator[Part[Done]]:
    if name in CURES:
        cure = CURES[name]
        # With keys of its own it works on any host, for that host's connections.
        place = cure.place if cure.place in wanted.role or not keys else min(wanted.role)
        yield Part(place, cure.how, partial(platform.cure, name, keys))
        return
    facts = _known(name, FACTS)
    if facts.stage == "default" and not (name in CONGESTION_CONTROLS and "sender" in wanted.role):
        return
    if name in CONGESTION_CONTROLS:
        yield Part("sender", facts.how, partial(platform.congestion_control, name, keys))
    elif name == "rto-m":
        yield Part("sender", facts.how, lambda: platform.timer(*_timer(keys, wanted)))
    elif name == "packet-control":
        yield Part("gateway", facts.how, lambda: platform.packet_control(tuple(_filter_options(keys))))
    elif name == "split":
        yield Part("gateway", facts.how, lambda: platform.split(_split_control(keys)))
    elif name == "decoupling":
        # `--circuit` says which end this host is.
        yield Part(min(wanted.role), facts.how, lambda: platform.circuit(*_circuit(wanted)))
    elif facts.stage == "setting":
        yield Part("sender", facts.how, partial(platform.recovery, name))
    else:
        raise cannot(name)


def _timer(keys: Keys, wanted: Wanted) -> tuple[str, str]:
    if wanted.cgroup is None:
        raise ApplyError("rto-m applies to the connections of a v2 cgroup: give --cgroup PATH")
    return keys.get("m", TIMER_FACTOR), wanted.cgroup


def _filter_options(keys: Keys) -> Iterator[str]:
    for key, value in keys.items():
        if key == "threshold":
            yield from ("--ack-threshold", value)
        elif key not in ("ack_filter", "data_filter"):
            raise ApplyError(f"packet-control:{key} is not an option of `airtcpd filter`: attach it manually")
        elif value == "false":
            yield f"--no-{key.replace('_', '-')}"


def _split_control(keys: Keys) -> str | None:
    for key in keys:
        if key != "congestion_control":
            raise ApplyError(f"split:{key} has no counterpart here: start `airtcpd proxy run` manually")
        _known(keys[key], CONGESTION_CONTROLS)
    return keys.get("congestion_control")


def _circuit(wanted: Wanted) -> tuple[str, tuple[str, ...]]:
    if wanted.circuit is None:
        raise ApplyError(
            "a circuit has two ends: give this end's arguments with --circuit, for example "
            "'receive --listen 192.0.2.2:4007 --key-file KEY', on a gateway "
            "'send --to 192.0.2.2:4007 --prefix 10.3.0.0/24 --key-file KEY', "
            "on a host that sends '--to 10.3.0.0/24 --receiver 192.0.2.2:4007 --key-file KEY'"
        )
    words = shlex.split(wanted.circuit)
    return ("circuit" if words[:1] in (["send"], ["receive"]) else "decouple"), tuple(words)


def cannot(name: str, more: str = "") -> ApplyError:
    """The refusal of a part that no host can be given."""
    facts = FACTS[name]
    return ApplyError(
        f"{name} cannot be applied: {facts.how} ({facts.source}). It is {STAGES[facts.stage]}.{more}"
    )


def by_airtcpd(name: str) -> bool:
    """Whether airtcpd can load this congestion control."""
    return FACTS[name].airtcp == "yes" or "airtcpd" in FACTS[name].how


def _known(name: str, facts: dict[str, Facts]) -> Facts:
    _, through, tunnel = name.partition(" through ")
    if through and (found := TUNNELS.get(tunnel.partition("-")[0])):
        raise ApplyError(f"airtcp sets up no tunnel. It is {STAGES[found.stage]}; at both ends: {found.how}")
    if name in QUEUES and facts is not QUEUES:
        raise ApplyError(f"{name} is a queue: write it behind a scheme, as in 'cubic @ {name}'")
    if name not in facts:
        raise ApplyError(f"unknown scheme {name}: see `airtcp schemes`")
    return facts[name]
