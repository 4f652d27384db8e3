"""Draws the imports in folders of Rust: which arrows run up, and which rooms and files stand in a circle.

    scripts/arrows.py                            a line for each crate
    scripts/arrows.py crates/sim/src             and its floors; of each folder in it, the arrows that run up
    scripts/arrows.py crates/proto/src/tcp       only what is in that folder
    scripts/arrows.py --check 0 crates/sim/src   fails where more arrows than that run up

A folder's rooms are the files and folders right below it, except its own `mod.rs` or `lib.rs`: that names
its rooms, and they may use what it declares. Rooms stand on floors, each of which uses only what is on
floors below. Where rooms use each other in a circle, as few arrows as possible are taken to run up. An arrow
goes to the file that defines a name, whoever re-exports it. Tests are left out. Standard library only.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from rust_modules import Crate, Uses

ROOT = Path(__file__).resolve().parent.parent
EXACT = 14
"""So many rooms in a circle, and every order of them is tried."""

Graph = Mapping[str, frozenset[str]]


@dataclass(frozen=True)
class Arrow:
    """One room uses another that is not below it; `because` says which files use which names."""

    origin: str
    target: str
    because: list[str]


@dataclass(frozen=True)
class Drawing:
    """The rooms of a folder on their floors, the lowest first."""

    folder: Path
    floors: list[list[str]]
    up: list[Arrow]
    circles: list[list[str]]


def draw(folder: Path, uses: Uses) -> Drawing:
    """Draws the rooms of `folder`."""
    between: dict[str, dict[str, list[str]]] = {}
    for file, targets in sorted(uses.items()):
        if origin := _room(folder, file):
            between.setdefault(origin, {})
            for target_file, names in sorted(targets.items()):
                target = _room(folder, target_file)
                if target and target != origin:
                    because = f"{file.relative_to(folder)} uses {', '.join(sorted(names))}"
                    because += f" of {target_file.relative_to(folder)}"
                    between[origin].setdefault(target, []).append(because)
    graph = {room: frozenset(targets) for room, targets in between.items()}
    circles = in_circles(graph)
    against = [pair for circle in circles for pair in least_up(graph, circle)]
    up = [Arrow(origin, target, between[origin][target]) for origin, target in sorted(against)]
    return Drawing(folder, _floors(graph, set(against)), up, circles)


def _room(folder: Path, file: Path) -> str | None:
    if folder not in file.parents or (file.parent == folder and file.stem in ("mod", "lib", "main")):
        return None
    return file.relative_to(folder).parts[0].removesuffix(".rs")


def in_circles(graph: Graph) -> list[list[str]]:
    """The circles of `graph`: largest sets of more than one that all reach each other."""
    reach = {origin: _reached(graph, origin) for origin in graph}
    circles = {tuple(sorted(w for w in reach[v] if v in reach[w])) for v in graph}
    return [list(circle) for circle in sorted(circles) if len(circle) > 1]


def _reached(graph: Graph, origin: str) -> set[str]:
    reached, ahead = {origin}, [origin]
    while ahead:
        new = [target for target in graph[ahead.pop()] if target not in reached]
        reached.update(new)
        ahead.extend(new)
    return reached


def least_up(graph: Graph, circle: list[str]) -> list[tuple[str, str]]:
    """As few arrows as must run up in `circle`, exactly if it is small."""
    order = _best_order(graph, circle) if len(circle) <= EXACT else _good_order(graph, circle)
    return _against(graph, order)


def _against(graph: Graph, order: list[str]) -> list[tuple[str, str]]:
    height = {room: at for at, room in enumerate(order)}
    return [(v, w) for v in order for w in sorted(graph[v]) if w in height and height[w] > height[v]]


def _best_order(graph: Graph, circle: list[str]) -> list[str]:
    """From the ground up: for each set of rooms, the order with the fewest arrows up if it stands lowest."""
    bit = {room: 1 << at for at, room in enumerate(circle)}
    out = {room: sum(bit[w] for w in graph[room] if w in bit) for room in circle}
    best: dict[int, tuple[int, list[str]]] = {0: (0, [])}
    for below in range(1 << len(circle)):
        up, order = best.pop(below)
        for room in circle:
            if not below & bit[room]:
                cost = up + (out[room] & ~below).bit_count()
                after = below | bit[room]
                if after not in best or cost < best[after][0]:
                    best[after] = (cost, [*order, room])
        if not best.keys() - {below}:
            return order
    return best[(1 << len(circle)) - 1][1]


def _good_order(graph: Graph, circle: list[str]) -> list[str]:
    """Rooms are moved, one at a time, to where fewest arrows run up, until none gains."""
    order = list(circle)
    fewest = len(_against(graph, order))
    moved = True
    while moved:
        moved = False
        for room in circle:
            rest = [each for each in order if each != room]
            for at in range(len(order)):
                tried = [*rest[:at], room, *rest[at:]]
                if (up := len(_against(graph, tried))) < fewest:
                    order, fewest, moved = tried, up, True
    return order


def _floors(graph: Graph, up: set[tuple[str, str]]) -> list[list[str]]:
    floors: list[list[str]] = []
    left = dict(graph)
    while left:
        floor = sorted(
            v for v, targets in left.items() if not any(w in left and (v, w) not in up for w in targets)
        )
        floors.append(floor)
        for room in floor:
            del left[room]
    return floors


def drawings(folder: Path) -> list[Drawing]:
    """Draws `folder` and each folder in it."""
    uses = Crate(_root_file(folder)).uses()
    inside = {
        parent for file in uses for parent in file.parents if folder == parent or folder in parent.parents
    }
    return [draw(each, uses) for each in sorted(inside)]


def _root_file(folder: Path) -> Path:
    for place in (folder, *folder.parents):
        for name in ("lib.rs", "main.rs"):
            if (place / name).is_file():
                return place / name
    raise SystemExit(f"{folder} is in no crate: give a folder such as crates/sim/src")


def files_in_circles(folder: Path) -> int:
    """How many files of `folder` use each other in circles, whatever room they are in."""
    uses = Crate(_root_file(folder)).uses()
    inside = {str(file) for file in uses if folder in file.parents}
    graph = {
        str(file): frozenset(map(str, targets)) & inside
        for file, targets in uses.items()
        if str(file) in inside
    }
    return sum(map(len, in_circles(graph)))


def _told(drawing: Drawing) -> Iterator[str]:
    yield f"  {_shown(drawing.folder)}"
    for number, floor in reversed(list(enumerate(drawing.floors))):
        yield f"    floor {number}: {', '.join(floor)}"
    for arrow in drawing.up:
        yield f"    up: {arrow.origin} -> {arrow.target}"
        yield from (f"        {because}" for because in arrow.because)
    for circle in drawing.circles:
        yield f"    circle: {', '.join(circle)}"


def _shown(folder: Path) -> str:
    return str(folder.relative_to(ROOT)) if ROOT in folder.parents else str(folder)


def _line(folder: Path, drawn: list[Drawing]) -> str:
    rooms = sum(len(circle) for each in drawn for circle in each.circles)
    floors, up = max(len(each.floors) for each in drawn), sum(len(each.up) for each in drawn)
    circles = f"rooms in circles {rooms}, files in circles {files_in_circles(folder)}"
    return f"{_shown(folder)}: arrows up {up}, {circles}, floors {floors}"


def _folders() -> list[Path]:
    roots = [*ROOT.glob("crates/*/src"), *ROOT.glob("crates/*/src/bin/*"), ROOT / "crates/proto/src/tcp"]
    return sorted(root for root in roots if root.is_dir())


def main(arguments: Iterable[str] | None = None) -> int:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument(
        "folders", nargs="*", type=lambda text: Path(text).resolve(), help="default: every crate"
    )
    options.add_argument(
        "--check", type=int, metavar="N", help="fail if more than N arrows run up in a folder"
    )
    given = options.parse_args(None if arguments is None else list(arguments))
    failed = False
    for folder in given.folders or _folders():
        drawn = drawings(folder)
        print(_line(folder, drawn))
        failed |= given.check is not None and sum(len(each.up) for each in drawn) > given.check
        for each in drawn:
            if given.folders and (each.up or (given.check is None and each.folder == folder)):
                print("\n".join(_told(each)))
    if failed:
        print(
            f"more than {given.check} arrows run up: move what both rooms need to a floor below them",
            file=sys.stderr,
        )
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
