"""What the guide promises of hooks, over random paths and stacks, with windows that nobody would set."""

from __future__ import annotations

import math
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

import airtcp


class Checking(airtcp.CongestionControl):
    """Sets any window that may be set, and checks at each call what the guide promises."""

    seed = 1

    def __init__(self) -> None:
        self.chance = Random(self.seed)
        self.last_s = self.now_s
        self.una = 0
        self.has_lost = False
        self.set_window()

    def set_window(self) -> None:
        self.cwnd = self.chance.choice([1e-9, 0.5, 1, 1.5, 3, 10, 100.25, 1e9]) * self.mss
        self.ssthresh = self.chance.choice([0, self.cwnd, 2 * self.cwnd, 1e30, math.inf])

    def begin(self, now_s: float) -> None:
        assert now_s == self.now_s >= self.last_s
        assert self.mss <= self.cwnd <= 2**40
        assert self.ssthresh >= 0
        self.last_s = now_s

    def on_every_ack(self, ack: airtcp.Ack) -> None:
        self.begin(ack.now_s)
        assert self.una <= ack.una_bytes <= ack.nxt_bytes
        self.una = ack.una_bytes
        assert 0 <= ack.in_flight_bytes <= ack.nxt_bytes
        assert not (ack.is_duplicate and ack.acked_bytes)
        assert ack.prior_delivered_bytes <= ack.total_delivered_bytes
        if ack.rtt_s is not None:
            assert ack.min_rtt_s is not None
            assert ack.srtt_s is not None
            # Zero on a path that is faster than the clock of timestamps.
            assert 0 <= ack.min_rtt_s <= ack.rtt_s
        if ack.delivery_rate_bps is not None:
            assert ack.delivery_rate_bps >= 0

    def check_growth(self, ack: airtcp.Ack) -> None:
        self.begin(ack.now_s)
        assert 0 < ack.acked_bytes <= ack.delivered_bytes
        assert ack.is_cwnd_limited
        assert not ack.in_recovery
        assert not ack.has_ecn_echo

    def on_slow_start(self, ack: airtcp.Ack) -> None:
        self.check_growth(ack)
        assert self.cwnd < self.ssthresh
        super().on_slow_start(ack)

    def on_ack(self, ack: airtcp.Ack) -> None:
        self.check_growth(ack)
        assert int(self.cwnd) >= int(self.ssthresh)
        if self.chance.random() < 0.1:
            self.set_window()

    def on_loss(self, loss: airtcp.Loss) -> None:
        self.begin(loss.now_s)
        assert loss.cause == "loss"
        assert loss.in_flight_bytes >= 0
        assert 0 <= loss.flight_size_bytes <= loss.nxt_bytes - loss.una_bytes
        self.has_lost = True
        self.set_window()

    def on_timeout(self, loss: airtcp.Loss) -> None:
        self.begin(loss.now_s)
        assert loss.cause == "timeout"
        self.has_lost = False
        self.set_window()

    def on_ecn(self, loss: airtcp.Loss) -> None:
        self.begin(loss.now_s)
        assert loss.cause == "ecn"
        self.set_window()

    def on_recovery_exit(self) -> None:
        self.begin(self.now_s)

    def on_spurious(self) -> None:
        self.begin(self.now_s)

    def on_restart(self) -> None:
        self.begin(self.now_s)

    def on_sent(self, sent_bytes: int, in_flight_bytes: int) -> None:
        self.begin(self.now_s)
        assert 0 < sent_bytes <= in_flight_bytes


PATHS = st.fixed_dictionaries(
    {
        "wireless.rate": st.sampled_from(["100kbit/s", "2Mbit/s", "20Mbit/s"]),
        "wireless.delay": st.sampled_from(["0ms", "10ms", "300ms"]),
        "wireless.loss.packet": st.sampled_from([0.0, 0.01, 0.2]),
        "wireless.queue.packets": st.sampled_from([1, 20, 1000]),
    },
    optional={
        "wireless.outages": st.just({"every": "3s", "length": "2s"}),
        "wireless.spikes": st.just({"period": "3s", "length": "500ms", "extra": "2s"}),
        "flow": st.sampled_from(
            [
                [{"name": "on-off", "traffic": {"kind": "on-off", "on": "1s", "off": "2s"}}],
                [{"name": "web", "traffic": {"kind": "poisson", "interval": "300ms", "size": "30kB"}}],
                [{"name": "two", "count": 2}],
            ]
        ),
    },
)
STACKS = st.sampled_from(
    [
        "",
        ":profile=bsd-1998",
        ":recovery=newreno:sack=false",
        ":ecn=true:pacing=true",
        "+eifel",
        "+f-rto",
        "+gbn",
        "+snoop",
        "+decoupling",
    ]
)


@settings(max_examples=30, derandomize=True)
@given(changes=PATHS, stack=STACKS, chance=st.integers(0, 2**31))
def test_hooks_are_called_as_promised(changes: dict[str, object], stack: str, chance: int) -> None:
    scenario = airtcp.Scenario.built_in([("duration", "6s")]).vary(changes).with_controllers(Checking)
    scheme = f"checking:seed={chance}{stack}"
    first = scenario.run(scheme, 1).to_json()
    assert first == scenario.run(scheme, 1).to_json()
