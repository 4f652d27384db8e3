"""The WebAssembly's runs and the page's statistics are those of `airtcp compare`, to the last digit."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from page import built_wasm

import airtcp
from airtcp import Scenario
from airtcp.facts.summary import goodput_bps

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
PAGE = ROOT / "crates/web/page"
SEEDS = 3
CASES: list[tuple[Scenario, list[tuple[str, str]], list[str]]] = [
    (Scenario.built_in(), [("duration", "20s")], ["reno", "bbr", "concord", "reno+decoupling"]),
    (
        Scenario.built_in(),
        [
            ("duration", "10s"),
            ("wireless.queue.discipline", "fq-codel"),
            ("wireless.jitter", '{ distribution = "uniform", high = "8ms", overtaking = false }'),
            ("wireless.loss.burst", "{ to_bad = 0.002, to_good = 0.2, bad_loss = 1 }"),
            ("flow", '[{ name = "main" }, { name = "cross", scheme = "cubic", measure = false }]'),
        ],
        ["cubic", "westwood-vt+packet-control"],
    ),
    (Scenario.load(ROOT / "scenarios/3g-cell.toml"), [("duration", "10s")], ["newreno", "newreno+rto-m"]),
]


def node(cases: list[dict[str, Any]]) -> list[dict[str, Any]]:
    program = shutil.which("node")
    if program is None:
        pytest.skip("Node is not installed")
    command = [program, str(HERE / "equality.mjs"), str(PAGE), str(built_wasm())]
    done = subprocess.run(command, input=json.dumps(cases), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found


def test_every_record_is_that_of_compare() -> None:
    asked = [
        {"of": {"text": scenario.to_toml(), "overrides": changes}, "schemes": schemes, "seeds": SEEDS}
        for scenario, changes, schemes in CASES
    ]
    answers = iter(node(asked))
    for scenario, changes, schemes in CASES:
        varied = Scenario.parse(scenario.to_toml(), changes)
        compared = airtcp.compare(varied, schemes, SEEDS, series=False)
        for scheme, summary in zip(schemes, compared.summaries, strict=True):
            answer = next(answers)
            runs = [run for run in compared.runs if run["scheme"] == scheme]
            assert answer["runs"] == runs
            assert answer["estimate"]["mean"] == summary.goodput.mean
            half_width = summary.goodput.half_width
            assert answer["estimate"]["halfWidth"] == pytest.approx(half_width, rel=1e-9, abs=1e-3)
            assert [goodput_bps(run) for run in answer["runs"]] == [goodput_bps(run) for run in runs]
    assert next(answers, None) is None
