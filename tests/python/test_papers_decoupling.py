"""What moves the rows of paper 000, on short runs."""

from __future__ import annotations

import tomllib
from statistics import fmean

import pytest
from airtcp_studies.frame import Case, Context
from airtcp_studies.papers.decoupling.bounds import Near, bound_over_rtt, gap, upper_bound
from airtcp_studies.papers.decoupling.circuits import CIRCUIT, throughput
from airtcp_studies.papers.decoupling.header_first import FAR_MS, RTT_MS, figure_7, share_of_headers
from airtcp_studies.papers.decoupling.lossy import DEFAULT, LARGE, LOSSY
from airtcp_studies.papers.decoupling.paths import ABOUT_1_MS, HEADER_BYTES, WINDOW, shared
from airtcp_studies.papers.decoupling.shares import GMB_MBIT, RED, contested, unconditional
from airtcp_studies.papers.decoupling.sharing import PAPERS, VARIED, VMSS
from hypothesis import given
from hypothesis import strategies as st

from airtcp.advise.deployment import CIRCUITS
from airtcp.facts import headers

HUNDREDTHS = st.integers(10, 10_000).map(lambda ms: ms / 100)


def test_freebsd_grants_the_buffers() -> None:
    """A socket buffer may take SB_MAX less what the mbufs around its clusters need."""
    cluster, mbuf, sb_max = 2048, 128, 256 * 1024
    size = int(WINDOW.removeprefix("receive_window=").partition("B")[0])
    assert size <= sb_max * cluster // (cluster + mbuf) < size + 1024


def test_the_hosts_interfaces_make_vmss_worth_more() -> None:
    found = Context(seeds=1).sweep(
        {
            (name, rtt): setting.case(rtt, "60s", seeds=1)
            for name, setting in {VMSS: PAPERS[VMSS], "bare": VARIED["without the interfaces"]}.items()
            for rtt in ABOUT_1_MS
        }
    )

    def worth(name: str) -> float:
        runs = [found[name, rtt] for rtt in ABOUT_1_MS]
        return fmean(throughput(each, "tcp1")[0] / throughput(each, "tcp2")[0] for each in runs)

    assert worth("bare") < 1 < worth(VMSS)


def test_a_longer_round_trip_favours_the_larger_vmss() -> None:
    sets = {"duration": "80s"}
    found = Context(seeds=2).sweep(
        {rtt: Case(figure_7(3000, rtt), [CIRCUIT], sets) for rtt in (RTT_MS, FAR_MS)}
        | {"varied": Case(figure_7(3000, FAR_MS, vary_ms=5), [CIRCUIT], sets)}
    )
    worth = {key: fmean(throughput(r, "other")) / fmean(throughput(r, "one")) for key, r in found.items()}
    assert worth[FAR_MS] > 1.5 * worth[RTT_MS]
    assert worth[FAR_MS] > 1.5 * worth["varied"]


def test_default_buffers_do_not_fill_the_queue() -> None:
    sets = {"duration": "20s", "link.wireless.loss.ber": 1e-7}
    schemes = [DEFAULT["Reno"], LARGE["Reno"]]
    runs = Context(seeds=1).run(LOSSY, schemes, sets)
    small, large = (
        runs.link(scheme, lambda link: link["drops_overflow"], "wireless")[0] for scheme in schemes
    )
    assert small == 0 < large


def test_header_packets_have_one_length() -> None:
    """The paper's, the wire's (docs/circuit-wire.md), and the one that advice states."""
    assert HEADER_BYTES == headers.HEADER_BYTES
    assert f"header packets of {HEADER_BYTES} bytes" in str(CIRCUITS["decoupling"].headers)


@given(rtt=HUNDREDTHS, share=st.floats(0, 1), interfaces=st.booleans())
def test_the_mean_round_trip_is_the_one_asked_for(rtt: float, share: float, interfaces: bool) -> None:
    vary = round(share * rtt, 1)
    text = shared(rtt, queue="{ packets = 50 }", vary_ms=vary, interfaces=interfaces)
    *before, link = tomllib.loads(text)["link"]
    assert len(before) == interfaces
    varies = float(link["reverse"]["jitter"]["high"].removesuffix("ms")) if vary else 0.0
    assert 2 * float(link["delay"].removesuffix("ms")) + varies / 2 == pytest.approx(rtt, abs=1e-3)


@given(rtt=st.floats(1, 1000), longer=st.floats(1, 10))
def test_the_bound_falls_with_the_round_trip_and_never_exceeds_the_links(rtt: float, longer: float) -> None:
    assert bound_over_rtt(rtt * longer) <= bound_over_rtt(rtt) <= upper_bound(2e-6)


@given(shares=st.dictionaries(st.sampled_from([10.0, 20.0, 50.0, 100.0]), st.floats(0.5, 1.5), min_size=1))
def test_near_the_bound_is_near_it_everywhere(shares: dict[float, float]) -> None:
    assert Near(shares).holds == (min(shares.values()) >= 0.85 and max(shares.values()) <= 1)


def test_header_packets_are_a_part_of_what_is_missing_to_the_bound() -> None:
    scheme = DEFAULT["decoupling"]
    runs = Context(seeds=1).run(LOSSY, [scheme], {"duration": "20s"})
    found = gap(runs, scheme)
    goodput = runs.goodput(scheme, "KB/s")[0]
    assert found.whole == pytest.approx(upper_bound(20e-7) - goodput)
    assert found.headers == pytest.approx(goodput * HEADER_BYTES / 1448, rel=0.1)


def test_the_gmb_leaves_without_header_packets() -> None:
    scheme = f"{CIRCUIT}:gmb={GMB_MBIT:.0f}Mbit/s"
    runs = Context(seeds=1).run(contested(RED, 2), [scheme], {"duration": "40s"})
    assert unconditional(runs.of(scheme)[0]) == pytest.approx(GMB_MBIT, rel=0.05)


@pytest.mark.parametrize(("vmss", "share"), [(1500, 1 / 2), (3000, 1 / 3), (4500, 1 / 4)])
def test_each_vmss_has_a_header_packet(vmss: int, share: float) -> None:
    scheme = f"{CIRCUIT}:vmss={vmss}B"
    run = Context(seeds=1).run(LOSSY, [scheme], {"duration": "5s"}).of(scheme)[0]
    assert share_of_headers(run) == pytest.approx(share, rel=0.02)
