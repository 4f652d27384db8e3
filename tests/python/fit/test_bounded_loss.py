"""Probes are few: what they lost bounds the loss of the link, and the transfer says what it is."""

from __future__ import annotations

from pathlib import Path

import pytest
from airtcp_studies.calibration.iperf3 import iperf3_tcp
from hypothesis import Phase, example, given, settings
from hypothesis import strategies as st

from airtcp import Scenario, fit
from airtcp.advise.gateway import wireless
from airtcp.advise.surroundings import loss_of
from airtcp.facts.scenario import document
from airtcp.fit.closure.closing import settle
from airtcp.fit.closure.known import Known
from airtcp.fit.detect import read
from airtcp.fit.estimates import estimate
from airtcp.fit.evidence import gather
from airtcp.fit.findings import Value

PROBES = 600


def ping_log(rtt_ms: float, lost: set[int]) -> str:
    lines = [
        f"64 bytes from 192.0.2.1: icmp_seq={n} ttl=60 time={rtt_ms:.1f} ms"
        for n in range(1, PROBES + 1)
        if n not in lost
    ]
    head = "PING 192.0.2.1 (192.0.2.1) 56(84) bytes of data."
    counts = f"{PROBES} packets transmitted, {len(lines)} received"
    return "\n".join([head, *lines, "", "--- 192.0.2.1 ping statistics ---", counts, ""])


def files(folder: Path, path: Scenario, rtt_ms: float, lost: set[int], seed: int) -> list[Path]:
    texts = {
        "ping.log": ping_log(rtt_ms, lost),
        "result.json": iperf3_tcp(path, seed=seed, duration_s=10.0),
    }
    for name, text in texts.items():
        (folder / name).write_text(text)
    return [folder / name for name in texts]


def path(link: dict[str, object], rtt_ms: float) -> Scenario:
    keys = {"name": "path", "delay": f"{rtt_ms / 2}ms", "reverse": {"loss": {}}, **link}
    return Scenario.build(profile="linux", link=[keys])


@given(lost=st.integers(6, 20), rtt_ms=st.integers(20, 60), seed=st.integers(1, 50))
@example(lost=20, rtt_ms=25, seed=2)
@settings(max_examples=1, deadline=None, phases=[Phase.explicit, Phase.generate], derandomize=True)
def test_chance_among_few_probes_does_not_decide(
    tmp_path_factory: pytest.TempPathFactory, lost: int, rtt_ms: int, seed: int
) -> None:
    """Of 600 probes, 1 % lost each way would be 12; chance makes it anything from 6 to 20."""
    lossy = path({"rate": "12Mbit/s", "queue": {"packets": 60}, "loss": {"packet": 0.01}}, rtt_ms)
    gone = {PROBES * (2 * n + 1) // (2 * lost) for n in range(lost)}
    found = fit(files(tmp_path_factory.mktemp("known"), lossy, rtt_ms, gone, seed))
    assert found.check is not None
    assert found.check.holds, found.check.text
    link = wireless(document(found.scenario))
    assert loss_of(link) == pytest.approx(0.01, rel=0.4)


def test_probes_that_lost_nothing_bound_the_loss_too(tmp_path: Path) -> None:
    policer = {"discipline": "token-bucket", "rate": "4Mbit/s", "burst": "60kB", "packets": 0}
    policed = path({"rate": "80Mbit/s", "queue": policer}, 30)
    evidence = gather([read(file) for file in files(tmp_path, policed, 30.0, set(), 1)])
    found = settle(evidence, estimate(evidence), None)
    assert found is not None
    assert found.what.best.cause == "policer"
    # Three in 600 there and back (95 %).
    assert all(each.loss <= 0.0026 for each, _ in found.what.likelihoods)


@given(ends=st.lists(st.floats(0.0, 0.5), min_size=3, max_size=3).map(sorted), share=st.floats(0.0, 1.0))
def test_no_loss_is_tried_that_probes_rule_out(ends: list[float], share: float) -> None:
    low, best, high = ends
    known = Known(loss=Value(best, low, high))
    assert low <= known.possible_loss(share) <= high
    assert known.possible_loss(best) == best
    assert set(known.losses_beside) == {best, low}
    assert Known().losses_beside == (0.0,)
