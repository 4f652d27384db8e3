"""A tunnel between both ends that repairs what the wireless link loses, one way or both.

The tunnel never sees damaged packets, so its FEC is an erasure code over whole packets: any `DATA` packets of
a block recover it. Packets leave at once, so the code costs rate; the extra delay of a repaired packet (up to
a block) is ignored. ARQ resends a packet after the longest round trip of the measured flows.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import comb

from airtcp._engine import rate_in_bps
from airtcp.advise.candidates import Tunnel
from airtcp.advise.gateway import wireless
from airtcp.advise.surroundings import loss_of
from airtcp.facts.routes import base_rtts_s
from airtcp.facts.scenario import Document

DATA = 20
MOST_PARITY = 20
ENOUGH = 0.02
"""Share of the losses that a sufficiently strong code may leave."""
RETRIES = 3


def tunnelled(path: Document, tunnel: Tunnel) -> Mapping[str, object]:
    """Returns the keys that add the tunnel to the path."""
    kind, _, way = tunnel.partition("-")
    link = wireless(path)
    found: dict[str, object] = {}
    for side, prefix, name in ((link, "", "there"), (link["reverse"], ".reverse", "back")):
        key = f"link.{link['name']}{prefix}"
        own = {f"{key}.{part}": side[part] for part in ("rate", "loss") if part in side}
        own[f"{key}.arq"] = side.get("arq", {"retries": 0})
        # Keys of the forward direction would apply to the reverse direction too.
        found |= own if way not in ("", name) else _repaired(path, side, key, kind)
    return found


def is_worth_trying(path: Document, tunnel: Tunnel) -> bool:
    """Returns whether the tunnel may repair some loss. FEC is not modelled for bursts or varying rates."""
    link = wireless(path)
    sides = (link, link["reverse"])
    if not any(loss_of(side) for side in sides):
        return False
    return tunnel.startswith("arq") or all("rate" in side and "burst" not in side["loss"] for side in sides)


def _repaired(path: Document, side: Document, key: str, kind: str) -> dict[str, object]:
    if kind == "arq":
        return {f"{key}.arq": {"retries": RETRIES, "round_trip": f"{base_rtts_s(path)[1] * 1e3:.6f}ms"}}
    loss = loss_of(side)
    parity = parity_for(loss)
    rate = rate_in_bps(side["rate"]) * DATA / (DATA + parity)
    in_bursts = "burst" in side["loss"]
    # Bursts are assumed longer than the parity, which then repairs none of them.
    left = side["loss"] if in_bursts else {**side["loss"], "ber": 0.0, "packet": left_over(loss, parity)}
    return {f"{key}.rate": f"{round(rate)}bit/s", f"{key}.loss": left}


def parity_for(loss: float) -> int:
    """Returns the fewest parity packets that suffice."""
    return next((m for m in range(MOST_PARITY) if left_over(loss, m) <= ENOUGH * loss), MOST_PARITY)


def left_over(loss: float, parity: int) -> float:
    """Returns the share of packets that stay lost, with independent losses: those in blocks beyond repair."""
    n = DATA + parity
    beyond = range(parity + 1, n + 1)
    return sum(lost / n * comb(n, lost) * loss**lost * (1 - loss) ** (n - lost) for lost in beyond)
