"""What advice on a fitted path is worth on the true one."""

from __future__ import annotations

import json
from dataclasses import dataclass
from statistics import fmean

from airtcp.advise.advice import Advice
from airtcp.advise.ask import NOW, advise
from airtcp.advise.candidates import EFFORTS
from airtcp.fit import fit
from airtcp.running.scratch import scratch_folder
from airtcp_studies.calibration.paths import KnownPath
from airtcp_studies.calibration.simulated import measured

DEPLOYABLE = frozenset(EFFORTS[: EFFORTS.index("build") + 1])
"""Stages of what a host can have today."""
ALWAYS = ("bbr", NOW, "hybla", "reno", "westwood")
"""Tried on the true path in any case, since nothing may have been recommended."""
CLOSE = 0.05
"""A scheme that reaches this much less than the best counts as good."""
SEEDS = range(101, 104)
DURATION_S = 30.0


@dataclass(frozen=True)
class Worth:
    """Goodputs in bit/s on the true path, means over seeds. `use` is empty if nothing was recommended."""

    use: str
    best: str
    use_bps: float
    best_bps: float
    now_bps: float

    @property
    def is_close(self) -> bool:
        return self.use_bps >= (1 - CLOSE) * self.best_bps

    @property
    def is_no_loss(self) -> bool:
        """Whether it is no worse than the present scheme, but for chance."""
        return self.use_bps >= (1 - CLOSE / 2) * self.now_bps


def worth(path: KnownPath) -> Worth:
    """Asks what a sender should use, from the path's measurement, and tries all candidates on the path."""
    with scratch_folder() as folder:
        advice = advise(fit(measured(path, folder).files), control="sender", quick=True, jobs=1)
    names = _candidates(advice)
    reached = {name: _goodput_bps(path, name) for name in names}
    best = max(names, key=reached.__getitem__)
    use = advice.recommendation.use if advice.recommendation is not None else ""
    return Worth(use, best, reached.get(use, reached[NOW]), reached[best], reached[NOW])


def _candidates(advice: Advice) -> list[str]:
    rows = {row.name: row.needs.stage in DEPLOYABLE for row in advice.rows}
    use = advice.recommendation.use if advice.recommendation is not None else NOW
    return sorted({*ALWAYS, use, *(name for name, deployable in rows.items() if deployable)})


def _goodput_bps(path: KnownPath, scheme: str) -> float:
    scenario = path.scenario.vary(duration=f"{DURATION_S}s")
    return fmean(json.loads(scenario.run(scheme, seed).to_json())["goodput_bps"] for seed in SEEDS)
