"""A column of times: numbers of any epoch and unit, or dates in any form; all together tell their meaning."""

from __future__ import annotations

import math
from array import array
from pathlib import Path

import numpy as np

from airtcp.fit import dates
from airtcp.fit.measurement import Floats
from airtcp.fit.readers import FileError

# Seconds since 1970 have 10 digits, milliseconds 13, microseconds 16, nanoseconds 19.
_EPOCHS = ((1e17, 1e-9), (1e14, 1e-6), (1e11, 1e-3))
_DAY_S = 86_400.0
_SPREADSHEET_DAYS = (25_569.0, 80_000.0)
"""Days since 1899 as spreadsheets count them, from 1970 on."""
_SAME_STEP = 1.5


class Clock:
    """The times of a column, row by row."""

    def __init__(self, heading: str, scale: float | None) -> None:
        self.heading = heading
        self.scale = scale
        self.times_s = array("d")
        self.is_numeric = True
        self.has_dates = True
        self._orders: tuple[array[float], ...] | None = None

    def take(self, text: str) -> bool:
        """Adds a row's time; returns False if it is none."""
        number = _number(text)
        moment = dates.moment(text) if number is None else dates.Moment(number, has_date=False)
        if moment is None:
            return False
        self.is_numeric = self.is_numeric and number is not None
        self.has_dates = self.has_dates and moment.has_date
        if self._orders is None and moment.orders_s is not None:
            self._orders = tuple(array("d", self.times_s) for _ in dates.ORDERS)
        if self._orders is not None:
            orders_s = moment.orders_s or (moment.seconds,) * len(dates.ORDERS)
            for order, seconds in zip(self._orders, orders_s, strict=True):
                order.append(seconds)
        self.times_s.append(moment.seconds)
        return True

    def seconds(self, path: Path) -> tuple[Floats, list[str]]:
        """Returns the times in seconds of some epoch, and what was assumed.

        # Raises
        FileError: it is not decided which number of the dates is the day.
        """
        if self._orders is not None:
            return self._ordered(path, [np.array(order) for order in self._orders])
        times = np.array(self.times_s)
        if self.is_numeric:
            return self._scaled(times)
        return (times if self.has_dates else _over_midnight(times)), []

    def _scaled(self, times: Floats) -> tuple[Floats, list[str]]:
        if self.scale is not None:
            return times * self.scale, []
        greatest = float(np.abs(times).max())
        scale = next((scale for least, scale in _EPOCHS if greatest > least), None)
        if scale is not None or greatest > _EPOCHS[-1][0] / 1e3:
            return times * (scale or 1.0), []
        if self._are_days(times):
            return times * _DAY_S, []
        return times, [f"Column `{self.heading}` has no unit: seconds are assumed."] if greatest else []

    def _are_days(self, times: Floats) -> bool:
        least, greatest = float(times.min()), float(times.max())
        in_range = _SPREADSHEET_DAYS[0] < least and greatest < _SPREADSHEET_DAYS[1]
        steps = np.diff(times)
        return (
            in_range
            and len(steps) > 0
            and 0 < float(np.median(np.abs(steps))) < 1
            and bool((times % 1).any())
        )

    def _ordered(self, path: Path, orders: list[Floats]) -> tuple[Floats, list[str]]:
        """Takes the only order in which the dates increase, or else the one without jumps between days."""
        all_known = [
            (name, times) for name, times in zip(dates.ORDERS, orders, strict=True) if _is_known(times)
        ]
        possible = [each for each in all_known if bool((np.diff(each[1]) >= 0).all())] or all_known
        if not possible:
            raise FileError(
                f"{path}: column `{self.heading}`: no order of day, month and year fits all dates"
            )
        possible.sort(key=lambda each: float(np.ptp(each[1])))
        name, times = possible[0]
        apart = [other for other in possible[1:] if np.ptp(other[1]) != np.ptp(times)]
        if not apart:
            return times, []
        usual = [float(np.median(np.abs(np.diff(each)))) for _, each in (possible[0], *apart)]
        if max(usual) > _SAME_STEP * min(usual):
            names = " or ".join(other for other, _ in (possible[0], *apart))
            raise FileError(
                f"{path}: column `{self.heading}`: its dates could be {names}; "
                "write them as 2026-11-22 03:08:50"
            )
        return times, [f"The dates of `{self.heading}` are read as {name}: so they have no gaps."]


def _number(text: str) -> float | None:
    """Returns a number of seconds or other units; no epoch gives 14 digits to a time of this century."""
    if text.isdecimal() and len(text) == len("20261122030850"):
        return None
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _is_known(times: Floats) -> bool:
    return not bool(np.isnan(times).any())


def _over_midnight(times: Floats) -> Floats:
    """Adds a day each time that a time of day steps back by more than half a day."""
    days = np.concatenate(([0.0], np.cumsum(np.diff(times) < -_DAY_S / 2)))
    later: Floats = times + days * _DAY_S
    return later
