"""Lists the readings of losses if probes are too far apart to show what happens between them."""

from __future__ import annotations

from airtcp.facts.numbers import seconds
from airtcp.fit.draft import LINK, Draft, duration, number, table, text
from airtcp.fit.estimates import LossOf
from airtcp.fit.findings import Reading, Unknown
from airtcp.fit.measurement import Direction, Fates

BLIND_S = 0.25
"""Probes farther apart cannot tell loss bursts from single losses."""
STEPS = 4
"""Steps of the chain in a burst."""
ALONE = "each packet is lost independently"


def put_readings(draft: Draft, losses: dict[Direction, LossOf]) -> None:
    """Adds both readings: the assumed one, which is the fit's own, and the other possible one."""
    ways: dict[Direction, str] = {"both": "", "forward": "", "reverse": ".reverse"}
    used = {way: of for way, of in losses.items() if "forward" not in losses or way != "both"}
    probed = {way: of for way, of in used.items() if _is_blind(of)}
    if not probed:
        return
    spacing_s = max(_spacing_s(of) for of in probed.values())
    in_time = [
        of.loss.burst.best * _spacing_s(of) for of in probed.values() if of.loss.chain and of.loss.burst
    ]
    length_s = spacing_s / 2
    if in_time:
        stands_in = f"losses come in bursts of {seconds(max(in_time))} s in time"
        other = {way: table(packet=number(_one_way(way, of))) for way, of in probed.items()}
        name = ALONE
    else:
        stands_in, name = ALONE, f"losses come in bursts of {seconds(length_s)} s in which all is lost"
        other = {way: _in_bursts(_one_way(way, of), length_s) for way, of in probed.items()}
    keys = tuple((f"link.{LINK}{ways[way]}.loss", value) for way, value in other.items())
    draft.unknown.append(
        Unknown(
            "whether losses come in bursts",
            f"Probes {seconds(spacing_s)} s apart do not show what happens between two of them.",
            f"The fit assumes that {stands_in}; it is also possible that {name}.",
            "Probe 5 to 20 times a second: `airtcp measure`, or ping -i 0.1.",
            (Reading(stands_in, ()), Reading(name, keys)),
        )
    )


def _is_blind(of: LossOf) -> bool:
    return _spacing_s(of) > BLIND_S and 0 < of.loss.lost < of.loss.n


def _spacing_s(of: LossOf) -> float:
    """Returns zero if unknown, and for a transfer's packets, which are close together."""
    fates = of.source.what
    if not isinstance(fates, Fates) or of.source.source.transfer is not None:
        return 0.0
    return fates.interval_s or 0.0


def _one_way(way: Direction, of: LossOf) -> float:
    share = of.loss.share.best
    return 1 - (1 - share) ** 0.5 if way == "both" else share


def _in_bursts(share: float, length_s: float) -> str:
    to_good = 1 / STEPS
    to_bad = min(1 - to_good, to_good * share / (1 - share))
    interval = text(duration(length_s / STEPS))
    return table(burst=table(to_bad=number(to_bad), to_good=number(to_good), interval=interval))
