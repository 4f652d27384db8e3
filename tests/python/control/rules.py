"""Native controllers' rules in Python, to the last bit of their arithmetic."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction

import airtcp


class PyReno(airtcp.CongestionControl):
    """Reno's congestion avoidance (RFC 5681 §3.1): whole bytes are credited when they have come together."""

    def __init__(self) -> None:
        self.credit = 0.0

    def on_ack(self, ack: airtcp.Ack) -> None:
        self.grow(ack.acked_bytes * self.mss / self.cwnd)

    def on_loss(self, loss: airtcp.Loss) -> None:
        self.ssthresh = max(int(0.5 * loss.flight_size_bytes), 2 * self.mss)
        self.cwnd = min(self.cwnd, self.ssthresh)

    def grow(self, size: float) -> None:
        self.credit += max(size, 0.0)
        whole = int(self.credit)
        self.credit -= whole
        self.cwnd += whole


@dataclass(frozen=True)
class Epoch:
    """A congestion avoidance stage of CUBIC (RFC 9438). Windows in segments."""

    start_ns: int
    w_max: float
    k: float
    w_est: float


class PyCubic(PyReno):
    """CUBIC without what only an application that pauses needs (RFC 9438 §4.2, §5.8)."""

    beta = airtcp.parameter(0.7, minimum=0.1, maximum=0.95)
    c = airtcp.parameter(0.4, minimum=0.001, maximum=100.0)

    def __init__(self) -> None:
        super().__init__()
        self.w_max: float | None = None
        self.cwnd_prior = 0.0
        self.epoch: Epoch | None = None
        self.saved: tuple[float | None, float, Epoch | None] = (None, 0.0, None)

    def on_every_ack(self, ack: airtcp.Ack) -> None:
        if self.cwnd < self.ssthresh:
            self.epoch = None

    def on_ack(self, ack: airtcp.Ack) -> None:
        cwnd = self.cwnd / self.mss
        acked = ack.acked_bytes / self.mss
        now_ns = nanoseconds(ack.now_s)
        epoch = self.epoch or self.begin(now_ns, cwnd)
        alpha = 1.0 if epoch.w_est >= self.cwnd_prior else 3.0 * (1.0 - self.beta) / (1.0 + self.beta)
        self.epoch = epoch = replace(epoch, w_est=epoch.w_est + alpha * acked / cwnd)
        t_ns = now_ns - epoch.start_ns
        if self.w_cubic(epoch, t_ns) < epoch.w_est:
            growth = epoch.w_est - cwnd
        else:
            later = self.w_cubic(epoch, t_ns + nanoseconds(ack.srtt_s or 0.0))
            growth = (min(max(later, cwnd), 1.5 * cwnd) - cwnd) / cwnd * acked
        self.grow(min(growth, acked) * self.mss)

    def begin(self, now_ns: int, cwnd: float) -> Epoch:
        w_max = max(cwnd if self.w_max is None else self.w_max, cwnd)
        return Epoch(now_ns, w_max, cube_root((w_max - cwnd) / self.c), cwnd)

    def w_cubic(self, epoch: Epoch, t_ns: int) -> float:
        from_plateau = t_ns / 1e9 - epoch.k
        return self.c * from_plateau * from_plateau * from_plateau + epoch.w_max

    def on_loss(self, loss: airtcp.Loss) -> None:
        if loss.cause != "ecn":
            self.saved = (self.w_max, self.cwnd_prior, self.epoch)
        cwnd = self.cwnd / self.mss
        if loss.cause == "timeout":
            self.w_max = None
        elif self.w_max is not None and cwnd < self.w_max:
            self.w_max = cwnd * (1.0 + self.beta) / 2.0
        else:
            self.w_max = cwnd
        self.cwnd_prior, self.epoch = cwnd, None
        self.ssthresh = max(int(self.beta * loss.flight_size_bytes), 2 * self.mss)
        self.cwnd = min(self.cwnd, self.ssthresh)

    def on_spurious(self) -> None:
        self.w_max, self.cwnd_prior, self.epoch = self.saved

    def on_restart(self) -> None:
        self.epoch = None


def nanoseconds(time_s: float) -> int:
    return round(time_s * 1e9)


def cube_root(value: float) -> float:
    """The nearest double: C libraries differ in the last bit."""
    guess: float = value ** (1 / 3)
    near = [guess, math.nextafter(guess, 0.0), math.nextafter(guess, math.inf)]
    middles = sorted(near)
    exact = Fraction(value)
    lower = (Fraction(middles[0]) + Fraction(middles[1])) / 2
    upper = (Fraction(middles[1]) + Fraction(middles[2])) / 2
    if exact < lower**3:
        return middles[0]
    return middles[1] if exact < upper**3 else middles[2]
