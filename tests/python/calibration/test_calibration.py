"""A small calibration: what fits claim of known paths holds about as often as they say."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from airtcp_studies.calibration.claims import Claim, Told, claims
from airtcp_studies.calibration.journal import Circumstances, Journal, Studied
from airtcp_studies.calibration.page import judged, page, text
from airtcp_studies.calibration.paths import (
    FIRST_OF_MORE,
    MORE,
    REAL,
    SIMULATED,
    KnownPath,
    known_path,
    real_path,
)
from airtcp_studies.calibration.simulated import measured
from airtcp_studies.calibration.study import PATHS, Coverage, coverages, study
from airtcp_studies.calibration.tried.journal import Journal as TriedJournal

from airtcp.fit.floor import base_round_trip, seen_base

DOCS = Path(__file__).parents[3] / "docs"


@pytest.fixture(scope="module")
def studied(tmp_path_factory: pytest.TempPathFactory) -> list[Studied]:
    file = tmp_path_factory.mktemp("calibration") / "journal.jsonl"
    first = study(3, Journal(file, known_path), jobs=2)
    both = study(14, Journal(file, known_path), jobs=2)
    assert both[:3] == first
    assert len(file.read_text().splitlines()) == 14
    assert Journal(file, known_path).studied == both
    return both


def test_claims_hold_about_as_often_as_they_say(studied: list[Studied]) -> None:
    """Some 40 claims of 95 %: more than 8 misses have a probability below 0.1 %."""
    held = [claim.holds for each in studied for claim in each.claims]
    assert len(held) >= 30
    assert held.count(False) <= 8
    quantities = {claim.quantity for each in studied for claim in each.claims}
    assert quantities >= {"rate", "loss", "round trip without a queue", "mean round trip"}


def test_the_page_has_every_quantity_and_every_miss(studied: list[Studied]) -> None:
    said = page(studied, [])
    assert said == page(studied, [])
    for found in coverages(studied):
        assert f"| {found.quantity} | {found.tool} |" in said
    assert "rate" in text(studied)
    assert "## Advice" in said
    asked = [each.worth for each in studied if each.worth is not None]
    assert len(asked) == 3
    assert all(each.is_no_loss for each in asked)
    assert all(each.best_bps >= max(each.use_bps, each.now_bps) for each in asked)


def test_what_really_ran_has_a_table_of_its_own() -> None:
    wrong = Claim("loss", "ss", 0.1, 0.2, 0.3)
    assert not wrong.holds
    told = (Told("policer", "ss", True, False), Told("policer", "ss", False, True))
    ran = Studied(real_path(3), (wrong,), told, None, Circumstances(0.012, "6.18.1", "2026-11-28"))
    said = page([], [ran])
    assert "## Measured on a real path" in said
    assert "1 paths that really ran" in said
    assert "0.1 to 0.2 | 0.3 |" in said
    assert "| policer | ss | 0 of 1 | 1 of 1 |" in said
    assert "Linux 6.18.1 (2026-11-28)" in said
    assert "simulator runs" not in said


def test_the_page_is_that_of_its_data() -> None:
    simulated = Journal(DOCS / "calibration/simulated.jsonl", known_path).studied
    real = Journal(DOCS / "calibration/real.jsonl", real_path).studied
    assert len(simulated) >= 200
    tried = TriedJournal(DOCS / "calibration/advice-real.jsonl").tried
    assert len(real) >= 60
    assert len(tried) >= 12
    assert (DOCS / "calibration.md").read_text() == page(simulated, real, tried), (
        "renew it: .venv/bin/python scripts/calibration.py"
    )


def test_a_path_that_is_drawn_otherwise_is_studied_again(tmp_path: Path) -> None:
    file = tmp_path / "journal.jsonl"
    Journal(file, known_path).add(Studied(known_path(0), ()))

    def other(number: int) -> KnownPath:
        return replace(known_path(number), loss=0.5)

    assert Journal(file, known_path).missing(2) == [1]
    assert Journal(file, other).missing(2) == [0, 1]


def test_further_paths_are_simulated_for_other_tools() -> None:
    """The first ones stay as they were drawn."""
    further = [known_path(FIRST_OF_MORE + number) for number in range(len(MORE))]
    assert {path.tools[0] for path in further} == {"ss", "fping", "mtr", "flent"}
    assert {path.tools[0] for path in map(known_path, range(FIRST_OF_MORE))} == set(SIMULATED)
    assert {path.limit for path in further} == {"queue", "policer"}
    assert PATHS % len(MORE) == 0


def test_a_flent_file_claims_bounds(tmp_path: Path) -> None:
    number = next(n for n in range(FIRST_OF_MORE, PATHS) if known_path(n).tools == ("flent",))
    found = claims(known_path(number), measured(known_path(number), tmp_path)).of
    assert {each.quantity for each in found} == {"rate", "round trip without a queue"}
    assert all(each.holds and not each.is_interval for each in found)


@pytest.mark.parametrize("number", range(len(REAL)))
def test_each_kind_of_path_is_a_scenario(number: int) -> None:
    path = real_path(number)
    assert path == real_path(number) != real_path(number + len(REAL))
    link = path.scenario.to_toml()
    assert ("token-bucket" in link) == (path.limit == "policer")
    assert (path.mtu_bytes < 1500) == (path.limit == "hole")
    assert path.jitter == "none" or path.is_probed


def test_a_policer_in_the_simulator_is_told(studied: list[Studied]) -> None:
    path, told = studied[11].path, studied[11].told
    assert (path.limit, path.tools) == ("policer", ("iperf3",))
    assert Told("policer", "iperf3", True, True) in told
    assert Told("hole", "iperf3", False, False) in told


def test_a_share_is_judged_by_what_its_number_tells() -> None:
    assert judged(Coverage("ping", "loss", True, 20, 16)) == "below"
    assert judged(Coverage("ping", "loss", True, 20, 19)) == "as claimed"
    assert judged(Coverage("ping", "loss", True, 400, 399)) == "above"
    assert judged(Coverage("ping", "loss", False, 400, 400)) == "as claimed"


@pytest.mark.parametrize("sigma", [0.3, 0.6, 0.9])
@pytest.mark.parametrize("memory", [0.0, 0.6])
def test_the_floor_is_in_its_interval(sigma: float, memory: float) -> None:
    """95 % of 60: fewer than 52 has a probability of 0.3 %."""
    held = 0
    for seed in range(60):
        random = np.random.default_rng(seed)
        score = random.standard_normal(400)
        for place in range(1, len(score)):
            score[place] = memory * score[place - 1] + np.sqrt(1 - memory**2) * score[place]
        rtt = np.round(0.05 + 0.01 * np.exp(sigma * score), 4)
        held += base_round_trip(rtt).includes(0.05)
    assert held >= 52


def test_the_end_of_a_uniform_distribution_is_in_its_interval() -> None:
    held = sum(
        seen_base(0.05 + 0.02 * np.random.default_rng(seed).random(400)).includes(0.05) for seed in range(200)
    )
    # 95 % of 200, give or take three standard deviations.
    assert 181 <= held <= 199


def test_a_step_of_the_clock_is_uncertain() -> None:
    found = seen_base(np.full(100, 0.0506))
    assert found.low == pytest.approx(0.05055)
    assert found.high == pytest.approx(0.05065)
