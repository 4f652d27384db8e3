"""Lists what somebody who controls certain places could use, given the current scheme."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

from airtcp.advise.deployment import (
    CONGESTION_CONTROLS,
    FACTS,
    GATEWAYS,
    OWN,
    PARTS,
    QUEUES,
    SETTINGS,
    STAGES,
    TUNNELS,
    Facts,
    Place,
    Stage,
)
from airtcp.facts.scheme import Scheme

Tunnel = Literal["arq", "arq-there", "arq-back", "fec", "fec-there", "fec-back"]
"""A tunnel between both ends: its method, and its direction if it is not both."""
EFFORTS = list(STAGES)
PARAMETERS = {"rto-m": "rto-m:m=12"}
"""Replaces the bare name: the middle of what paper 003 finds best (§V: 10 to 15); the default is its lower
end."""
PROXY_SENDER = "bbr"
"""The sender for a proxy's wireless side: of Linux's, the one least affected by loss."""
MARKING = {"spectcp": "red-ecn", "jersey": "congestion-warning", "new-jersey": "congestion-warning"}
"""The queue proposed with the scheme."""
WINDOW_BDPS = 2
"""A receive window of two bandwidth-delay products fills the link and bounds the queue."""


@dataclass(frozen=True)
class Candidate:
    """A scheme, and the queue in front of the wireless link if it replaces the current one."""

    scheme: str
    queue: str | None = None
    """A name in `QUEUES`, which the engine knows too."""
    setting: str | None = None
    """A name in `SETTINGS`, if the scheme changes a host's setting."""
    tunnel: Tunnel | None = None
    """The tunnel that both ends put around it."""
    in_use: tuple[str, ...] = ()
    """Parts of the scheme that are already in use and need nothing."""

    @property
    def name(self) -> str:
        return self.path_scheme if self.tunnel is None else f"{self.path_scheme} through {self.tunnel}"

    @property
    def path_scheme(self) -> str:
        """The scheme that the engine runs on the path with the tunnel."""
        return self.scheme if self.queue is None else f"{self.scheme} @ {self.queue}"

    @property
    def facts(self) -> list[Facts]:
        """The facts of each part that is not yet in use."""
        found = [FACTS.get(term, OWN) for term in Scheme(self.scheme).names if term not in self.in_use]
        found += [QUEUES[self.queue]] if self.queue else []
        found += [TUNNELS[self.tunnel.partition("-")[0]]] if self.tunnel else []
        return found + ([SETTINGS[self.setting]] if self.setting else [])

    @property
    def places(self) -> frozenset[Place]:
        """The places that it needs under control."""
        return frozenset[Place]().union(*(facts.places for facts in self.facts))

    @property
    def stage(self) -> Stage:
        """The stage of the part that takes the most effort."""
        return max((facts.stage for facts in self.facts), key=EFFORTS.index, default="default")

    @property
    def is_split(self) -> bool:
        """Whether a proxy terminates the sender's round trips."""
        return Scheme(self.scheme).is_split

    @property
    def is_sender(self) -> bool:
        """Whether it is a congestion control alone, with the hosts' settings as they are."""
        names = Scheme(self.scheme).names
        return self.setting is None and len(names) == 1 and names[0] in CONGESTION_CONTROLS

    @property
    def deployable(self) -> bool:
        """Whether it is available today."""
        return EFFORTS.index(self.stage) <= EFFORTS.index("build")


def first_round(
    now: str,
    controlled: frozenset[Place],
    window_bytes: int,
    own: Sequence[str] = (),
    send_buffer: int | None = None,
) -> list[Candidate]:
    """Returns the current scheme, then everything that changes one thing of it; `own` are the asker's
    senders. `send_buffer` is the size that the path needs, if the sender's is too small."""
    found = [
        Candidate(now),
        *_senders(now, controlled),
        *(Candidate(_on_hosts(name, now)) for name in own if "sender" in controlled),
        *_buffers(now, controlled, send_buffer),
        *_receivers(now, controlled, window_bytes),
        *_gateways(now, controlled),
        *_both(now, controlled),
    ]
    return _each_once(found, now)


def second_round(now: str, ranked: Sequence[Candidate]) -> list[Candidate]:
    """Combines the best sender and the best deployable one with the two best machines of the first round.

    Not the full product: a machine's gain with a sender that loses alone decides nothing.
    """
    senders = [c for c in ranked if c.is_sender and c.queue is None and c.scheme != now]
    machines = [machine for c in ranked if (machine := _machine(c.scheme)) and hosts(c.scheme) == hosts(now)]
    queued = any((c.scheme, c.queue) == (now, "fq-codel") for c in ranked)
    # Behind a proxy that chooses its own wireless sender, the sender hardly matters.
    machines = [machine for machine in machines if ":" not in machine]
    best = _best_two(senders)
    found = [Candidate(f"{sender.scheme}+{machine}") for sender in best for machine in machines[:2]]
    found += [Candidate(sender.scheme, "fq-codel") for sender in best if queued]
    known = {candidate.name for candidate in ranked}
    return [candidate for candidate in _each_once(found, now) if candidate.name not in known]


def _best_two(ranked: Sequence[Candidate]) -> list[Candidate]:
    """Returns the best and the best deployable candidate; if they are the same, the next one."""
    had = [candidate for candidate in ranked if candidate.deployable]
    return list(dict.fromkeys([*ranked[:1], *had[:1], *ranked[1:]]))[:2]


def hosts(scheme: str) -> str:
    """Returns the scheme without its machine at the gateway."""
    return Scheme(scheme).without(*GATEWAYS).text or "reno"


def _each_once(found: Sequence[Candidate], now: str) -> list[Candidate]:
    """Returns each scheme once, marked with what is already in use."""
    by_name: dict[str, Candidate] = {}
    for candidate in found:
        by_name.setdefault(candidate.name, replace(candidate, in_use=Scheme(now).names))
    return list(by_name.values())


def _machine(scheme: str) -> str | None:
    return next((term.text for term in Scheme(scheme).terms if term.name in GATEWAYS), None)


def _senders(now: str, controlled: frozenset[Place]) -> Iterator[Candidate]:
    for name, facts in CONGESTION_CONTROLS.items():
        if facts.needs_marks:
            if {"sender", "gateway"} <= controlled:
                yield Candidate(_on_hosts(name, now), MARKING[name])
        elif facts.places <= controlled:
            yield Candidate(_on_hosts(name, now))
    for name, facts in PARTS.items():
        if (
            facts.places <= controlled
            and facts.stage not in ("default", "history")
            and name not in Scheme(now).names
        ):
            yield Candidate(f"{now}+{PARAMETERS.get(name, name)}")
    if {"sender", "gateway"} <= controlled:
        yield Candidate(Scheme(now).with_key("ecn", "true").text, "red-ecn", setting="ecn")


def _on_hosts(sender: str, now: str) -> str:
    """Returns the sender with the settings of the hosts, which it leaves alone."""
    scheme = Scheme(sender)
    for key, value in ((key, value) for term in Scheme(now).terms for key, value in term.keys.items()):
        scheme = scheme.with_key(key, value) if key in SETTINGS else scheme
    return scheme.text


def _buffers(now: str, controlled: frozenset[Place], size: int | None) -> Iterator[Candidate]:
    if "sender" in controlled and size is not None:
        roomy = Scheme(now).with_key("send_buffer", f"{round(size / 1000)}kB")
        yield Candidate(roomy.text, setting="send_buffer")


def _receivers(now: str, controlled: frozenset[Place], window_bytes: int) -> Iterator[Candidate]:
    if "receiver" in controlled:
        window = f"{round(window_bytes / 1000)}kB"
        yield Candidate(Scheme(now).with_key("receive_window", window).text, setting="receive_window")
        yield Candidate(Scheme(now).with_key("ack_every", "1").text, setting="ack_every")


def _gateways(now: str, controlled: frozenset[Place]) -> Iterator[Candidate]:
    for name, facts in GATEWAYS.items():
        if facts.places <= controlled:
            yield Candidate(f"{hosts(now)}+{name}")
    if "gateway" in controlled:
        yield Candidate(f"{hosts(now)}+split:congestion_control={PROXY_SENDER}")
        yield Candidate(now, "fq-codel")


def _both(now: str, controlled: frozenset[Place]) -> Iterator[Candidate]:
    if {"sender", "receiver"} <= controlled:
        for sender in dict.fromkeys(("reno", *Scheme(now).names[:1], PROXY_SENDER)):
            yield Candidate(f"{sender}+decoupling")
        yield from (Candidate(now, tunnel=tunnel) for tunnel in get_args(Tunnel))
