"""What `airtcp measure` logs, fitted: each way by itself, loss by size, the rate by trains of packets."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from airtcp.facts.scenario import document
from airtcp.fit import Fit, fit
from airtcp.fit.detect import read
from airtcp.fit.loss_by_size import by_size
from airtcp.fit.measurement import Fates, Floats
from airtcp.fit.readers import FileError, probes, trains

SMALL, FULL = 84, 1500


def probe_log(
    path: Path,
    lost: list[str],
    *,
    there_s: Floats | None = None,
    back_s: Floats | None = None,
    facts: str = "load=none clock_error_ms=0",
) -> Path:
    """Small and full packets in turn, 50 ms apart. `lost` has a fate of each: "", there, back, somewhere."""
    lines = [probes.MARK, f"# host=192.0.2.1 by=airtcp {facts}", probes.COLUMNS]
    for place, fate in enumerate(lost):
        there = 20.0 if there_s is None else there_s[place] * 1e3
        back = 10.0 if back_s is None else back_s[place] * 1e3
        times = f"{there + back:.3f},{there:.3f},{back:.3f}" if not fate else ",,"
        lines.append(f"{place * 0.05:.6f},{(SMALL, FULL)[place % 2]},{times},{fate}")
    path.write_text("\n".join(lines) + "\n")
    return path


def fates(n: int, there: float, back: float, seed: int = 1) -> list[str]:
    draws = np.random.default_rng(seed).random((n, 2))
    return ["there" if a < there else "back" if b < back else "" for a, b in draws]


def shown(fitted: Fit, quantity: str) -> str:
    return next(f"{finding.shown} {finding.how}" for finding in fitted.found if finding.quantity == quantity)


def link_of(fitted: Fit) -> dict[str, object]:
    link: dict[str, object] = document(fitted.scenario)["link"][-1]
    return link


def test_each_way_has_its_own_loss(tmp_path: Path) -> None:
    fitted = fit(probe_log(tmp_path / "probes.csv", fates(2000, 0.05, 0.01)))
    assert fitted._estimates.losses["forward"].loss.share.includes(0.05)
    assert fitted._estimates.losses["reverse"].loss.share.includes(0.01)
    there, back = link_of(fitted)["loss"], link_of(fitted)["reverse"]["loss"]  # type: ignore[index]
    assert there["packet"] == pytest.approx(0.05, rel=0.3)  # type: ignore[index]
    assert back["packet"] == pytest.approx(0.01, rel=0.6)
    # What was lost on the way there was never sent back.
    assert fitted._estimates.losses["reverse"].loss.n == 2000 - fitted._estimates.losses["forward"].loss.lost
    assert "on which way" not in " ".join(unknown.quantity for unknown in fitted.unknown)


def test_a_way_that_loses_nothing_says_so(tmp_path: Path) -> None:
    fitted = fit(probe_log(tmp_path / "probes.csv", fates(1000, 0.0, 0.03)))
    link = link_of(fitted)
    assert link["loss"]["packet"] == 0  # type: ignore[index]
    assert link["reverse"]["loss"]["packet"] == pytest.approx(0.03, rel=0.5)  # type: ignore[index]


def test_each_way_has_its_own_delay_and_variation(tmp_path: Path) -> None:
    random = np.random.default_rng(2)
    there = 0.02 + random.lognormal(np.log(0.004), 0.5, 2000)
    log = probe_log(tmp_path / "probes.csv", [""] * 2000, there_s=there)
    fitted = fit([log], rate="100Mbit/s")
    link = link_of(fitted)
    assert float(shown(fitted, "delay in the forward direction").split()[0]) == pytest.approx(20, abs=0.3)
    assert "one clock" in shown(fitted, "delay in the reverse direction")
    assert shown(fitted, "variation of delay in the reverse direction").startswith("none")
    assert link["jitter"]["distribution"] == "correlated"  # type: ignore[index]
    assert link["reverse"]["jitter"]["distribution"] == "constant"  # type: ignore[index]
    assert link["reverse"]["delay"] == "10ms" or "9.99" in link["reverse"]["delay"]  # type: ignore[index]


def test_clocks_that_differ_and_drift_do_not_matter_to_what_varies(tmp_path: Path) -> None:
    random = np.random.default_rng(3)
    time = np.arange(1200) * 0.05
    clock = 3.7 + 100e-6 * time
    there = 0.02 + random.lognormal(np.log(0.002), 0.4, 1200) + clock
    back = 0.02 + random.lognormal(np.log(0.006), 0.4, 1200) - clock
    log = probe_log(tmp_path / "probes.csv", [""] * 1200, there_s=there, back_s=back, facts="load=none")
    fitted = fit(log)
    ways = fitted._estimates.ways
    for way, mean in (("forward", 0.002), ("reverse", 0.006)):
        found = ways[way]  # type: ignore[index]
        assert found.variation is not None
        assert found.variation.mean_s == pytest.approx(mean * np.exp(0.08), rel=0.25)
    assert "clocks of the two hosts differ" in " ".join(unknown.text for unknown in fitted.unknown)


def test_loss_by_size_is_told(tmp_path: Path) -> None:
    ber = 1e-5
    random = np.random.default_rng(4)
    shares = 1 - (1 - ber) ** (8 * np.array([SMALL, FULL]))
    lost = ["there" if random.random() < shares[place % 2] else "" for place in range(2000)]
    fitted = fit(probe_log(tmp_path / "probes.csv", lost))
    assert link_of(fitted)["loss"]["ber"] == pytest.approx(ber, rel=0.25)  # type: ignore[index]
    assert "Bit errors explain it" in shown(fitted, "loss by size")


def test_loss_of_any_size_is_no_bit_errors(tmp_path: Path) -> None:
    fitted = fit(probe_log(tmp_path / "probes.csv", fates(2000, 0.05, 0)))
    assert link_of(fitted)["loss"]["ber"] == 0  # type: ignore[index]
    assert "does not depend on length" in shown(fitted, "loss by size")


def test_bit_errors_beside_bursts() -> None:
    """Small ones show the bursts, full ones the bit errors on top."""
    random = np.random.default_rng(5)
    bad, lost = False, []
    sizes = np.tile([float(SMALL), float(FULL)], 3000)
    for size in sizes:
        bad = random.random() < (0.7 if bad else 0.02)
        lost.append(bad or random.random() < 1 - (1 - 1e-5) ** (8 * size))
    found = by_size(Fates(np.array(lost), "forward", sizes=sizes))
    assert found is not None
    assert found.ber is not None
    assert found.ber.best == pytest.approx(1e-5, rel=0.35)
    assert found.rest is not None
    assert found.rest.chain is not None


def test_too_few_losses_to_tell_sizes_apart_are_said(tmp_path: Path) -> None:
    lost = ["there" if place in (101, 701) else "" for place in range(1000)]
    fitted = fit(probe_log(tmp_path / "probes.csv", lost))
    (unsure,) = (each for each in fitted.unknown if each.quantity.startswith("how loss grows with length"))
    assert unsure.quantity.endswith("in the forward direction")
    first, other = unsure.readings
    assert not first.keys
    assert fitted.scenario.vary(dict(other.keys)).name


def test_bursts_are_told_from_single_losses(tmp_path: Path) -> None:
    lost = ["there" if place % 60 < 4 else "" for place in range(1200)]
    fitted = fit(probe_log(tmp_path / "probes.csv", lost))
    assert fitted._estimates.losses["forward"].loss.chain is not None
    single = fit(probe_log(tmp_path / "single.csv", fates(1200, 0.06, 0.0)))
    assert single._estimates.losses["forward"].loss.chain is None


@pytest.mark.parametrize(
    ("load", "lost", "probes_of_loss"), [("there", 0.3, 600), ("own", 0.01, 6000)], ids=["loaded", "dense"]
)
def test_probes_of_a_busy_path_say_nothing_of_its_idle_delay(
    tmp_path: Path, load: str, lost: float, probes_of_loss: int
) -> None:
    """Nor of its loss where others load it; of dense probes, which fill it in part, the fates count."""
    idle = probe_log(tmp_path / "idle.csv", fates(600, 0.0, 0.0))
    busy = probe_log(
        tmp_path / "busy.csv",
        fates(6000, lost, 0.0),
        there_s=np.full(6000, 0.2),
        facts=f"load={load} clock_error_ms=0",
    )
    fitted = fit([idle, busy])
    loss = fitted._estimates.losses["forward"].loss
    assert loss.n == probes_of_loss
    assert (loss.lost == 0) == (load == "there")
    assert fitted.delay is not None
    assert fitted.delay.base_s.best == pytest.approx(0.03)


def train_log(
    path: Path,
    rate_bps: float,
    *,
    room: int = 10**6,
    loss: float = 0.0,
    n: int = 100,
    many: int = 8,
    spread: float = 0.0,
) -> Path:
    """Trains sent at 1 Gbit/s through a queue and a link. A delay that varies spreads or crowds each."""
    random = np.random.default_rng(6)
    lines = [trains.MARK, trains.COLUMNS]
    for way, train in ((way, train) for way in ("there", "back") for train in range(many)):
        service_us = FULL * 8e6 / rate_bps * (1 + spread * random.standard_normal())
        free_us = 0.0
        for index in range(n):
            sent_us = index * 12
            if (free_us - sent_us) / service_us > room:
                lines.append(f"{way},{train},{index},{FULL},{sent_us},")
                continue
            free_us = max(free_us, sent_us) + service_us
            arrived = "" if random.random() < loss else f"{free_us + 20_000 + random.random() * 100:.1f}"
            lines.append(f"{way},{train},{index},{FULL},{sent_us},{arrived}")
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize(("rate_bps", "loss"), [(2e6, 0.0), (2e7, 0.1), (1e8, 0.02)])
def test_trains_tell_the_rate_of_either_way(rate_bps: float, loss: float, tmp_path: Path) -> None:
    fitted = fit(train_log(tmp_path / "trains.csv", rate_bps, loss=loss))
    for way in ("forward", "reverse"):
        found = fitted._evidence.link_rate[way].what.estimate_bps
        assert found == pytest.approx(rate_bps, rel=0.02)


def test_many_trains_tell_the_rate_behind_a_delay_that_varies(tmp_path: Path) -> None:
    """Each of them is wrong by 9 %, and none by the same."""
    fitted = fit(train_log(tmp_path / "trains.csv", 20e6, n=60, many=48, spread=0.09))
    for way in ("forward", "reverse"):
        found = fitted._evidence.link_rate[way].what.estimate_bps
        assert found == pytest.approx(20e6, rel=0.04)


def varying_log(path: Path, rates_bps: Floats, *, delay_s: Floats | None = None) -> Path:
    """Trains of 100 packets, one a second, each at its rate. `delay_s` stretches each by so much."""
    lines = [trains.MARK, trains.COLUMNS]
    for train, rate_bps in enumerate(rates_bps):
        late_us = 0.0 if delay_s is None else delay_s[train] * 1e6
        for index in range(100):
            arrived_us = 20_000 + (index + 1) * FULL * 8e6 / rate_bps + late_us * index / 99
            lines.append(f"there,{train},{index},{FULL},{index * 12},{arrived_us:.1f},{train}")
    path.write_text("\n".join(lines) + "\n")
    return path


def quiet_probes(path: Path, deviation_s: float) -> Path:
    delays = 0.02 + deviation_s * np.random.default_rng(3).random(600)
    return probe_log(path, [""] * 600, there_s=delays, back_s=np.full(600, 0.01))


def test_trains_over_time_show_a_rate_that_varies(tmp_path: Path) -> None:
    """As an LTE cell's: it wanders between 0.5 and 8 Mbit/s over half a minute."""
    rates = 2e6 * 4 ** np.sin(np.arange(40) / 5)
    log = varying_log(tmp_path / "trains.csv", rates)
    fitted = fit([log, quiet_probes(tmp_path / "probes.csv", 0.004)])
    (said,) = [note for note in fitted.notes if "varies" in note]
    assert said.startswith(
        "The rate in the forward direction varies: the 40 trains of trains.csv, over 40 s, came at 0.5"
    )
    assert "rate" not in link_of(fitted)
    steps = json.loads(next(content for name, content in fitted.files.items() if name.endswith(".log.json")))
    assert [step["bandwidth_kbps"] for step in steps] == pytest.approx(list(rates / 1e3), rel=0.02)
    assert {step["duration_ms"] for step in steps} == {1000.0}
    assert fitted.rate_bps == pytest.approx(rates.mean(), rel=0.02)
    record = json.loads(fitted.scenario.run("bbr", 1).to_json())
    assert record["flows"][0]["goodput_bps"] == pytest.approx(rates.mean(), rel=0.4)


def test_a_delay_that_varies_is_not_taken_for_a_rate_that_does(tmp_path: Path) -> None:
    """The same trains, spread by delays as long as those that the probes met."""
    random = np.random.default_rng(5)
    log = varying_log(tmp_path / "trains.csv", np.full(40, 8e6), delay_s=0.08 * random.random(40))
    alone = fit(log)
    assert any("varies" in note for note in alone.notes)
    fitted = fit([log, quiet_probes(tmp_path / "probes.csv", 0.08)])
    assert not any("varies" in note for note in fitted.notes)
    assert "rate" in link_of(fitted)


@given(rates=st.lists(st.floats(1e5, 2e7), min_size=5, max_size=40), deviation_s=st.floats(1e-4, 0.2))
@settings(max_examples=40, deadline=None)
def test_whatever_the_trains_show_one_rate_is_near_most_of_them(
    rates: list[float], deviation_s: float, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """One rate is given only if half of the trains are near it, or delays explain that they are not."""
    folder = tmp_path_factory.getbasetemp()
    log, probed = (
        varying_log(folder / "trains.csv", np.array(rates)),
        quiet_probes(folder / "p.csv", deviation_s),
    )
    fitted = fit([log, probed])
    if "rate" in link_of(fitted):
        took_s = 99 * FULL * 8 / np.array(rates)
        used = took_s[took_s >= trains.LONG_S]
        low, high = np.quantile(rates, [0.25, 0.75])
        is_near = high - low <= (trains.VARIES + 0.01) * float(np.median(rates))
        spread_s = float(np.subtract(*np.quantile(used, [0.75, 0.25]))) if len(used) else 0.0
        assert is_near or len(used) < trains.FEW_TRAINS or spread_s < 3 * deviation_s


def test_trains_that_overflow_tell_the_queue_s_room(tmp_path: Path) -> None:
    fitted = fit(train_log(tmp_path / "trains.csv", 10e6, room=30))
    assert fitted._evidence.queue_rooms["forward"].what.is_full
    assert link_of(fitted)["queue"]["packets"] == pytest.approx(30, abs=2)  # type: ignore[index]


def test_trains_that_were_sent_too_slowly_tell_no_rate(tmp_path: Path) -> None:
    measured = read(train_log(tmp_path / "trains.csv", 5e9))
    assert all(rate.estimate_bps is None for rate in measured.link_rates)


@given(
    rows=st.lists(
        st.tuples(
            st.floats(0, 100),
            st.integers(1, 65535),
            st.floats(0, 5000) | st.none(),
            st.floats(-1e4, 1e4) | st.none(),
            st.sampled_from(probes.FATES),
        ),
        min_size=1,
        max_size=60,
    ),
    facts=st.sampled_from(["", "clock_error_ms=0", "clock_error_ms=-1e9", "load=both mtu=x", "mtu=1400"]),
)
@settings(max_examples=150, derandomize=True)
def test_whatever_was_probed_is_fitted_or_refused(
    rows: list[tuple[float, int, float | None, float | None, str]],
    facts: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    path = tmp_path_factory.getbasetemp() / "probes.csv"
    lines = [probes.MARK, f"# {facts}", probes.COLUMNS]
    for time_s, size, rtt, there, fate in rows:
        numbers = ["" if value is None else repr(value) for value in (rtt, there, there)]
        lines.append(f"{time_s!r},{size},{','.join(numbers)},{fate}")
    path.write_text("\n".join(lines))
    refused = ""
    try:
        fit(path).load()
    except FileError as error:
        refused = str(error)
    assert not refused or str(path) in refused
