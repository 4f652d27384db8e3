"""Measures the path to a host: probes idle and loaded, path MTU, rate; logs that `fit` reads."""

from airtcp.measure.measuring import Measured, Wanted, measure

__all__ = ["Measured", "Wanted", "measure"]
