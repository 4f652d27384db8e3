"""Dates and times as `date`, spreadsheets and programs print them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from airtcp.fit.clock import Clock
from airtcp.fit.dates import moment
from airtcp.fit.readers import FileError

WHEN = datetime(2022, 3, 7, 18, 47, 41, tzinfo=UTC)
FORMS = """\
Mon Mar 07 18:47:41 UTC 2022
Mon Mar  7 18:47:41 UTC 2022
Mon 07 Mar 2022 06:47:41 PM UTC
Mon  7 Mar 18:47:41 GMT 2022
Mo 7. Mär 2022 19:47:41 CET
Mo 7. Mär 19:47:41 MEZ 2022
lun. 07 mars 2022 18:47:41 UTC
lun. mars  7 18:47:41 UTC 2022
mar 7 mar 2022 18:47:41 UTC
lun 7 mar 2022, 18:47:41, UTC
seg 07 mar 2022 18:47:41 UTC
ma 07 mrt 2022 18:47:41 UTC
pon, 7 mar 2022, 18:47:41 UTC
Пн 07 мар 2022 18:47:41 UTC
7. března 2022 18:47:41
2022年  3月  7日 月曜日 18:47:41 UTC
2022年 03月 07日 星期一 18:47:41 UTC
Mon, 07 Mar 2022 19:47:41 +0100
Mon Mar 7 2022 18:47:41 GMT+0000 (UTC)
March 7, 2022 6:47:41 p.m.
7 March 2022 at 6:47:41 PM UTC
07/Mar/2022:18:47:41 +0000
7-Mar-2022 18:47:41
07-Mar-22 6:47:41 PM
07.03.2022 18:47:41
03/17/2022 06:47:41 PM
2022-03-07 18:47:41
2022-03-07T18:47:41.000Z
2022-03-07 18:47:41,000
2022-03-07T19:47:41+01:00
2022-03-07 18:47:41 UTC
2022/03/07 18:47:41
2022.03.07_18.47.41
2022-03-07_18-47-41
20220307184741
20220307T184741
1646678861
"""


@pytest.mark.parametrize("text", FORMS.splitlines())
def test_a_moment_in_any_form(text: str) -> None:
    found = moment(text)
    assert found is not None
    assert found.has_date
    assert found.seconds == (WHEN.replace(day=17) if "17" in text else WHEN).timestamp()


@pytest.mark.parametrize("text", ["18:47:41", "6:47:41 PM", "18:47:41 UTC", "6:47:41 p.m."])
def test_a_time_without_a_date(text: str) -> None:
    found = moment(text)
    assert found is not None
    assert (found.seconds, found.has_date) == (67661.0, False)


@pytest.mark.parametrize("text", [
    "", "hello", "12.5", "192.0.2.1", "10.0.0.1:80", "99:99:99", "::1", "13:00 pm", "2022-13-45 10:00:00",
])  # fmt: skip
def test_no_time(text: str) -> None:
    assert moment(text) is None


ROWS = st.lists(st.integers(1, 5 * 3600), min_size=3, max_size=40)
BEGINS = st.datetimes(datetime(2001, 1, 1), datetime(2037, 1, 1)).map(
    lambda at: at.replace(microsecond=0, tzinfo=UTC)
)
PATTERNS = st.sampled_from([
    "%a %b %d %H:%M:%S UTC %Y", "%a %d %b %Y %I:%M:%S %p UTC", "%Y-%m-%dT%H:%M:%SZ", "%Y/%m/%d %H:%M:%S",
    "%d.%m.%Y %H:%M:%S", "%d/%b/%Y:%H:%M:%S +0000", "%Y.%m.%d_%H.%M.%S", "%Y%m%d%H%M%S", "%d-%b-%y %H:%M:%S",
    "%m/%d/%Y %I:%M:%S %p", "%d/%m/%Y %H:%M:%S", "%b %d, %Y, %I:%M:%S %p",
])  # fmt: skip


@given(begin=BEGINS, steps=ROWS, pattern=PATTERNS)
def test_a_column_keeps_its_steps_or_is_refused_by_name(
    begin: datetime, steps: list[int], pattern: str
) -> None:
    times = [begin + timedelta(seconds=sum(steps[:n])) for n in range(len(steps) + 1)]
    clock = Clock("When", None)
    assert all(clock.take(f"{at:{pattern}}") for at in times)
    refused = ""
    try:
        found, _ = clock.seconds(Path("x.csv"))
    except FileError as error:
        refused = str(error)
    if refused:
        assert pattern in ("%m/%d/%Y %I:%M:%S %p", "%d/%m/%Y %H:%M:%S")
        assert "`When`: its dates could be" in refused
    else:
        assert np.diff(found).tolist() == steps


@given(begin=BEGINS, steps=ROWS, scale=st.sampled_from([1, 1_000, 1_000_000, 1_000_000_000]))
def test_an_epoch_in_any_unit(begin: datetime, steps: list[int], scale: int) -> None:
    clock = Clock("epoch", None)
    times = [int(begin.timestamp()) + sum(steps[:n]) for n in range(len(steps) + 1)]
    assert all(clock.take(str(at * scale)) for at in times)
    found, notes = clock.seconds(Path("x.csv"))
    np.testing.assert_allclose(np.diff(found), steps, atol=1e-3)
    assert notes == []


def of(*values: str) -> tuple[list[float], list[str]]:
    clock = Clock("t", None)
    assert all(clock.take(value) for value in values)
    found, notes = clock.seconds(Path("x.csv"))
    return (found - found[0]).tolist(), notes


def test_the_other_rows_tell_which_number_is_the_day() -> None:
    assert of("03/07/2022 10:00", "03/07/2022 10:01", "13/07/2022 10:00")[0] == [0, 60, 864_000]
    assert of("07/03/2022 23:59:58", "07/03/2022 23:59:59", "08/03/2022 00:00:00", "08/03/2022 00:00:01")[
        0
    ] == [0, 1, 2, 3]


def test_midnight_and_summer_time_are_no_jumps() -> None:
    assert of("23:59:59", "00:00:00", "00:00:01")[0] == [0, 1, 2]
    assert of("Sun Mar 27 01:59:59 CET 2022", "Sun Mar 27 03:00:00 CEST 2022")[0] == [0, 1]


def test_days_as_spreadsheets_count_them() -> None:
    assert of("44627.5", "44627.75")[0] == [0, 21_600]


def test_seconds_that_are_assumed_are_said() -> None:
    assert of("0", "1.5") == ([0, 1.5], ["Column `t` has no unit: seconds are assumed."])
