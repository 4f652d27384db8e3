"""What arrived at all: what is refused, and what is said, if nothing did."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence

from airtcp.fit.draft import Draft, rate
from airtcp.fit.evidence import WAYS, Evidence, mean_rate, shown
from airtcp.fit.findings import Unknown
from airtcp.fit.holes import Hole
from airtcp.fit.measurement import Direction, Fates, LossCount, Measurement

BEYOND = "packets that vanish"
"""The quantity under which a fit reports a path-MTU black hole."""


class NothingArrives(Exception):
    """The files are sound and the path fails: a finding with its cures, and nothing to fit."""

    def __init__(
        self, measurements: Sequence[Measurement], holes: Sequence[Hole], lines: Sequence[str]
    ) -> None:
        super().__init__("\n".join(lines))
        self.measurements = tuple(measurements)
        self.holes = tuple(holes)
        self.lines = tuple(lines)


def has_anything(evidence: Evidence) -> bool:
    """Returns whether there is anything to fit."""
    # What comes back is no scenario for data that do not get there.
    is_cut = any(hole.direction == "forward" for hole in evidence.holes)
    ways = [way for way in WAYS if not (is_cut and way == "reverse")]
    trips = evidence.idle or evidence.loaded
    of_ways: list[Container[Direction]] = [
        evidence.fates,
        evidence.counts,
        evidence.capacity,
        evidence.reached,
    ]
    return bool(
        (trips is not None and len(trips.what.rtt_s))
        or evidence.probed is not None
        or any(way in found for found in of_ways for way in ways)
        or any(way in evidence.link_rate and evidence.link_rate[way].what.estimate_bps for way in ways)
        or evidence.resent is not None
    )


def failures(evidence: Evidence) -> Iterator[str]:
    """Yields what is wrong with a path over which only short packets arrive."""
    if evidence.holes:
        yield "Only short packets arrive over this path, and no data do: there is no rate to fit."
    yield from (line for hole in evidence.holes for line in hole.lines)
    reached = evidence.reached.get("reverse")
    if reached is not None:
        yield (
            f"In the reverse direction data do arrive, at {rate(mean_rate(reached.what))} on average "
            f"({reached.name})."
        )


def put_holes(draft: Draft, holes: Sequence[Hole]) -> None:
    """Reports each hole first of all; the keys of the scenario describe packets that pass."""
    for hole in holes:
        draft.found.append(hole.finding)
        draft.unknown.append(
            Unknown(
                BEYOND,
                f"{hole.headline[:1].upper()}{hole.headline[1:]}.",
                "The fit describes packets that pass: it holds once the hole is cured.",
                " ".join([*hole.doubts, "Cures:", *hole.cures]),
            )
        )


def silent(measurements: Sequence[Measurement], holes: Sequence[Hole]) -> Iterator[str]:
    """Yields a sentence on each file of which nothing arrived and that no hole explains."""
    explained = {name for hole in holes for name in hole.inputs}
    for measurement in measurements:
        name = shown(measurement.source.name)
        if measurement.reported_mtu_bytes is not None:
            yield (
                f"The path takes packets of at most {measurement.reported_mtu_bytes} bytes, as a router has "
                f"reported ({name}): longer ones are not lost, and TCP learns it too."
            )
        if measurement.source.name in explained or measurement.reported_mtu_bytes is not None:
            continue
        for fates in measurement.fates:
            if fates.direction == "both" and len(fates.lost) and fates.lost.all():
                yield _unanswered(name, fates)
        for count in measurement.loss_counts:
            if count.packets and count.lost == count.packets:
                yield _not_received(name, count)


def _unanswered(name: str, fates: Fates) -> str:
    length = "" if fates.packet_bytes is None else f" of {fates.packet_bytes:.0f} bytes"
    return (
        f"Nothing came back in {name}: no packet was answered of {len(fates.lost)}{length}. "
        "The host is down or does not answer such packets, or they vanish on the path. Give a log of short "
        "ones, too (`ping HOST`): if they are answered, longer ones meet a path-MTU black hole."
    )


def _not_received(name: str, count: LossCount) -> str:
    length = "" if count.packet_bytes is None else f" of {count.packet_bytes:.0f} bytes"
    return (
        f"Nothing arrived in {name}: none of {count.packets} datagrams{length}, though the "
        "test itself went on. That shows neither a rate nor a loss. It is possible that a firewall or "
        "policer drops UDP, or that datagrams of this length meet a path-MTU black hole: `iperf3 --udp "
        "--length 1000` beside it, `iperf3` without --udp, and `ping -M do -s 1472 HOST` tell which."
    )
