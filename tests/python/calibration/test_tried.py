"""Advice that is tried on paths which really run: which runs are made, and how answers are judged by them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from airtcp_studies.calibration.journal import Circumstances
from airtcp_studies.calibration.tried.asking import Advised, deployable
from airtcp_studies.calibration.tried.journal import TRIFLE, Journal, Tried
from airtcp_studies.calibration.tried.page import is_exception, section, summary
from airtcp_studies.calibration.tried.paths import KINDS, tried_path
from airtcp_studies.calibration.tried.running import (
    FIRST_SEED,
    MOST,
    TWICE,
    Ran,
    hopeful,
    missing,
    run_schemes,
)
from hypothesis import given
from hypothesis import strategies as st

from airtcp.advise.ask import NOW
from airtcp.linux.airtcpd import Airtcpd

SCHEMES = ("cubic", "reno", "bbr", "concord")
goodputs = st.fixed_dictionaries(dict.fromkeys(SCHEMES, st.floats(1e5, 1e8)))


def ran(scheme: str, seed: int, goodput_bps: float) -> Ran:
    return Ran(scheme, seed, goodput_bps, 0.01, "6.18.1", "2026-11-28")


def tried(use: str, tied: tuple[str, ...] = (), **really_mbps: tuple[float, ...]) -> Tried:
    advised = Advised("capture", use, tied, dict.fromkeys(really_mbps, 5e6))
    really = {scheme: tuple(1e6 * mbps for mbps in runs) for scheme, runs in really_mbps.items()}
    seen = Circumstances(0.01, "6.18.1", "2026-11-28")
    return Tried(tried_path(0), (advised,), dict.fromkeys(really_mbps, 4e6), really, seen)


@pytest.mark.parametrize("number", range(2 * len(KINDS)))
def test_each_kind_of_path_is_a_scenario(number: int) -> None:
    path, kind = tried_path(number), KINDS[number % len(KINDS)]
    assert path == tried_path(number) != tried_path(number + len(KINDS))
    assert ("token-bucket" in path.scenario.to_toml()) == (kind.limit == "policer")
    assert (path.loss > 0, path.burst > 1, path.jitter != "none") == (
        kind.is_lossy,
        kind.is_bursty,
        kind.varies,
    )


def test_what_a_sender_can_have_is_tried() -> None:
    assert deployable()[0] == NOW
    assert {"reno", "bbr", "concord", "westwood-vt"} <= set(deployable())
    assert "westwood" not in deployable()


def test_a_scheme_without_hope_does_not_run_and_the_present_one_does() -> None:
    reached = {"cubic": 1.0, "bbr": 10.0, "reno": 5.0, "concord": 7.0, "cubic+newreno": 9.0}
    assert hopeful(reached) == ["cubic", "bbr", "concord"]


@given(goodputs, st.sets(st.sampled_from(SCHEMES), max_size=2), st.randoms(use_true_random=False))
def test_runs_come_to_an_end_and_decide(reach: dict[str, float], advised: set[str], random: object) -> None:
    """Every scheme runs; what decides an answer runs at least twice, or four times if it was behind."""
    done: list[Ran] = []
    while todo := missing(SCHEMES, sorted(advised), done):
        scheme, seed = todo[0]
        assert seed == FIRST_SEED + sum(run.scheme == scheme for run in done)
        done.append(ran(scheme, seed, reach[scheme] * random.uniform(0.9, 1.1)))  # type: ignore[attr-defined]
    counts = {scheme: sum(run.scheme == scheme for run in done) for scheme in SCHEMES}
    assert max(counts.values()) <= MOST
    assert min(counts.values()) >= 1
    assert all(counts[scheme] >= TWICE for scheme in {NOW, *advised})
    best = max(reach, key=reach.__getitem__)
    if any(reach[scheme] < 0.7 * reach[best] for scheme in advised):
        assert all(counts[scheme] == MOST for scheme in (NOW, *advised) if reach[scheme] < 0.7 * reach[best])


def test_an_answer_is_held_against_the_best_measured() -> None:
    found = tried("bbr", cubic=(2.0, 2.0), bbr=(4.5, 4.5), concord=(5.0, 5.0))
    (advised,) = found.advised
    assert found.best == "concord"
    assert found.behind_best(advised) == pytest.approx(0.1)
    assert is_exception(found, advised)
    assert not found.is_below_now(advised)
    assert "95 % of the best measured goodput on 0, 90 % on 1" in summary([found])
    said = "\n".join(section([found]))
    assert "| 0 | capture | concord | 5 | 4 | 5, 5 |" in said
    assert "differs from another by 0.0 %" in said


@given(st.floats(0.5, 2.0), st.floats(0.001, 0.2))
def test_only_what_chance_does_not_explain_is_below_the_present_one(share: float, noise: float) -> None:
    low, high = 1 - noise, 1 + noise
    found = tried("bbr", cubic=(5 * low, 5 * high), bbr=(5 * share * low, 5 * share * high))
    (advised,) = found.advised
    assert not (found.is_below_now(advised) and share >= 1)
    if share < min(1 - 4 * noise, 1 - TRIFLE):
        assert found.is_below_now(advised)


def test_without_the_recommended_scheme_the_best_tied_one_is_tried() -> None:
    found = tried("westwood-plus", ("westwood", "concord", "bbr"), cubic=(2.0,), bbr=(4.0,), concord=(3.9,))
    (advised,) = found.advised
    assert found.used(advised) == "concord"
    assert "concord (for westwood-plus)" in "\n".join(section([found]))
    kept = tried("", cubic=(2.0,), bbr=(4.0,))
    assert kept.used(kept.advised[0]) == NOW
    assert "0 recommend something" in summary([kept])
    why = replace(kept, advised=(replace(kept.advised[0], not_closed="They do not agree: goodput."),))
    assert "nothing was recommended. They do not agree: goodput." in "\n".join(section([why]))


def test_a_path_that_is_drawn_otherwise_is_tried_again(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "advice-real.jsonl")
    found = tried("bbr", cubic=(2.0, 2.1), bbr=(4.5,))
    journal.add([replace(found, path=tried_path(1)), found])
    again = Journal(tmp_path / "advice-real.jsonl")
    assert again.tried == [found, replace(found, path=tried_path(1))]
    assert again.missing(3) == [2]
    # Written by hand, as if paths had been drawn otherwise.
    journal.add([replace(found, path=replace(found.path, loss=0.5))])
    assert Journal(tmp_path / "advice-real.jsonl").missing(2) == [0]


@pytest.mark.live
def test_a_scheme_really_runs_over_a_path(airtcpd: Airtcpd, tmp_path: Path) -> None:
    path = replace(tried_path(0), rate_bps=8e6, loss=0.0)
    done = run_schemes(path, ["cubic"], [], tmp_path, airtcpd, duration_s=0.5)
    assert [run.seed for run in done] == [FIRST_SEED, FIRST_SEED + 1]
    assert all(2e6 < run.goodput_bps < 8e6 for run in done)
    # What has run is read, not run again.
    assert run_schemes(path, ["cubic"], [], tmp_path, airtcpd, duration_s=0.5) == done
