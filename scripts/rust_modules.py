"""The modules of a crate, and which names each of its files uses of which other file. Tests are left out.

A path is followed through `use` and `pub use` to the file that defines its first name that is no module.
Macros, and methods called on values, leave no trace. Standard library only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

_NO_CODE = re.compile(
    r"//[^\n]*|/\*.*?\*/"
    r"|\bb?r(?P<hashes>#*)\".*?\"(?P=hashes)"
    r"|(?:\bb)?\"(?:\\.|[^\"\\])*\""
    r"|'(?:\\.[^']*|[^'\\\n])'",
    re.DOTALL,
)
_TEST = re.compile(r"#\[cfg\((?:all\()?test\b[^\]]*\]\s*(?:#\[[^\]]*\]\s*)*[^;{]*([;{])")
_FILE = re.compile(r"\bmod\s+(\w+)\s*;")
_INLINE = re.compile(r"\bmod\s+(\w+)\s*\{")
_USE = re.compile(r"^\s*(?:pub(?:\([^)]*\))?\s+)?use\s+([^;]+);", re.MULTILINE)
_DEFINED = re.compile(
    r"\b(?:(?:struct|enum|trait|union|type|static|macro_rules!)\s+|(?:const\s+)?(?:unsafe\s+)?fn\s+|const\s+)(\w+)"
)
_PATH = re.compile(r"(?<![\w:.])(\w+)((?:\s*::\s*\w+)+)")

Name = tuple[str, ...]
"""Where a module is below the crate's root, or a path as the code has it."""
Uses = Mapping[Path, Mapping[Path, set[str]]]
"""Of each file, the files that it uses, and for which names."""


@dataclass
class Module:
    """A file, or a part of one that has a name of its own."""

    name: Name
    file: Path
    text: str
    children: set[str] = field(default_factory=set)

    @cached_property
    def defined(self) -> set[str]:
        return set(_DEFINED.findall(self.text))

    @cached_property
    def imports(self) -> list[tuple[str, Name]]:
        """What `use` brings in: the name here, `*` for all, and the path that it stands for."""
        return [each for tree in _USE.findall(self.text) for each in leaves(tree)]

    @cached_property
    def imported(self) -> dict[str, Name]:
        return {alias: path for alias, path in self.imports if alias != "*"}

    @cached_property
    def paths(self) -> set[Name]:
        """All paths of the code: those that `use` brings in, and those that stand in it."""
        code = _USE.sub("", self.text)
        inline = {(head, *re.findall(r"\w+", rest)) for head, rest in _PATH.findall(code)}
        return {path for _, path in self.imports} | inline


def leaves(tree: str) -> Iterator[tuple[str, Name]]:
    """The names that a `use` brings in: `a::{b, c as d}` gives (b, a::b) and (d, a::c)."""
    tree = tree.strip()
    if tree.endswith("}"):
        start = tree.index("{")
        head = tuple(re.findall(r"\w+", tree[:start]))
        for part in _parts(tree[start + 1 : -1]):
            for alias, path in leaves(part):
                yield (head[-1], head) if path == ("self",) else (alias, head + path)
        return
    written, _, alias = (part.strip() for part in tree.partition(" as "))
    names = tuple(re.findall(r"\w+|\*", written))
    if names and names[-1] == "*":
        yield "*", names[:-1]
    elif names:
        yield alias or names[-1], names


def _parts(text: str) -> Iterator[str]:
    """What commas separate, those in braces aside."""
    depth, start = 0, 0
    for at, letter in enumerate(text):
        depth += (letter == "{") - (letter == "}")
        if letter == "," and depth == 0:
            yield text[start:at]
            start = at + 1
    if text[start:].strip():
        yield text[start:]


def _end_of_block(text: str, opening: int) -> int:
    depth = 0
    for at in range(opening, len(text)):
        depth += (text[at] == "{") - (text[at] == "}")
        if depth == 0:
            return at + 1
    return len(text)


def code_of(text: str) -> str:
    """`text` without comments, literals and tests."""
    text = _NO_CODE.sub(" ", text)
    while test := _TEST.search(text):
        end = test.end() if test[1] == ";" else _end_of_block(text, test.end() - 1)
        text = text[: test.start()] + text[end:]
    return text


class Crate:
    """The modules of a crate, from its root file on."""

    def __init__(self, root: Path) -> None:
        self.modules: dict[Name, Module] = {}
        self._read((), root, root.parent)

    def _read(self, name: Name, file: Path, folder: Path) -> None:
        text = code_of(file.read_text(encoding="utf-8"))
        module = self.modules[name] = Module(name, file, text)
        while inline := _INLINE.search(text):
            end = _end_of_block(text, inline.end() - 1)
            inner = (*name, inline[1])
            self.modules[inner] = Module(inner, file, text[inline.end() : end - 1])
            module.children.add(inline[1])
            text = text[: inline.start()] + text[end:]
        module.text = text
        for child in _FILE.findall(text):
            for path in (folder / f"{child}.rs", folder / child / "mod.rs"):
                if path.is_file():
                    module.children.add(child)
                    self._read((*name, child), path, folder / child)

    def uses(self) -> Uses:
        """Of each file, the other files that it uses, and for which names."""
        drawn: dict[Path, dict[Path, set[str]]] = {module.file: {} for module in self.modules.values()}
        for module in self.modules.values():
            for path in module.paths:
                module_of, name = self.target(module, path) or (module, "")
                if name and module_of.file != module.file:
                    drawn[module.file].setdefault(module_of.file, set()).add(name)
        return drawn

    def target(
        self, origin: Module, path: Name, opened: frozenset[tuple[Name, str]] = frozenset()
    ) -> tuple[Module, str] | None:
        """The module to which `path` leads from `origin`, and the name in it: none if it names the module.

        Nothing if it leads out of the crate. `opened` are the imports that led here: one that leads to
        itself is another crate's name.
        """
        if path[0] == "crate":
            return self._inside(self.modules[()], path[1:], opened)
        known = path[0] in ("self", "super") or path[0] in origin.children or path[0] in origin.imported
        return self._inside(origin, path, opened) if known else None

    def _inside(
        self, module: Module, path: Name, opened: frozenset[tuple[Name, str]]
    ) -> tuple[Module, str] | None:
        while path and (next_module := self._step(module, path[0])):
            module, path = next_module, path[1:]
        if not path:
            return module, ""
        if path[0] in module.imported:
            import_ = (module.name, path[0])
            found = (*module.imported[path[0]], *path[1:])
            return None if import_ in opened else self.target(module, found, opened | {import_})
        return self._through_globs(module, path, opened) or (module, path[0])

    def _step(self, module: Module, name: str) -> Module | None:
        """The module that `name` names as seen from `module`."""
        if name == "self":
            return module
        return self.modules.get(module.name[:-1] if name == "super" else (*module.name, name))

    def _through_globs(
        self, module: Module, path: Name, opened: frozenset[tuple[Name, str]]
    ) -> tuple[Module, str] | None:
        globs = [] if path[0] in module.defined else [glob for alias, glob in module.imports if alias == "*"]
        for glob in globs:
            found, _ = self.target(module, glob, opened) or (module, "")
            if found is not module and path[0] in found.children | found.imported.keys() | found.defined:
                return self._inside(found, path, opened)
        return None
