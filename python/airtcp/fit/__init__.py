"""Fits a scenario to a user's own measurements."""

from airtcp.fit.arrival import NothingArrives
from airtcp.fit.fitting import Fit, fit, fit_measurements

__all__ = ["Fit", "NothingArrives", "fit", "fit_measurements"]
