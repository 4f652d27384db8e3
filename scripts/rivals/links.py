"""The links."""

from __future__ import annotations

LINKS: dict[str, dict[str, str]] = {
    "1 % loss": {"rate": "20Mbit/s", "delay": "50ms", "loss": "{ packet = 0.01 }"},
    "5 % loss": {"rate": "20Mbit/s", "delay": "50ms", "loss": "{ packet = 0.05 }"},
    "heavy loss": {"rate": "20Mbit/s", "delay": "100ms", "loss": "{ packet = 0.15 }"},
    "satellite": {
        "rate": "5Mbit/s",
        "delay": "300ms",
        "loss": '{ burst = { interval = "10ms", to_bad = 0.005, to_good = 0.2 } }',
    },
    "bit errors": {"rate": "10Mbit/s", "delay": "50ms", "loss": "{ ber = 1e-5 }"},
}
"""Keys of each direction. The queue holds what the link carries in a round trip."""

PACKET_BITS = 1500 * 8


def scenario(link: str) -> str:
    keys = LINKS[link]
    rate_bps = float(keys["rate"].removesuffix("Mbit/s")) * 1e6
    round_trip_s = 2 * float(keys["delay"].removesuffix("ms")) / 1e3
    packets = round(rate_bps * round_trip_s / PACKET_BITS)
    return "\n".join(
        [
            "[[link]]",
            'name = "air"',
            f'rate = "{keys["rate"]}"',
            f'delay = "{keys["delay"]}"',
            f"loss = {keys['loss']}",
            f"queue = {{ packets = {packets} }}",
            "",
        ]
    )
