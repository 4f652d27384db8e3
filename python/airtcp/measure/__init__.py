"""Measures the path to a host: idle and loaded probes, path MTU, rate. Writes logs that `fit` reads."""

from airtcp.measure.measuring import Measured, Wanted, measure

__all__ = ["Measured", "Wanted", "measure"]
