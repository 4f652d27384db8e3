"""Imports of crates: which files use which, and which arrows run up."""

from __future__ import annotations

import sys
from itertools import permutations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

SCRIPTS = Path(__file__).parents[2] / "scripts"
sys.path.append(str(SCRIPTS))
import arrows  # noqa: E402
from rust_modules import Crate, leaves  # noqa: E402

SOURCES = {
    "lib.rs": "mod low;\nmod high;\npub mod folder;\npub use folder::Inner;",
    "low.rs": 'pub struct Low;\n// use crate::high::High;\nconst TEXT: &str = "use crate::high::High;";\n'
    "#[cfg(test)]\nmod tests {\n    use crate::high::High;\n}",
    "high.rs": "use crate::low::{self, Low as L};\nuse crate::Inner;\npub struct High;\nfn f() { low::g(); }",
    "folder/mod.rs": "mod inner;\nmod other;\npub use inner::Inner;\npub const ROOM: u8 = 1;",
    "folder/inner.rs": "use super::other::Other;\npub struct Inner;\nfn f() { super::super::low::f::<L>(); }",
    "folder/other.rs": "use super::ROOM;\nuse serde::serde;\npub struct Other(crate::high::High);",
}


@pytest.fixture
def crate(tmp_path: Path) -> Path:
    for name, text in SOURCES.items():
        file = tmp_path / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
    return tmp_path


def test_a_use_is_followed_to_the_file_that_defines_the_name(crate: Path) -> None:
    uses = {
        str(file.relative_to(crate)): {
            str(other.relative_to(crate)): names for other, names in others.items()
        }
        for file, others in Crate(crate / "lib.rs").uses().items()
    }
    assert uses == {
        "lib.rs": {"folder/inner.rs": {"Inner"}},
        "low.rs": {},
        "high.rs": {"low.rs": {"Low", "g"}, "folder/inner.rs": {"Inner"}},
        "folder/mod.rs": {"folder/inner.rs": {"Inner"}},
        "folder/inner.rs": {"folder/other.rs": {"Other"}, "low.rs": {"f"}},
        "folder/other.rs": {"folder/mod.rs": {"ROOM"}, "high.rs": {"High"}},
    }


@pytest.mark.parametrize(
    ("tree", "names"),
    [
        ("crate::a::B", [("B", ("crate", "a", "B"))]),
        ("a::{self, b::{c as d, E}, f::*}", [
            ("a", ("a",)), ("d", ("a", "b", "c")), ("E", ("a", "b", "E")), ("*", ("a", "f"))
        ]),
    ],
)  # fmt: skip
def test_a_tree_of_imports_is_taken_apart(tree: str, names: list[tuple[str, tuple[str, ...]]]) -> None:
    assert list(leaves(tree)) == names


def test_rooms_in_a_circle_are_told_with_the_names(crate: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert arrows.main([str(crate), "--check", "1"]) == 0
    capsys.readouterr()
    assert arrows.main([str(crate), "--check", "0"]) == 1
    told = capsys.readouterr().out
    assert "arrows up 1, rooms in circles 2, files in circles 4, floors 3" in told
    assert "up: folder -> high\n        folder/other.rs uses High of high.rs" in told
    assert "circle: folder, high" in told


ROOMS = "abcde"


@st.composite
def graphs(draw: st.DrawFn) -> dict[str, frozenset[str]]:
    return {room: draw(st.frozensets(st.sampled_from(ROOMS))) - {room} for room in ROOMS}


@given(graphs())
def test_as_few_arrows_run_up_as_possible(graph: dict[str, frozenset[str]]) -> None:
    up = [pair for circle in arrows.in_circles(graph) for pair in arrows.least_up(graph, circle)]
    fewest = min(
        sum(order.index(w) > order.index(v) for v in ROOMS for w in graph[v]) for order in permutations(ROOMS)
    )
    assert len(up) == fewest
    without = {v: frozenset(w for w in graph[v] if (v, w) not in up) for v in ROOMS}
    assert arrows.in_circles(without) == []


@given(graphs())
def test_a_large_circle_is_left_without_the_arrows_up_too(graph: dict[str, frozenset[str]]) -> None:
    exact, arrows.EXACT = arrows.EXACT, 0
    up = [pair for circle in arrows.in_circles(graph) for pair in arrows.least_up(graph, circle)]
    arrows.EXACT = exact
    assert arrows.in_circles({v: frozenset(w for w in graph[v] if (v, w) not in up) for v in ROOMS}) == []
