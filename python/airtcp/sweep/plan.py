"""The points of a sweep: a grid over what varies, or a Latin hypercube."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from random import Random

from airtcp._engine import scheme_keys
from airtcp.facts.scheme import Scheme
from airtcp.sweep.errors import SweepError
from airtcp.sweep.grammar import Range, Unit, Value, Vary, unit_of

MAX_RUNS = 1_000_000
"""A larger number is a mistake: the rows alone would fill a gigabyte."""
LOGARITHMIC_FROM = 30.0
"""Ratio of the largest to the smallest value of a list from which figures have a logarithmic axis."""


@dataclass(frozen=True)
class Axis:
    """One key that varies, as columns and figures show it."""

    name: str
    keys: tuple[str, ...]
    """Keys of the scenario."""
    scheme_keys: tuple[str, ...]
    """Keys of schemes."""
    spec: str
    unit: Unit | None
    """None if its values are not numbers of one kind."""
    logarithmic: bool

    @property
    def is_number(self) -> bool:
        return self.unit is not None

    @property
    def label(self) -> str:
        return f"{self.name} [{self.unit.name}]" if self.unit and self.unit.name else self.name


@dataclass(frozen=True)
class Point:
    """A combination of values, in the order of the plan's axes."""

    number: int
    """Counted from 1."""
    values: tuple[Value, ...]


@dataclass(frozen=True)
class Plan:
    """What is to run: points × schemes × seeds, in this order."""

    axes: tuple[Axis, ...]
    points: Sequence[Point]
    schemes: tuple[str, ...]
    seeds: tuple[int, ...]
    hypercube: bool

    @property
    def runs(self) -> int:
        return len(self.points) * len(self.schemes) * len(self.seeds)

    def describe(self, point: Point) -> str:
        pairs = (f"{axis.name}={value.text}" for axis, value in zip(self.axes, point.values, strict=True))
        return f"point {point.number} ({', '.join(pairs)})"

    def changes(self, point: Point) -> list[tuple[str, str]]:
        """Returns what the point sets, schemes included, as pairs for `--set`."""
        pairs = [
            (key, value.text)
            for axis, value in zip(self.axes, point.values, strict=True)
            for key in axis.keys
        ]
        return [*pairs, ("schemes", f"[{', '.join(map(_quoted, self.labels(point)))}]")]

    def labels(self, point: Point) -> list[str]:
        """Returns the plan's schemes as they run at the point."""
        labels = list(self.schemes)
        for axis, value in zip(self.axes, point.values, strict=True):
            for key in axis.scheme_keys:
                labels = [_with_key(label, key, value.text) for label in labels]
        return labels

    @property
    def size(self) -> str:
        points, schemes, seeds = len(self.points), len(self.schemes), len(self.seeds)
        return (
            f"{points} point{'s' * (points != 1)} × {schemes} scheme{'s' * (schemes != 1)} × "
            f"{seeds} seed{'s' * (seeds != 1)} = {self.runs} runs"
        )


def make_plan(
    varies: Sequence[Vary],
    schemes: Sequence[str],
    seeds: Sequence[int],
    accepts: Callable[[Plan, Point], bool],
    *,
    hypercube: int | None = None,
    sample_seed: int = 1,
) -> Plan:
    """Makes the plan. Raises SweepError. `accepts` says whether the scenario takes the values of a point."""
    schemes = tuple(schemes)
    check(varies, hypercube)
    counts = [hypercube] if hypercube else [_count(vary) for vary in varies]
    _check_size([*counts, len(schemes), len(seeds)])
    axes = tuple(_axis(vary, schemes) for vary in varies)

    def takes(axis: Axis, value: Value) -> bool:
        alone = Plan((axis,), (), schemes, tuple(seeds), False)
        return accepts(alone, Point(1, (value,)))

    whole = [_only_whole(vary, axis, takes) for vary, axis in zip(varies, axes, strict=True)]
    rows = _latin_hypercube(varies, whole, hypercube, sample_seed) if hypercube else _grid(varies, whole)
    points = [Point(number, tuple(values)) for number, values in enumerate(rows, 1)]
    return Plan(axes, points, schemes, tuple(seeds), hypercube is not None)


def check(varies: Sequence[Vary], hypercube: int | None) -> None:
    """Refuses what no scenario could take. Raises SweepError."""
    _check_keys(varies)
    _check_steps(varies, hypercube)


def _check_keys(varies: Sequence[Vary]) -> None:
    if not varies:
        raise SweepError("nothing varies: name a key, for example --vary wireless.loss.ber=1e-7..1e-5:log:12")
    seen = set[str]()
    for vary in varies:
        for key in vary.keys:
            if key in seen:
                raise SweepError(f"--vary {key}: already varied; give all its values together")
            if key in ("schemes", "seed", "seeds"):
                raise SweepError(
                    f"--vary {key}: all points run the same schemes and seeds; set them with --schemes, "
                    "--seeds and --set seed=N"
                )
            seen.add(key)


def _check_steps(varies: Sequence[Vary], hypercube: int | None) -> None:
    for vary in varies:
        for part in vary.parts:
            if not isinstance(part, Range):
                continue
            shown = f"--vary {vary.name}={vary.spec}"
            if hypercube is None and part.steps is None:
                raise SweepError(
                    f"{shown}: the number of points is missing; write e.g. {vary.spec}:lin:5 or …:log:5"
                )
            if hypercube is not None and part.steps is not None and vary.range:
                raise SweepError(f"{shown}: --lhs sets the number of points; remove `:{part.steps}`")
            if hypercube is not None and not vary.range:
                raise SweepError(f"{shown}: with --lhs a key takes one range, or a list of values")


def _count(vary: Vary) -> int:
    return sum(part.steps or 1 if isinstance(part, Range) else 1 for part in vary.parts)


def _check_size(factors: Sequence[int]) -> None:
    runs = math.prod(factors)
    if runs > MAX_RUNS:
        product = " × ".join(map(str, factors))
        raise SweepError(
            f"{product} = {runs} runs exceed {MAX_RUNS}: use fewer values or seeds, or sample the points "
            "with --lhs N"
        )


def _axis(vary: Vary, schemes: Sequence[str]) -> Axis:
    units = [part.unit if isinstance(part, Range) else unit_of(part.text) for part in vary.parts]
    kinds = {unit and unit.dimension for unit in units}
    alike = len(kinds) == 1 and None not in kinds
    unit = next((unit for unit in units if unit and unit.name), units[0])
    keys = [key for key in vary.keys if not _of_schemes(key, schemes)]
    return Axis(
        name=vary.name,
        keys=tuple(keys),
        scheme_keys=tuple(key for key in vary.keys if key not in keys),
        spec=vary.spec,
        unit=unit if alike else None,
        logarithmic=alike and _is_logarithmic(vary),
    )


def _is_logarithmic(vary: Vary) -> bool:
    if any(isinstance(part, Range) for part in vary.parts):
        return any(isinstance(part, Range) and part.scale == "log" for part in vary.parts)
    numbers = [part.number or 0.0 for part in vary.parts if isinstance(part, Value)]
    return min(numbers) > 0 and max(numbers) > LOGARITHMIC_FROM * min(numbers)


def _only_whole(vary: Vary, axis: Axis, takes: Callable[[Axis, Value], bool]) -> bool:
    """Returns whether the key takes only whole numbers; a range between two of them is then rounded."""
    for part in vary.parts:
        if isinstance(part, Range) and part.whole_bounds:
            shares = [step / 7 for step in range(1, 7)]
            broken = next((share for share in shares if not part.at(share).is_integer()), None)
            if broken is not None and not takes(axis, part.value(broken)):
                return takes(axis, part.value(broken, whole=True))
    return False


def _grid(varies: Sequence[Vary], whole: Sequence[bool]) -> Iterator[tuple[Value, ...]]:
    return itertools.product(*map(_values, varies, whole))


def _values(vary: Vary, whole: bool) -> list[Value]:
    values = list[Value]()
    for part in vary.parts:
        if isinstance(part, Range):
            steps = part.steps or 2
            values += [part.value(step / (steps - 1), whole=whole) for step in range(steps)]
        else:
            values.append(part)
    # Rounded numbers may coincide.
    return list({value.text: value for value in values}.values())


def _latin_hypercube(
    varies: Sequence[Vary], whole: Sequence[bool], count: int, sample_seed: int
) -> Iterator[tuple[Value, ...]]:
    """Puts one point into each of `count` equal strata of each key (McKay, Beckman and Conover 1979).

    It draws only from `Random.random`, whose sequence Python keeps between versions.
    """
    chance = Random(sample_seed)
    columns = []
    for vary, only_whole in zip(varies, whole, strict=True):
        keys = [chance.random() for _ in range(count)]
        strata = sorted(range(count), key=keys.__getitem__)
        columns.append(
            [_sampled(vary, only_whole, (stratum + chance.random()) / count) for stratum in strata]
        )
    return zip(*columns, strict=True)


def _sampled(vary: Vary, whole: bool, share: float) -> Value:
    if vary.range:
        return vary.range.value(share, whole=whole)
    values = [part for part in vary.parts if isinstance(part, Value)]
    return values[int(share * len(values))]


_STACK_KEYS = frozenset(key["name"] for key in scheme_keys())


def _of_schemes(key: str, schemes: Sequence[str]) -> bool:
    """Returns whether it is a key of schemes: `scheme.KEY`, `NAME.KEY`, or one that all stacks have."""
    first, dot, _ = key.partition(".")
    named = first == "scheme" or any(first in Scheme(scheme).names for scheme in schemes)
    return key in _STACK_KEYS or (bool(dot) and named)


def _with_key(scheme: str, key: str, value: str) -> str:
    """Returns the scheme with the key in its first term, or in the term that the key names, if it has
    that."""
    first, _, inner = ("scheme", "", key) if key in _STACK_KEYS else key.partition(".")
    return Scheme(scheme).with_key(inner, _bare(value), None if first == "scheme" else first).text


def _bare(value: str) -> str:
    return re.sub(r'^(["\'])(.*)\1$', r"\2", value)


def _quoted(label: str) -> str:
    return '"' + label.replace("\\", "\\\\").replace('"', '\\"') + '"'
