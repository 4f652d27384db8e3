"""Chooses what probes a host."""

from __future__ import annotations

from collections.abc import Callable

from airtcp.measure.ecn import EcnPath
from airtcp.measure.icmp import Icmp
from airtcp.measure.peer import Peer
from airtcp.measure.ping_program import PingProgram
from airtcp.measure.prober import ProbeError, Prober
from airtcp.measure.sockets import Host
from airtcp.measure.tcp_probe import TcpProbe


def prober_for(
    host: Host, peer: tuple[int, bytes] | None, each_size_s: float, note: Callable[[str], None]
) -> Prober:
    """Returns the best available prober: that of a `peer`, if its port and token are known.

    # Raises
    ProbeError: there is none.
    """
    if peer is not None:
        return Peer(host, *peer)
    ways: list[Callable[[], Prober]] = [
        lambda: Icmp(host),
        lambda: PingProgram(host, each_size_s),
        lambda: TcpProbe(host),
    ]
    why = []
    for way in ways:
        try:
            found = way()
        except ProbeError as error:
            why.append(str(error))
            continue
        for reason in why:
            note(f"{reason}: {found.name} is used")
        return found
    raise ProbeError(f"{host.name} cannot be probed: {'; '.join(why)}")


def ecn_path(host: Host) -> EcnPath | None:
    """Returns None if this system allows no pings with codepoints."""
    try:
        return EcnPath(host)
    except ProbeError:
        return None
