"""What is advised on a path's measurement, and what the simulator says of the true path."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from airtcp.advise.ask import NOW, advise
from airtcp.advise.candidates import first_round
from airtcp.fit import fit
from airtcp_studies.calibration.paths import KnownPath, Tool
from airtcp_studies.calibration.real.measuring import measured
from airtcp_studies.calibration.real.tools import PROBE_BYTES
from airtcp_studies.calibration.tried.paths import ASKED

ADVISED, SIMULATED = "advised.json", "simulated.json"
DURATION_S = 20.0
SEEDS = range(101, 104)
"""Of the simulator, on the true path."""


@dataclass(frozen=True)
class Advised:
    """An answer of `airtcp advise`."""

    tool: Tool
    use: str
    """Empty if nothing was recommended."""
    tied: tuple[str, ...]
    forecast_bps: dict[str, float]
    """Of every scheme, on the fitted path."""
    not_closed: str = ""
    """Why nothing was recommended."""

    def use_of(self, schemes: Sequence[str]) -> str:
        """Returns what somebody uses who has these: the recommended one, else the best tied with it."""
        return next((each for each in (self.use, *self.tied) if each in schemes), NOW)


def advised_of(fields: Sequence[dict[str, Any]]) -> tuple[Advised, ...]:
    """Returns answers from JSON."""
    return tuple(Advised(**{**each, "tied": tuple(each["tied"])}) for each in fields)


def ask(path: KnownPath, folder: Path) -> tuple[Advised, ...]:
    """Asks what a sender should use, once for each of `ASKED`, unless the answers are in `folder` already."""

    def answers() -> list[dict[str, Any]]:
        files = {each.tool: each.files for each in measured(path, folder, dict.fromkeys(PROBE_BYTES, 0.0))}
        return [asdict(_asked(tool, files[tool])) for tool in ASKED]

    return advised_of(_kept(folder / ADVISED, answers))


def _asked(tool: Tool, files: tuple[Path, ...]) -> Advised:
    fitted = fit(files)
    advice = advise(fitted, control="sender", quick=True, jobs=1)
    found = advice.recommendation
    forecast = {row.scheme: row.reached.mean for row in advice.rows}
    why = fitted.check.text if advice.not_closed and fitted.check else ""
    return Advised(tool, found.use if found else "", found.tied if found else (), forecast, why)


def deployable() -> list[str]:
    """Returns all that a sender can have today, the present scheme first."""
    candidates = first_round(NOW, frozenset({"sender"}), window_bytes=0)
    return [candidate.scheme for candidate in candidates if candidate.deployable]


def simulated_bps(path: KnownPath, schemes: Sequence[str], folder: Path) -> dict[str, float]:
    """Returns the simulator's goodputs on the true path, unless they are in `folder` already."""
    scenario = path.scenario.vary(duration=f"{DURATION_S}s")

    def goodput_bps(scheme: str) -> float:
        records = (scenario.run(scheme, seed) for seed in SEEDS)
        return fmean(json.loads(record.to_json())["goodput_bps"] for record in records)

    found: dict[str, float] = _kept(
        folder / SIMULATED, lambda: {scheme: goodput_bps(scheme) for scheme in schemes}
    )
    return found


def _kept(file: Path, make: Callable[[], Any]) -> Any:
    """Returns what is in the file; if there is none, what is made for it."""
    if not file.exists():
        file.write_text(json.dumps(make()), encoding="utf-8")
    return json.loads(file.read_text(encoding="utf-8"))
