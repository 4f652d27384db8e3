"""A person's own measurements become a scenario."""

from airtcp.fit.fitting import Fit, fit, fit_measurements

__all__ = ["Fit", "fit", "fit_measurements"]
