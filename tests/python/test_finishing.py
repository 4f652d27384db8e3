"""Transfers that do not finish are named, and no others."""

from __future__ import annotations

import pytest
from conftest import Cli, flow, run
from hypothesis import given
from hypothesis import strategies as st

from airtcp.facts.finishing import unfinished_notes
from airtcp.facts.records import Flow

SLOW = 'duration = "3s"\nseeds = 2\nschemes = ["cubic", "reno"]\n[[link]]\nrate = "1Mbit/s"\ndelay = "20ms"\n'
TRANSFER = '[[flow]]\nname = "download"\ntraffic = { kind = "bytes", size = "%s" }\n'


def transfers(started: int, finished: int) -> Flow:
    return {**flow(1e6, [0.1] * finished), "transfers_started": started}


@given(
    kind=st.sampled_from(["bytes", "poisson", "unlimited", "on-off", "udp"]),
    seeds=st.lists(
        st.integers(1, 50).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n))), min_size=1, max_size=5
    ),
)
def test_only_transfers_that_end_can_be_unfinished(kind: str, seeds: list[tuple[int, int]]) -> None:
    runs = [run("reno", seed, transfers(*each)) for seed, each in enumerate(seeds)]
    said = unfinished_notes(runs, {"flow": [{"name": "flow", "traffic": {"kind": kind}}]})
    left = [started - finished for started, finished in seeds]
    if kind == "poisson":
        # Some are always under way at the end.
        left = [more if more > started / 10 else 0 for more, (started, _) in zip(left, seeds, strict=True)]
    is_open = kind in ("bytes", "poisson") and any(left)
    assert bool(said) == is_open
    if is_open:
        assert f"reno {sum(left)} of {sum(started for started, _ in seeds)} transfer" in said[0]


@pytest.mark.parametrize(
    ("size", "said"), [("20MB", ["Not finished within 3 s", "cubic 2 of 2 transfers"]), ("20kB", [])]
)
def test_run_and_compare_say_what_did_not_finish(cli: Cli, size: str, said: list[str]) -> None:
    (cli.directory / "slow.toml").write_text(SLOW + TRANSFER % size)
    compared = " ".join(cli.ok("compare", "slow.toml").split())
    ran = " ".join(cli.ok("run", "slow.toml").split())
    assert ("Not finished" in compared) == ("Not finished" in ran) == bool(said)
    assert all(each in compared for each in said)
