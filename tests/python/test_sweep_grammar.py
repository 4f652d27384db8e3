"""What `--vary` says, and the points that come of it."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from airtcp import Scenario
from airtcp.sweep.errors import SweepError
from airtcp.sweep.grammar import Range, number_text, parse_option, value_of
from airtcp.sweep.plan import Plan
from airtcp.sweep.run import prepare

UNITS = {
    "": 1.0,
    "ms": 1e-3,
    "s": 1.0,
    "us": 1e-6,
    "Mbit/s": 1e6,
    "kbit/s": 1e3,
    "%": 1e-2,
    "kB": 1e3,
    "B": 1.0,
}


def plan(*options: str, lhs: int | None = None, sample_seed: int = 1, schemes: str = '["reno"]') -> Plan:
    scenario = Scenario.built_in([("schemes", schemes), ("seeds", "2"), ("duration", "1s")])
    return prepare(scenario, [*map(parse_option, options)], lhs=lhs, sample_seed=sample_seed).plan


def texts(found: Plan, axis: int = 0) -> list[str]:
    return [point.values[axis].text for point in found.points]


@given(st.floats(1e-9, 1e9), st.floats(1.001, 1e6), st.integers(2, 40), st.sampled_from(list(UNITS)))
def test_a_range_has_its_bounds_rises_and_is_read_back(
    low: float, ratio: float, steps: int, unit: str
) -> None:
    for scale in ("lin", "log"):
        (part,) = parse_option(f"k={low!r}{unit}..{low * ratio!r}{unit}:{scale}:{steps}").parts
        assert isinstance(part, Range)
        values = [part.value(step / (steps - 1)) for step in range(steps)]
        numbers = [value.number or 0.0 for value in values]
        assert math.isclose(numbers[0], low * UNITS[unit])
        assert math.isclose(numbers[-1], low * ratio * UNITS[unit])
        assert numbers == sorted(numbers)
        for value in values:
            again = value_of(value.text)
            assert again.number is not None
            assert math.isclose(again.number, value.number or 0.0)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_are_written_without_a_plus_and_mean_the_same(number: float) -> None:
    """A `+` would end a scheme's term."""
    text = number_text(number)
    assert "+" not in text
    assert float(text) == number


@given(st.text(max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        parse_option(text)
    except SweepError as error:
        assert "--vary" in str(error)  # noqa: PT017 most texts are read


@given(st.lists(st.from_regex(r"[a-z][a-z0-9/_]{0,8}", fullmatch=True), min_size=1, unique=True))
def test_a_list_is_its_values(values: Sequence[str]) -> None:
    vary = parse_option(f"k={', '.join(values)}")
    assert [part.text for part in vary.parts if not isinstance(part, Range)] == values


def test_commas_in_brackets_and_quotes_part_nothing() -> None:
    vary = parse_option('k={ a = [1, 2], b = "x,y" }, "u,v", [3, 4]')
    assert len(vary.parts) == 3


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ("wireless.loss.ber", "KEY=VALUES"),
        ("=1,2", "KEY=VALUES"),
        ("wireless.loss.ber=", "KEY=VALUES"),
        ("wireless.loss.ber=1,,2", "empty value"),
        ("wireless.loss.ber=1e-7,1e-7", "twice"),
        ("wireless.loss.ber=1e-7..1e-5:lag:4", "`lin` or `log`"),
        ("wireless.loss.ber=1e-7..1e-5:log", "the number of points is missing"),
        ("wireless.loss.ber=1e-7..1e-5:log:1", "must be 2 to"),
        ("wireless.loss.ber=1e-7..1e-5:log:9999999999999", "must be 2 to"),
        ("wireless.loss.ber=1e-7..1e-5:log:4:5", "`lin` or `log`"),
        ("wireless.loss.ber=1e-5..1e-7:log:4", "below the second"),
        ("wireless.loss.ber=0..1e-5:log:4", "above zero"),
        ("wireless.delay=10ms..4Mbit/s:lin:4", "different kinds"),
        ("wireless.delay=10ms..4parsec:lin:4", "4parsec"),
        ("wireless.delay=10ms..x:lin:4", "`x`"),
        ("schemes=reno,cubic", "--schemes"),
        ("seed=1,2", "seed"),
        ("wireless.lss.ber=1e-7,1e-6", "loss"),
        ("wirless.loss.ber=1e-7,1e-6", "wireless"),
        ("wireless.loss.ber=1e-7,2", "point 2 (wireless.loss.ber=2)"),
        ("scheme.rto.mn=1s,2s", "rto.min"),
        ("wireless.loss.ber=1e-9..1e-3:log:10000,0..1e-10:lin:10000,1..2:lin:10000", "point"),
    ],
)
def test_what_is_refused_is_said(option: str, said: str) -> None:
    with pytest.raises(SweepError) as refused:
        plan(option)
    assert said in str(refused.value)


def test_too_many_runs_are_refused_before_they_are_counted_out() -> None:
    with pytest.raises(SweepError, match="2000000000 runs exceed"):
        plan(
            "wireless.loss.ber=1e-9..1e-3:log:10000",
            "wireless.delay=1ms..2s:lin:10000",
            "duration=1s,2s,3s,4s,5s,6s,7s,8s,9s,10s",
        )


def test_a_key_varies_once() -> None:
    with pytest.raises(SweepError, match="already varied"):
        plan("wireless.delay=1ms,2ms", "wireless.rate,wireless.delay=1,2")


def test_all_mistakes_are_told_with_their_points() -> None:
    with pytest.raises(SweepError) as refused:
        plan("wireless.loss.ber=2,1e-6,3")
    assert "2 of 3 points are invalid" in str(refused.value)
    assert "point 1 (wireless.loss.ber=2)" in str(refused.value)
    assert "point 3 (wireless.loss.ber=3)" in str(refused.value)


def test_a_grid_has_every_combination_the_last_key_fastest() -> None:
    found = plan("wireless.delay=10ms,20ms", "wireless.loss.ber=0,1e-6..1e-5:log:2")
    pairs = [tuple(value.text for value in point.values) for point in found.points]
    assert pairs == [(d, b) for d in ("10ms", "20ms") for b in ("0", "1e-06", "1e-05")]
    assert [point.number for point in found.points] == [1, 2, 3, 4, 5, 6]


def test_coupled_keys_take_the_same_values() -> None:
    found = plan("wireless.delay,wireless.reverse.delay=10ms,20ms")
    assert ("wireless.reverse.delay", "20ms") in found.changes(found.points[1])
    assert ("wireless.delay", "20ms") in found.changes(found.points[1])


def test_a_key_of_whole_numbers_takes_only_such() -> None:
    assert texts(plan("flow.main.count=1..10:log:4")) == ["1", "2", "5", "10"]
    assert texts(plan("rto.factor=1..2:lin:3")) == ["1", "1.5", "2"]


def test_keys_of_schemes_go_into_their_terms() -> None:
    both = plan("rto.min=200ms,1s", "cubic.beta=0.5,0.7", schemes='["reno", "cubic:beta=0.6+decoupling"]')
    assert both.labels(both.points[0]) == [
        "reno:rto.min=200ms",
        "cubic:beta=0.5:rto.min=200ms+decoupling",
    ]
    every = plan("scheme.profile=linux,bsd-1998")
    assert every.labels(every.points[1]) == ["reno:profile=bsd-1998"]


@given(st.integers(1, 60), st.integers(0, 2**32))
def test_a_latin_hypercube_has_one_point_in_each_stratum(count: int, seed: int) -> None:
    assume(count > 0)
    options = ("wireless.loss.ber=1e-7..1e-5:log", "wireless.delay=10ms..200ms", "profile=linux,rfc")
    found = plan(*options, lhs=count, sample_seed=seed)
    assert len(found.points) == count
    bers = [math.log(point.values[0].number or 1, 100) + 3.5 for point in found.points]
    delays = [((point.values[1].number or 0) - 0.01) / 0.19 for point in found.points]
    for shares in (bers, delays):
        # A value at the edge of its stratum can be rounded across it.
        strata = sorted(shares)
        assert all(
            stratum / count - 1e-4 <= share <= (stratum + 1) / count + 1e-4
            for stratum, share in enumerate(strata)
        )
    linux = texts(found, 2).count("linux")
    assert abs(linux - count / 2) < 1
    assert plan(*options, lhs=count, sample_seed=seed).points == found.points


def test_another_sample_seed_is_another_hypercube() -> None:
    options = ("wireless.loss.ber=1e-7..1e-5:log", "wireless.delay=10ms..200ms")
    assert texts(plan(*options, lhs=9)) != texts(plan(*options, lhs=9, sample_seed=2))


def test_a_hypercube_counts_its_own_points() -> None:
    with pytest.raises(SweepError, match="remove `:4`"):
        plan("wireless.loss.ber=1e-7..1e-5:log:4", lhs=4)
