"""Measures the path to a host: idle and loaded probes, path MTU, rate. Writes logs that `fit` reads.

A `Prober` sends packets and learns their fate: `icmp.py`, `ping_program.py`, `tcp_probe.py`, or `peer.py`,
which needs `server.py` at the other end; `wire.py` has their messages. `probing.py` sends evenly and
records the answers (`book.py`), `trains.py` sends back to back, `load.py` fills the path, and
`measuring.py` runs these phases in order; `radio.py` asks the
radio before and after. The logs are raw: each probe, each packet of a train. `fit` does
all estimation; `loss_by_size.py` compares the losses of two packet lengths.
"""

from airtcp.measure.measuring import Measured, Wanted, measure

__all__ = ["Measured", "Wanted", "measure"]
