"""Tries each feature on this guest's kernel, and writes a line of JSON for each to /out/features.

Standard library only; runs as root, in a guest of its own.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from contextlib import redirect_stdout
from pathlib import Path
from typing import TypeVar

import hosts
import leftovers
from commands import Failed, run
from features import FEATURES, Feature, warm

OUT = Path("/out")
Value = TypeVar("Value")


def main() -> None:
    chosen = Path("/guest/only").read_text(encoding="utf-8")
    _logged(warm)
    _logged(hosts.make)
    state = leftovers.state()
    for feature in FEATURES:
        if chosen in feature.name:
            found = _tried(feature)
            left, state = leftovers.differences(state)
            _add(
                "features",
                json.dumps({"feature": feature.name, "section": feature.section, **found, "left": left}),
            )
    if not chosen:
        _add("doctor", _logged(lambda: run("airtcpd", "doctor", "--json")))


def _tried(feature: Feature) -> dict[str, object]:
    _add("log", f"######## {feature.name}")
    try:
        return {"works": True, "says": _logged(feature.attempt)}
    except Failed as failure:
        return {"works": False, "says": str(failure)}


def _logged(attempt: Callable[[], Value]) -> Value:
    """Keeps what is said until the end: a write to the host's folder would let the clock run ahead."""
    said = io.StringIO()
    try:
        with redirect_stdout(said):
            return attempt()
    finally:
        _add("log", said.getvalue())


def _add(name: str, text: str) -> None:
    with (OUT / name).open("a", encoding="utf-8") as file:
        file.write(f"{text}\n")


if __name__ == "__main__":
    main()
