"""The grid on which simulator and kernel are compared: schemes, paths, and traffic."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from airtcp._engine import Scenario
from airtcp_studies.papers.packet_control.path import STEADY, VARYING
from airtcp_studies.papers.packet_control.timeout import LONG_DELAY
from airtcp_studies.papers.rto.setup import CELL_LINK, TRACE_A_LINK, Method

SCHEMES = ("reno", "cubic", "bbr", "westwood-vt", "spectcp")
MARKING = frozenset({"spectcp"})
"""Schemes that wait for marks: their queue is RED with ECN, as in paper 002; the others have drop-tail."""
KERNELS_OWN = ("reno", "cubic", "bbr")
DURATION_S = 20.0
PACKET_BITS = 12_000
LEAST_QUEUE = 5
"""In packets, for the shallow queues."""


@dataclass(frozen=True, order=True)
class Point:
    """One path."""

    rate_mbps: float
    rtt_ms: float
    """Without queueing and transmission."""
    loss: float = 0.0
    """Probability that a data packet is lost at random; ACKs are not."""
    ber: float = 0.0
    """Bit error rate, for data and ACKs."""
    queue_packets: int = 0
    """0 for the scenario's default: one bandwidth-delay product, at least 50."""
    trace: str = ""
    """Name of a recorded capacity that replaces the rate."""
    station: str = ""
    """Name of a path in `STATIONS` or `TRACES_003` that replaces all of this."""
    overtaking_ms: float = 0.0
    """If above 0: each data packet is late by up to this much, uniformly, and overtakes."""

    @property
    def is_lossy(self) -> bool:
        return self.loss > 0 or self.ber > 0 or bool(self.station)

    def __str__(self) -> str:
        if self.station:
            return self.station
        lost = f"BER {self.ber:g}" if self.ber else f"{self.loss * 100:g} %"
        capacity = self.trace or f"{self.rate_mbps:g} Mbit/s"
        queue = f", queue {self.queue_packets}" if self.queue_packets else ""
        late = f", overtaking within {self.overtaking_ms:g} ms" if self.overtaking_ms else ""
        return f"{capacity}, {self.rtt_ms:g} ms, {lost}{queue}{late}"


@dataclass(frozen=True, order=True)
class Cell:
    """One scheme on one path; by default with one endless transfer."""

    scheme: str
    point: Point
    size_kb: int = 0
    """If above 0: short transfers of this many kB, each on its own connection."""
    beside: str = ""
    """The scheme of a second flow."""

    @property
    def runs(self) -> str:
        """The full scheme behind a short name of the grid."""
        path = TRACES_003.get(self.point.station)
        return METHODS_003[self.scheme].scheme(path.trace) if path else self.scheme

    def __str__(self) -> str:
        """The name in the journal and in findings."""
        beside = f" beside {self.beside}" if self.beside else ""
        size = f", {self.size_kb} kB" if self.size_kb else ""
        return f"{self.scheme}{beside}: {self.point}{size}"


RATES_MBPS = (2.0, 10.0, 50.0)
RTTS_MS = (10.0, 50.0, 200.0)
LOSSES = (0.0, 0.001, 0.01, 0.05)
HEAVY_LOSSES = (0.1, 0.15, 0.2, 0.3)
"""Where loss-based controls hardly send: BBR takes a fifth and more for a policer's work."""
OVERTAKING_MS = 100.0
DEEP_AND_SHALLOW = ("reno", "cubic", "bbr", "westwood-vt")
QUEUES = (0.25, 4.0)
"""As shares of one bandwidth-delay product."""
TRANSFERS = {10: 40, 100: 20, 1000: 10}
"""Transfers per run, by size in kB: of smaller ones, more meet no loss at all."""
PAIRS = (("cubic", "cubic"), ("reno", "cubic"), ("bbr", "cubic"), ("westwood-vt", "cubic"))
TRACES = ("ATT-LTE-driving-2016",)
TRACE_RTT_MS = 40.0
TRACE_QUEUE = 200
TRACE_STEP_S = 5.0
"""Each seed enters a recording this much later; otherwise all runs would be identical."""
_OUTAGE = LONG_DELAY["link.wireless.outages"]
STATIONS = {
    "varying delay (P1)": VARYING,
    "varying delay, 1 % lost (P2)": f"{VARYING}[link.loss]\npacket = 0.01\n",
    "6 s of silence (P3)": f"{STEADY}outages = {_OUTAGE}\n",
}
"""Paper 001's paths, with a base station between a wired link and a wireless one."""
GATEWAYS = ("reno", *(f"reno+packet-control:threshold={threshold}" for threshold in (6, 9, 12)))
SPLITS = ("reno+split", "cubic+split", "rto-m:m=10+gbn+split")


@dataclass(frozen=True)
class Trace003:
    """A path of paper 003, where each packet takes the next delay of its trace."""

    trace: str
    link: str
    loss: float = 0.0
    """Probability that a data packet is lost."""

    def links(self) -> list[dict[str, object]]:
        links: list[dict[str, dict[str, object]]] = tomllib.loads(self.link)["link"]
        links[0]["loss"] = {"packet": self.loss}
        links[0]["reverse"]["loss"] = {"packet": 0}
        return [dict(link) for link in links]


TRACES_003 = {
    "trace A (R1, R3)": Trace003("A", TRACE_A_LINK),
    "trace A, 5 % lost (R1)": Trace003("A", TRACE_A_LINK, 0.05),
    "trace B (R2, R3)": Trace003("B", CELL_LINK),
}
METHODS_003 = {
    "SR, m = 4": Method(),
    "SR, m = 10": Method(10),
    "GBN, m = 4": Method(policy="gbn in slow start"),
    "GBN, m = 10": Method(10, "gbn in slow start"),
}
DURATION_003_S = 60.0
"""Some fifty round trips."""
RTT_003_MS = 1000.0


def cells(*, quick: bool = False, traces: Path | None = None) -> list[Cell]:
    """Returns the grid; with `quick`, a corner of it; recordings only if their folder is known."""
    if quick:
        few = [Cell(scheme, Point(10.0, 50.0, loss)) for scheme in SCHEMES for loss in (0.0, 0.01)]
        deep = [Cell(scheme, Point(10.0, 50.0, queue_packets=200)) for scheme in KERNELS_OWN]
        short = [Cell(scheme, Point(10.0, 50.0), size_kb=100) for scheme in KERNELS_OWN]
        return [*few, *deep, *short, Cell("cubic", Point(10.0, 50.0, 1e-4), beside="cubic")]
    recorded = _recorded() if traces else ()
    return [
        *_unlimited(),
        *_heavily_lossy(),
        *_queues(),
        *_short(),
        *_pairs(),
        *_stations(),
        *_traces_003(),
        *recorded,
    ]


def between_kernels() -> list[Cell]:
    """Returns the cells on which kernels are compared in guests: few packets, because these are emulated."""
    return [
        *(Cell(*at) for at in product(KERNELS_OWN, [Point(2.0, 50.0, loss) for loss in (0.0, 0.01, 0.05)])),
        *(Cell("cubic", Point(2.0, *at)) for at in ((10.0, 0.05), (200.0, 0.0), (200.0, 0.01))),
        *(Cell("bbr", Point(2.0, *at)) for at in ((200.0, 0.0), (200.0, 0.05))),
        *(Cell(scheme, Point(10.0, 50.0, 0.01)) for scheme in ("reno", "cubic")),
        *(Cell(scheme, Point(2.0, 100.0, overtaking_ms=OVERTAKING_MS)) for scheme in ("cubic", "bbr")),
        *(Cell(scheme, Point(10.0, 50.0), size_kb=100) for scheme in KERNELS_OWN),
    ]


def _unlimited() -> Iterator[Cell]:
    for scheme in SCHEMES:
        yield from (Cell(scheme, Point(*at)) for at in product(RATES_MBPS, RTTS_MS, LOSSES))


def _heavily_lossy() -> Iterator[Cell]:
    yield from (Cell("bbr", Point(10.0, *at)) for at in product((50.0, 200.0), HEAVY_LOSSES))
    yield from (Cell("bbr", Point(10.0, 100.0, loss, overtaking_ms=OVERTAKING_MS)) for loss in (0.0, 0.1))


def _queues() -> Iterator[Cell]:
    for scheme, rtt_ms, queue, loss in product(DEEP_AND_SHALLOW, (50.0, 200.0), QUEUES, (0.0, 0.001)):
        yield Cell(scheme, Point(10.0, rtt_ms, loss, queue_packets=_packets(10.0, rtt_ms, queue)))


def _short() -> Iterator[Cell]:
    for scheme, rtt_ms, loss, size in product(KERNELS_OWN, (50.0, 200.0), (0.0, 0.01), TRANSFERS):
        yield Cell(scheme, Point(10.0, rtt_ms, loss), size_kb=size)


def _pairs() -> Iterator[Cell]:
    for (scheme, beside), queue in product(PAIRS, (1.0, 4.0)):
        # A few random losses, so that seeds differ.
        yield Cell(scheme, Point(10.0, 50.0, 1e-4, queue_packets=_packets(10.0, 50.0, queue)), beside=beside)


def _stations() -> Iterator[Cell]:
    for station, scheme in product(STATIONS, GATEWAYS):
        # The paper varies the threshold on the path without loss.
        if "(P1)" in station or scheme in {"reno", "reno+packet-control:threshold=9"}:
            yield Cell(scheme, Point(0.25, 350.0, station=station))

    for station, scheme in product(STATIONS, SPLITS):
        yield Cell(scheme, Point(0.25, 350.0, station=station))


def _traces_003() -> Iterator[Cell]:
    for station, method in product(TRACES_003, METHODS_003):
        yield Cell(method, Point(0.0, RTT_003_MS, station=station))


def _recorded() -> Iterator[Cell]:
    for scheme, trace in product(DEEP_AND_SHALLOW, TRACES):
        yield Cell(scheme, Point(0.0, TRACE_RTT_MS, queue_packets=TRACE_QUEUE, trace=trace))


def _packets(rate_mbps: float, rtt_ms: float, products: float) -> int:
    return max(LEAST_QUEUE, round(products * rate_mbps * 1e3 * rtt_ms / PACKET_BITS))


def scenario(cell: Cell, seed: int, traces: Path | None = None) -> Scenario:
    """Splits the RTT evenly over both directions. The seed matters only to where a recording is entered."""
    start_s = (seed - 1) * TRACE_STEP_S if cell.point.trace else 0.0
    return Scenario.build(
        name=str(cell),
        duration=f"{start_s + _duration_s(cell):g}s",
        warmup=f"{start_s:g}s",
        profile="rfc" if cell.point.station in TRACES_003 else "linux",
        schemes=[cell.runs],
        link=_links(cell, traces),
        flow=list(_flows(cell, start_s)),
    )


def _duration_s(cell: Cell) -> float:
    if cell.point.station in TRACES_003:
        return DURATION_003_S
    return 2 * DURATION_S if cell.beside or cell.size_kb >= 1000 else DURATION_S


def _links(cell: Cell, traces: Path | None) -> list[dict[str, object]]:
    if cell.point.station in TRACES_003:
        return TRACES_003[cell.point.station].links()
    if cell.point.station:
        links: list[dict[str, object]] = tomllib.loads(STATIONS[cell.point.station])["link"]
        return links
    return [_link(cell, traces)]


def _link(cell: Cell, traces: Path | None) -> dict[str, object]:
    point = cell.point
    queue: dict[str, object] = {"discipline": "red", "ecn": True} if cell.scheme in MARKING else {}
    if point.queue_packets:
        queue["packets"] = point.queue_packets
    reverse: dict[str, object] = {"loss": {"packet": 0, "ber": point.ber}}
    link: dict[str, object] = {
        "name": "path",
        "delay": f"{point.rtt_ms / 2:g}ms",
        "loss": {"packet": point.loss, "ber": point.ber},
        "reverse": reverse,
        "queue": queue,
    }
    if point.overtaking_ms:
        link["jitter"] = {"distribution": "uniform", "high": f"{point.overtaking_ms:g}ms", "overtaking": True}
        reverse["jitter"] = {"distribution": "constant", "mean": "0ms"}
    if point.trace:
        folder = traces or Path()
        reverse["trace"] = folder / f"{point.trace}.up"
        return {**link, "trace": folder / f"{point.trace}.down"}
    return {**link, "rate": f"{point.rate_mbps:g}Mbit/s"}


def _flows(cell: Cell, start_s: float) -> Iterator[dict[str, object]]:
    main: dict[str, object] = {"name": "main", "start": f"{start_s:g}s"}
    if cell.size_kb:
        main["traffic"] = {"kind": "bytes", "size": f"{cell.size_kb * 1000}B"}
        # The last one has a quarter of the time to itself.
        main |= {"count": TRANSFERS[cell.size_kb], "stagger": f"{0.75 * _duration_s(cell):g}s"}
    yield main
    if cell.beside:
        yield {"name": "beside", "scheme": cell.beside, "start": "0s"}
