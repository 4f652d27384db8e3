"""What one host can do against a path-MTU black hole (RFC 2923 §2.1), alone or beside a scheme."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from airtcp.advise.deployment import Place
from airtcp.apply.errors import ApplyError
from airtcp.apply.steps import MssClamp, Step, Sysctl
from airtcp.facts.scheme import Scheme

PROBING = Sysctl("net.ipv4.tcp_mtu_probing", "1")
"""After timeouts in a row, TCP looks for the length that passes (RFC 4821). It holds for IPv6, too."""
LEAST_MTU, MOST_MTU = 576, 65535


@dataclass(frozen=True)
class Cure:
    """A cure, as `airtcp apply` names it."""

    place: Place
    how: str
    steps: Callable[[dict[str, str], frozenset[Place]], list[Step]]
    """Its steps, for keys and this host's role. Raises ApplyError."""


def _probing(keys: dict[str, str], _role: frozenset[Place]) -> list[Step]:
    if keys:
        raise ApplyError(f"mtu-probing has no key: leave out {', '.join(keys)}")
    return [PROBING]


def _clamp(keys: dict[str, str], role: frozenset[Place]) -> list[Step]:
    if set(keys) - {"mtu"}:
        raise ApplyError("mss-clamp has one key, mtu: mss-clamp:mtu=1400")
    mtu = _mtu(keys["mtu"]) if "mtu" in keys else None
    hooks = ["forward"] if "gateway" in role else []
    if role & {"sender", "receiver"}:
        if mtu is None:
            raise ApplyError(
                "for this host's own connections mss-clamp needs the path's MTU, which `airtcp measure` "
                "finds: mss-clamp:mtu=1400"
            )
        hooks += ["input", "output"]
    return [MssClamp(mtu, tuple(hooks))]


def _mtu(text: str) -> int:
    digits = text.removesuffix("B").strip()
    if not (digits.isascii() and digits.isdigit() and LEAST_MTU <= int(digits) <= MOST_MTU):
        raise ApplyError(f"mss-clamp:mtu={text}: bytes, from {LEAST_MTU} to {MOST_MTU}")
    return int(digits)


CURES: dict[str, Cure] = {
    "mtu-probing": Cure("sender", PROBING.words, _probing),
    "mss-clamp": Cure("gateway", f"nft rule: {MssClamp().table}", _clamp),
}


def home(use: str) -> Place | None:
    """Returns the one place where all of it belongs, if it consists of cures."""
    scheme = Scheme(use)
    places = {CURES[name].place if name in CURES else None for name in scheme.names}
    return places.pop() if len(places) == 1 and scheme.queue is None else None
