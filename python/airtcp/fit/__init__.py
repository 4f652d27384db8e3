"""Fits a scenario to a user's own measurements."""

from airtcp.fit.fitting import Fit, fit, fit_measurements

__all__ = ["Fit", "fit", "fit_measurements"]
