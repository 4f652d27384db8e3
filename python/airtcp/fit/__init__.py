"""Fits a scenario to a user's own measurements.

Readers make `Measurement`s, in which nothing is guessed; of a file that measures several paths, `Subjects`,
from which `subjects.py` chooses by name (`--only`) or refuses. `evidence.py` combines several: the
best-informed file answers each question, and contradictions are reported. `estimates.py` calls the
estimators once: `delay.py` (base delay, and a log-normal distribution above it), `correlation.py`,
`episodes.py` (spikes and stalls), `kinds/` (Wi-Fi, LTE, Starlink), `loss.py` and `hidden_chain.py`
(bursts), `overflow.py` (what a transfer's own queue dropped). `rate.py`, `path_delay.py`, `path_loss.py` and
`path_kind.py` write the keys into a `Draft`, each with its `Finding` or `Unknown`; `fitting.py` turns it into
the document. `closure/` closes the round
trip: it simulates a measured transfer on candidate paths (`bottleneck.py`) until it does again what it did,
writes that (`path_settled.py`), and checks the final path in the same way (`closing.py`); where the check
fails, `advise` recommends nothing. A ping samples in time, not per packet: `jitter.interval` and
`loss.burst.interval` let the simulator do the same, with an Ornstein–Uhlenbeck process and a two-state
chain in continuous time, so that the state depends on elapsed time and not on the number of packets.
"""

from airtcp.fit.arrival import NothingArrives
from airtcp.fit.fitting import Fit, fit, fit_measurements

__all__ = ["Fit", "NothingArrives", "fit", "fit_measurements"]
