"""Tries each feature on this guest's kernel. A line for each, `FEATURE` and JSON; the others are a log.

Standard library only; runs as root, in a guest of its own.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from functools import partial
from itertools import groupby
from pathlib import Path

import doctor
import hosts
import leftovers
from commands import Failed
from features import FEATURES, warm


def main() -> None:
    chosen = Path("/guest/only").read_text(encoding="utf-8")
    warm()
    hosts.make()
    state, tried = leftovers.state(), []
    for group, features in groupby(FEATURES, lambda feature: feature.group or feature.section):
        wanted = [feature for feature in features if chosen in feature.name]
        for feature in wanted:
            print(f"######## {time.monotonic():.3f} {feature.name}")
            works = _tell(feature.name, group, feature.attempt)
            tried.append(doctor.Tried(feature.name, feature.section, feature.check, works))
        if wanted:
            left, state = leftovers.differences(state)
            _tell(f"{group}: leaves nothing", group, partial(_nothing, left))
    if not chosen:
        _tell("doctor agrees", "doctor", partial(doctor.agrees, tried))


def _nothing(left: list[str]) -> str:
    print("".join(f"left: {line}\n" for line in left))
    if left:
        raise Failed(f"{left[0]} (and {len(left) - 1} more)" if len(left) > 1 else left[0])
    return ""


def _tell(name: str, group: str, attempt: Callable[[], str]) -> bool:
    try:
        found = {"works": True, "says": attempt()}
    except Failed as failure:
        found = {"works": False, "says": str(failure)}
    print("FEATURE", json.dumps({"feature": name, "group": group, **found}), flush=True)
    return bool(found["works"])


if __name__ == "__main__":
    main()
