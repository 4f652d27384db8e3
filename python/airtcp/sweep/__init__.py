"""What varies in a sweep, its points, their runs, and the results."""

from airtcp.sweep.errors import SweepError
from airtcp.sweep.result import SweepResult

__all__ = ["SweepError", "SweepResult"]
