"""What varies, the points that come of it, their runs, and what they found."""

from airtcp.sweep.errors import SweepError
from airtcp.sweep.result import SweepResult

__all__ = ["SweepError", "SweepResult"]
