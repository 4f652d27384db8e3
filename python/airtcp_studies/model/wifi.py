"""A saturated Wi-Fi cell by Bianchi's closed form, and in the simulator."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass

from airtcp._engine import Scenario
from airtcp.facts.records import Run
from airtcp.facts.stats import estimate
from airtcp_studies.frame.context import on_time
from airtcp_studies.model.closed_forms import Answer, Value
from airtcp_studies.model.formulas import slot_shares

RATES_MBPS = (6, 9, 12, 18, 24, 36, 48, 54)
"""Of 802.11a, by MCS. A symbol of 4 µs has four times as many data bits as Mbit/s."""
SLOT_US, SIFS_US, PREAMBLE_US, SYMBOL_US = 9, 16, 20, 4
DIFS_US = SIFS_US + 2 * SLOT_US
FRAMING_BITS = 22
"""SERVICE and tail."""
FRAME_BYTES, ACK_BYTES = 36, 14
"""MAC header, LLC and FCS; an acknowledgment."""
RTS_BYTES, CTS_BYTES = 20, 14
UDP_BYTES = 28
"""Headers of a datagram."""
WARMUP_S, MEASURED_S = 1, 10


@dataclass(frozen=True)
class Cell:
    """A saturated cell of 802.11a."""

    mcs: int
    packet_bytes: int
    """Length of the IP packets."""
    cw_min: int
    cw_max: int
    attempts: int
    rts: bool
    """RTS and CTS precede each frame."""
    seeds: int

    def exchange_us(self) -> float:
        """A data frame and its acknowledgment, with RTS and CTS before them, and DIFS."""
        rate = RATES_MBPS[self.mcs]
        data = _airtime_us(self.packet_bytes + FRAME_BYTES, rate)
        return self._request_us() + data + SIFS_US + self._control_us(ACK_BYTES) + DIFS_US

    def collision_us(self) -> float:
        """Without RTS, the whole exchange: acknowledgments are waited for."""
        return self._request_us() - SIFS_US + DIFS_US if self.rts else self.exchange_us()

    def _request_us(self) -> float:
        both = self._control_us(RTS_BYTES) + SIFS_US + self._control_us(CTS_BYTES) + SIFS_US
        return both if self.rts else 0

    def _control_us(self, size_bytes: int) -> float:
        return _airtime_us(size_bytes, max(basic for basic in (6, 12, 24) if basic <= RATES_MBPS[self.mcs]))

    def closed_form(self, stations: int) -> tuple[float, float]:
        """Returns the payload of all datagrams in Mbit/s, and the probability of a collision."""
        idle, alone, collided = slot_shares(stations, self.cw_min, self.cw_max, self.attempts)
        slot_us = idle * SLOT_US + alone * self.exchange_us() + (1 - idle - alone) * self.collision_us()
        return alone * 8 * (self.packet_bytes - UDP_BYTES) / slot_us, collided

    def simulated(self, stations: int) -> list[float]:
        """Returns the payload in Mbit/s, by seed."""
        links = "".join(
            f"""
            [[link]]
            from = "station{number}"
            to = "access-point"
            medium = "air"
            queue = {{ packets = 100 }}
            [[flow]]
            from = "station{number}"
            to = "access-point"
            traffic = {{ kind = "udp", rate = "60Mbit/s", packet = "{self.packet_bytes}B" }}
            measure = true
            """
            for number in range(stations)
        )
        text = f"""
            duration = "{WARMUP_S + MEASURED_S}s"
            warmup = "{WARMUP_S}s"
            [[medium]]
            name = "air"
            standard = "a"
            mcs = {self.mcs}
            cw_min = {self.cw_min}
            cw_max = {self.cw_max}
            attempts = {self.attempts}
            {"rts_threshold = 0" if self.rts else ""}
            {links}
        """
        scenario = on_time(Scenario.parse(text))
        runs: list[Run] = [
            json.loads(scenario.run("reno", seed).to_json()) for seed in range(1, self.seeds + 1)
        ]
        return [sum(flow["goodput_bps"] for flow in run["flows"]) / 1e6 for run in runs]


def saturated(cell: Cell, counts: Sequence[int]) -> Answer:
    """Returns what cells of so many stations carry."""
    values = []
    for count in counts:
        mbps, collided = cell.closed_form(count)
        found = {"simulated": estimate(cell.simulated(count))} if cell.seeds else None
        values.append(Value(f"S, n = {count}", "Mbit/s", "Bianchi 2000, eq. 13", mbps, found))
        values.append(Value(f"p, n = {count}", "", "1 − (1 − τ)^(n − 1)", collided))
    inputs = {
        "802.11a": f"{RATES_MBPS[cell.mcs]} Mbit/s",
        "packets": f"{cell.packet_bytes} B",
        "CWmin/CWmax": f"{cell.cw_min}/{cell.cw_max}",
        "attempts": f"{cell.attempts}",
        "RTS/CTS": "on" if cell.rts else "off",
    }
    return Answer(inputs, values, ())


def _airtime_us(size_bytes: int, rate_mbps: int) -> float:
    return PREAMBLE_US + SYMBOL_US * math.ceil((8 * size_bytes + FRAMING_BITS) / (4 * rate_mbps))
