"""From a path to an answer: facts, candidates, ties, ranges, and links whose answer is known."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Any, get_args

import jsonschema
import pytest
from conftest import Cli, runs_of
from hypothesis import given
from hypothesis import strategies as st

import airtcp
from airtcp._engine import rate_in_bps
from airtcp.advise.advice import Advice, Cell, advice_schema
from airtcp.advise.asked import CONTROLS, Control, places
from airtcp.advise.bench import Bench
from airtcp.advise.beside import Beside, judge
from airtcp.advise.candidates import Candidate, Tunnel, first_round, hosts, second_round
from airtcp.advise.choice import choose, gain
from airtcp.advise.deployment import (
    CONGESTION_CONTROLS,
    FACTS,
    KERNELS,
    PARTS,
    QUEUES,
    SETTINGS,
    STAGES,
    TUNNELS,
)
from airtcp.advise.gateway import wireless
from airtcp.advise.inquiry import Inquiry, Question, shortened
from airtcp.advise.now import in_use, scheme_of
from airtcp.advise.race import QUICK, Race, decide, screen
from airtcp.advise.ranges import elsewhere, propagation, ranges
from airtcp.advise.standing import standings
from airtcp.advise.surroundings import Point, burst_of, changes, grid, loss_of
from airtcp.advise.table import parted
from airtcp.advise.tunnel import is_worth_trying, left_over, parity_for, tunnelled
from airtcp.advise.words import paragraphs
from airtcp.facts.competition import COMPETITOR
from airtcp.facts.routes import base_rtts_s
from airtcp.facts.scenario import document, replays
from airtcp.facts.stats import Estimate
from airtcp.facts.summary import GOODPUT, goodput_bps
from airtcp.results.document import to_json
from airtcp.running.cost import CostError, bound_bps, check_cost, time_text
from airtcp.running.watching import Silent

CLEAN = 'duration = "20s"\n[[link]]\nname = "radio"\nrate = "4Mbit/s"\ndelay = "20ms"\n'
LOSSY = f'{CLEAN}loss = {{ packet = "3%" }}\n'
BURSTY = f"{CLEAN}loss = {{ burst = {{ to_bad = 0.01, to_good = 0.25, bad_loss = 0.5 }} }}\n"

controls = st.sets(st.sampled_from(list(CONTROLS))).map(sorted)


def test_every_scheme_has_facts_with_a_source() -> None:
    names = {scheme["name"] for scheme in airtcp.schemes()}
    assert set(FACTS) == names, "python/airtcp/advise/deployment.py says what each needs on real hosts"
    for facts in [*FACTS.values(), *QUEUES.values(), *SETTINGS.values(), *TUNNELS.values()]:
        assert facts.places
        assert facts.stage in STAGES
        assert facts.source
        assert facts.how


def test_every_queue_of_a_scheme_has_facts() -> None:
    with pytest.raises(airtcp.ScenarioError, match=f"known: {', '.join(QUEUES)}$"):
        airtcp.Scenario.built_in([("schemes", '["reno @ nothing"]')])


def test_what_linux_has_needs_no_airtcp_and_the_default_no_root() -> None:
    for name, facts in FACTS.items():
        if facts.stage in ("default", "setting"):
            assert facts.airtcp == "not needed", name
        if facts.airtcp == "yes":
            assert facts.stage == "software", name
            assert "airtcpd " in facts.how, name
        assert facts.root == (facts.stage != "default"), name


@given(controls, st.sampled_from(["cubic", "reno:rto.min=1s", "bbr", "cubic+packet-control"]))
def test_candidates_need_only_what_is_controlled_and_all_can_be_run(control: list[Control], now: str) -> None:
    controlled = places(control)
    found = first_round(now, controlled, 100_000)
    found += second_round(now, found)
    assert found[0].name == now
    assert not found[0].places
    assert len({candidate.name for candidate in found}) == len(found)
    for candidate in found:
        assert candidate.places <= controlled, candidate.name
    airtcp.Scenario.built_in([("schemes", json.dumps(list({c.scheme for c in found})))])


def test_all_that_can_be_used_is_tried_where_everything_is_controlled() -> None:
    tried = first_round("cubic", places([]), 100_000)
    assert {c.scheme for c in tried} >= CONGESTION_CONTROLS.keys()
    names = {term.split(":")[0] for c in tried for term in c.scheme.split("+")}
    left_out = {name for name, facts in PARTS.items() if facts.stage in ("default", "history")}
    assert FACTS.keys() - names == left_out


def test_tunnels_are_tried_where_both_ends_are_controlled_and_something_is_lost() -> None:
    both = {c.tunnel for c in first_round("cubic", places(["both"]), 100_000)}
    assert both == {None, *get_args(Tunnel)}
    assert {c.tunnel for c in first_round("cubic", places(["sender", "gateway"]), 100_000)} == {None}
    path = {text: document(airtcp.Scenario.parse(text)) for text in (CLEAN, LOSSY, BURSTY)}
    assert not is_worth_trying(path[CLEAN], "arq")
    assert is_worth_trying(path[LOSSY], "fec")
    assert (is_worth_trying(path[BURSTY], "arq"), is_worth_trying(path[BURSTY], "fec")) == (True, False)


def test_a_tunnel_repairs_the_way_that_it_is_for_and_costs_rate() -> None:
    scenario = airtcp.Scenario.parse(LOSSY)

    def link(tunnel: Tunnel) -> dict[str, Any]:
        return wireless(document(scenario.vary(dict(tunnelled(document(scenario), tunnel)))))

    there, back = link("fec-there"), link("fec-back")
    assert loss_of(there) < 0.03 * 0.03
    assert loss_of(there["reverse"]) == loss_of(back) == pytest.approx(0.03)
    assert (back["rate"], back["reverse"]["rate"]) == ("4Mbit/s", there["rate"])
    assert rate_in_bps(there["rate"]) == pytest.approx(4e6 * 20 / (20 + parity_for(0.03)), abs=1)
    arq = link("arq-there")
    assert arq["arq"]["round_trip"] == "40ms"
    assert not arq["reverse"].get("arq", {}).get("retries")


def test_the_strength_of_a_code_is_what_chance_says() -> None:
    """Of 20 packets without parity all that is lost stays lost; with one, blocks that lost more than one."""
    assert left_over(0.1, 0) == pytest.approx(0.1)
    of_two_or_more = 0.1 - 0.1 * 0.9**20
    assert left_over(0.1, 1) == pytest.approx(of_two_or_more)
    assert left_over(0.03, parity_for(0.03)) <= 0.02 * 0.03


def test_a_receiver_alone_changes_no_sender() -> None:
    for candidate in first_round("cubic", places(["receiver"]), 100_000):
        assert candidate.scheme.split(":")[0] == "cubic"


def test_what_waits_for_marks_is_tried_only_with_a_queue_that_marks() -> None:
    assert not {"spectcp", "jersey"} & {c.scheme for c in first_round("cubic", places(["sender"]), 100_000)}
    both = first_round("cubic", places(["sender", "gateway"]), 100_000)
    assert {c.queue for c in both if c.scheme == "spectcp"} == {"red-ecn"}


def test_marks_need_a_sender_that_asks_for_them() -> None:
    both = first_round("cubic", places(["sender", "gateway"]), 100_000)
    marked = next(candidate for candidate in both if candidate.name == "cubic:ecn=true @ red-ecn")
    assert marked.places == {"sender", "gateway"}


def test_a_machine_takes_the_place_of_the_one_in_use() -> None:
    assert hosts("cubic+packet-control") == "cubic"
    assert "cubic+snoop" in {c.name for c in first_round("cubic+packet-control", places(["gateway"]), 1)}


def test_the_best_senders_go_with_the_best_machines() -> None:
    ranked = [Candidate(name) for name in ("bbr", "cubic+split", "vegas", "cubic+snoop", "reno", "cubic")]
    names = {candidate.name for candidate in second_round("cubic", ranked)}
    assert names == {"bbr+split", "bbr+snoop", "vegas+split", "vegas+snoop"}
    unwritten = [Candidate("westwood"), Candidate("westwood-vt"), *ranked]
    names = {candidate.name for candidate in second_round("cubic", unwritten)}
    assert names == {"westwood+split", "westwood+snoop", "westwood-vt+split", "westwood-vt+snoop"}


def test_what_is_behind_by_less_than_the_margin_is_tied() -> None:
    """And so is what a wide interval cannot tell; what is surely behind is not."""
    runs = runs_of(
        cubic=[9.0, 9.01, 9.02], bbr=[9.1, 9.11, 9.12], veno=[8.0, 8.01, 8.02], vegas=[2.0, 9.0, 13.0]
    )
    by_scheme = {
        name: [run for run in runs if run["scheme"] == name] for name in ("cubic", "bbr", "veno", "vegas")
    }
    means = {name: fmean(run["goodput_bps"] for run in of_scheme) for name, of_scheme in by_scheme.items()}
    found = {standing.name: standing.place for standing in standings(by_scheme, means, GOODPUT)}
    assert found == {"bbr": "best", "cubic": "tied", "vegas": "tied", "veno": "behind"}


def _raced(scenario: airtcp.Scenario, **goodputs_mbps: list[float]) -> Race:
    race = Race(scenario, Candidate("cubic"), [Candidate(name) for name in goodputs_mbps])
    for run in runs_of(**goodputs_mbps):
        race.keep(run["scheme"], run)
    return race


def test_of_a_recording_the_seeds_of_some_are_not_their_luck(recorded: airtcp.Scenario) -> None:
    """cubic has run two poor places more; on those of both it is the better one."""
    race = _raced(recorded, cubic=[5.0, 5.2, 1.0, 1.1], reno=[4.0, 4.2])
    assert race.standings()[0].name == "cubic"
    assert race.mean("reno", goodput_bps) == pytest.approx(4.1e6 * (12.3 / 4) / 5.1)
    chance = _raced(airtcp.Scenario.built_in(), cubic=[5.0, 5.2, 1.0, 1.1], reno=[4.0, 4.2])
    assert chance.mean("reno", goodput_bps) == pytest.approx(4.1e6)


@pytest.mark.parametrize(
    ("kept", "word"),
    [
        (Estimate(0.98, 0.05, 5), "harmless"),
        (Estimate(0.98, 0.15, 5), "not known"),
        (Estimate(0.9, 0.2, 5), "not known"),
        (Estimate(0.6, 0.1, 5), "takes more than its share"),
        (Estimate(0.4, 0.2, 5), "takes more than its share"),
        (Estimate(0.1, 0.05, 5), "starves it"),
        (Estimate(0.1, None, 1), "not known"),
    ],
)
def test_words_for_what_a_competitor_keeps_are_what_the_interval_shows(kept: Estimate, word: str) -> None:
    assert judge(kept).word == word


def test_a_competitor_keeps_all_beside_its_own_kind() -> None:
    beside = Beside()
    for scheme, carried in (("cubic", [4.0, 5.0]), ("bbr", [2.0, 2.5])):
        found = runs_of(**{scheme: carried})
        for run in found:
            run["flows"][0]["name"] = COMPETITOR
        beside.runs[scheme] = found
    own, other = beside.share("cubic"), beside.share("bbr")
    assert own is not None
    assert own.kept.mean == 1.0
    assert other is not None
    assert other.kept.mean == pytest.approx(0.5)
    assert beside.share("reno") is None


def _beside(**kept: Sequence[float]) -> Beside:
    """What a CUBIC flow carries beside each, in Mbit/s: 4 beside its own kind."""
    found = Beside()
    for run in runs_of(**{"cubic": [4.0] * 4, **kept}):
        run["flows"][0]["name"] = COMPETITOR
        found.runs.setdefault(run["scheme"], []).append(run)
    return found


def test_of_what_ties_the_least_change_is_recommended() -> None:
    """Though the dearer one does no harm and is a little better; and the list of ties is complete."""
    race = _raced(
        airtcp.Scenario.built_in(),
        cubic=[2.0, 2.1, 2.2, 2.1],
        bbr=[9.0, 9.3, 9.2, 9.1],
        bbr3=[9.2, 9.1, 9.3, 9.0],
        hybla=[7.0, 10.9, 9.9, 6.0],
        vegas=[3.0, 3.1, 3.0, 3.1],
    )
    queued = Candidate("bbr", "fq-codel")
    race.candidates.append(queued)
    for run in runs_of(bbr=[9.3, 9.2, 9.3, 9.1]):
        race.keep(queued.name, run)
    found = choose(race, _beside(bbr=[1.0, 1.1, 1.0, 1.1]))
    assert found is not None
    assert found.use == "bbr"
    assert set(found.tied) == {"bbr3", "bbr @ fq-codel", "hybla"}
    assert [(alone.place, alone.use) for alone in found.alone] == [("sender", "bbr"), ("gateway", None)]


def test_few_seeds_do_not_decide_that_nothing_is_to_change() -> None:
    """BBR carries 14 % more, which three seeds of CUBIC among bursts of losses do not show."""
    link = 'name = "radio"\nrate = "5374kbit/s"\ndelay = "20.5ms"\nqueue = { packets = 37 }'
    burst = "loss = { burst = { to_bad = 0.0037, to_good = 0.424 } }"
    scenario = f'duration = "30s"\nprofile = "linux"\n[[link]]\n{link}\n{burst}\n'
    found = airtcp.advise(airtcp.Scenario.parse(scenario), control="sender", quick=True)
    assert found.recommendation is not None
    assert not found.recommendation.keep_now
    screened = airtcp.advise(airtcp.Scenario.parse(scenario), control="sender", quick=True, seeds=3)
    assert screened.recommendation is not None
    assert screened.recommendation.keep_now


def test_gains_over_different_seeds_are_not_put_side_by_side() -> None:
    race = _raced(
        airtcp.Scenario.built_in(), cubic=[5.0, 5.2, 4.0, 4.1], bbr=[9.0, 9.1, 9.2, 9.0], reno=[4.0, 4.2]
    )
    by_name = {candidate.name: candidate for candidate in race.candidates}
    assert gain(race, by_name["bbr"]) is not None
    assert gain(race, by_name["reno"]) is None


@given(
    st.sampled_from([LOSSY, BURSTY, CLEAN]),
    st.sampled_from([None, 0.002, 0.1]),
    st.sampled_from([0.5, 1.0, 2.0]),
)
def test_a_point_has_the_loss_and_delay_that_it_says(text: str, loss: float | None, factor: float) -> None:
    scenario = airtcp.Scenario.parse(text)
    path = document(scenario)
    varied = document(scenario.vary(changes(Point(loss=loss, delay_factor=factor), path)))
    want = loss_of(wireless(path)) if loss is None else loss
    assert loss_of(wireless(varied)) == pytest.approx(want, rel=0.05)
    assert base_rtts_s(varied) == pytest.approx([factor * rtt_s for rtt_s in base_rtts_s(path)])
    assert wireless(varied)["queue"] == wireless(path)["queue"]


@given(st.sampled_from([LOSSY, BURSTY]), st.sampled_from([1.0, 4.0, 16.0]))
def test_other_bursts_lose_as_much(text: str, packets: float) -> None:
    scenario = airtcp.Scenario.parse(text)
    path = document(scenario)
    link = wireless(document(scenario.vary(changes(Point(burst_packets=packets), path))))
    assert burst_of(link, 1.0) == pytest.approx(packets)
    assert loss_of(link) == pytest.approx(loss_of(wireless(path)))


def test_other_rates_are_tried_where_the_rate_is_not_known() -> None:
    path = document(airtcp.Scenario.parse(CLEAN))
    assert not grid(path, rate_unknown=False, packets_per_s=1.0).rates
    varied = airtcp.Scenario.parse(CLEAN).vary(changes(Point(rate_factor=0.5), path))
    assert wireless(document(varied))["rate"] == "2Mbit/s"
    assert Point(rate_factor=0.5) in grid(path, rate_unknown=True, packets_per_s=1.0).points()


def _ask(text: str, *control: Control, now: str = "cubic", jobs: int | None = None) -> Advice:
    scenario = airtcp.Scenario.parse(text)
    return airtcp.advise(scenario, control=control, now=now, quick=True, jobs=jobs)


@pytest.fixture(scope="module")
def lossy() -> Advice:
    return _ask(LOSSY, "sender")


def _pinged(tmp_path: Path, lost: Sequence[int]) -> airtcp.Fit:
    """300 pings, a second apart."""
    answered = [
        f"64 bytes from 192.0.2.1: icmp_seq={place} ttl=56 time={60 + place * 37 % 50 / 10} ms"
        for place in range(1, 301)
        if place not in lost
    ]
    (tmp_path / "ping.log").write_text(
        "\n".join(["PING host (192.0.2.1) 56(84) bytes of data.", *answered]) + "\n"
    )
    return airtcp.fit(tmp_path / "ping.log")


def test_a_measurement_that_can_be_read_in_two_ways_is_answered_for_both(tmp_path: Path) -> None:
    """Pings a second apart do not tell whether a loss is one packet, or all of a second."""
    fitted = _pinged(tmp_path, lost=[30, 31, 70, 100, 101, 102, 150, 200, 201, 240, 280, 281])
    advice = airtcp.advise(fitted, control=["sender"], quick=True)
    in_bursts, alone = advice.readings
    assert (in_bursts.stands_in, alone.stands_in) == (True, False)
    assert alone.reading == "each packet is lost independently"
    # The order of magnitude is another one.
    assert alone.reached_now.mean < 0.5 * in_bursts.reached_now.mean
    assert "cubic" not in alone.as_good
    first, second = advice.text[:2]
    assert first.title == "First"
    assert "10 Mbit/s assumed" in first.text
    assert "Rate" in first.text.split("assumed", 1)[1]
    for word in (
        "If losses come in bursts",
        "If each packet is lost independently: use ",
        "Best or tied in every",
    ):
        assert word in second.text
    assert "airtcp measure" in first.text
    # What is best if losses come alone is best on the map where they do.
    single = next(cell for cell in advice.around if cell.burst_packets == 1)
    assert "cubic" not in (single.best, *single.tied)
    jsonschema.Draft202012Validator(advice_schema()).validate(json.loads(to_json(advice)))


def test_a_fitted_scenario_answers_as_its_measurement_does(tmp_path: Path) -> None:
    fitted = _pinged(tmp_path, lost=[30, 31, 70, 100, 101, 102, 150, 200, 201, 240, 280, 281])
    file = fitted.write(tmp_path / "path.toml")
    of_log = airtcp.advise(fitted, control=["sender"], quick=True)
    of_file = airtcp.advise(file, control=["sender"], quick=True)
    assert len(of_file.readings) == 2
    assert of_file == replace(of_log, command=of_file.command)


def test_the_gain_is_told_over_what_the_loss_may_be(tmp_path: Path) -> None:
    fitted = _pinged(tmp_path, lost=[30, 70, 150, 200])
    found = airtcp.advise(fitted, control=["sender"], quick=True)
    assert found.loss_between is not None
    assert found.gain_between is not None
    low, high = found.loss_between
    assert low < found.loss < high
    assert found.recommendation is not None
    assert found.recommendation.gain is not None
    least, most = found.gain_between
    # Twelve times the loss makes more than twice the gain.
    assert most - least > 2 * (found.recommendation.gain.half_width or 0)
    assert "Loss was measured to be" in str(found)
    same = fitted.load([("wireless.loss", "{packet=0.01}")])
    said = airtcp.advise(same, written=fitted.scenario, control=["sender"], quick=True)
    assert said.gain_between is None


def test_what_the_asker_says_is_unknown_no_more(tmp_path: Path) -> None:
    fitted = _pinged(tmp_path, lost=[30, 70, 150, 200])
    assert [unknown.quantity for unknown in fitted.unknown if unknown.readings] == [
        "whether losses come in bursts"
    ]
    said = fitted.load([("wireless.rate", "2Mbit/s"), ("wireless.loss", "{packet=0.01}"), ("duration", "2s")])
    found = airtcp.advise(said, written=fitted.scenario, control=["gateway"], quick=True)
    assert found.rate_assumed is None
    assert not found.readings
    assert "First" not in [paragraph.title for paragraph in found.text]


class Mine(airtcp.CongestionControl):
    """The least that runs."""

    def on_ack(self, ack: airtcp.Ack) -> None:
        self.cwnd += self.mss * ack.acked_bytes / self.cwnd

    def on_loss(self, loss: airtcp.Loss) -> None:
        self.ssthresh = max(0.9 * loss.flight_size_bytes, 2 * self.mss)
        self.cwnd = self.ssthresh


def test_a_control_of_the_askers_competes_and_is_to_be_written() -> None:
    tried = first_round("cubic", places(["sender"]), 100_000, own=[Mine.name])
    assert next(candidate for candidate in tried if candidate.name == "mine").stage == "unwritten"
    assert "mine" not in {c.name for c in first_round("cubic", places(["gateway"]), 100_000, own=[Mine.name])}
    scenario = airtcp.Scenario.parse(LOSSY.replace("20s", "2s"))
    found = airtcp.advise(scenario, control=["receiver"], now="mine", quick=True, controllers=[Mine])
    assert found.now == "mine"


def test_at_20_gigabit_a_second_runs_are_short_and_the_answer_says_so() -> None:
    fast = 'duration = "60s"\n[[link]]\nname = "fibre"\nrate = "20Gbit/s"\ndelay = "0.5ms"\n'
    inquiry = Inquiry(
        Question(airtcp.Scenario.parse(fast), frozenset({"receiver"}), "cubic", None, QUICK, False, False),
        Bench(None, Silent()),
    )
    pilot = inquiry._pilot()
    inquiry._prepare(pilot)
    assert pilot["duration_s"] == 1.0
    assert inquiry.scenario.duration_s == 1.0
    assert any("so short" in note for note in inquiry.notes())


def test_what_would_take_days_is_refused_with_a_figure() -> None:
    scenario = airtcp.Scenario.parse(LOSSY).vary(duration="1e9s")
    with pytest.raises(CostError, match=r"\d+ (days|years)"):
        airtcp.advise(scenario, control=["sender"], keep_duration=True)
    assert check_cost(airtcp.Scenario.parse(LOSSY), 1) == pytest.approx(
        35 * 20 * 5 * 4e6 / 12000 / 3e6, rel=0.1
    )
    texts = {40: "40 s", 300: "5 min", 9000: "2 h 30 min", 1e6: "12 days", 1e9: "32 years"}
    assert {seconds: time_text(seconds) for seconds in texts} == texts


def test_flows_that_begin_late_neither_end_the_estimate_nor_a_shortened_run() -> None:
    late = airtcp.Scenario.parse(f'{LOSSY}[[flow]]\nstart = "2s"\ncount = 2\nstagger = "500ms"\n')
    assert bound_bps(late) == pytest.approx(bound_bps(airtcp.Scenario.parse(LOSSY)), rel=0.1)
    assert shortened(late, 0.01, 1.0).duration_s == 3.5
    assert shortened(late.vary(duration="3s"), 0.01, 1.0).duration_s == 3.0


def test_on_a_clean_link_there_is_little_to_gain() -> None:
    advice = _ask(CLEAN, "sender")
    found = advice.recommendation
    assert found is not None
    assert found.keep_now
    assert found.use == "cubic"
    assert found.tied
    assert "all runs are identical" not in str(advice)
    on_time = _ask(f'{CLEAN}[[flow]]\nname = "main"\nstart = "0s"\n', "sender")
    assert "all runs are identical" in str(on_time)


def test_where_much_is_lost_a_sender_that_ignores_losses_wins(lossy: Advice) -> None:
    found = lossy.recommendation
    assert found is not None
    assert found.use == "bbr"
    assert found.gain is not None
    assert found.gain.low is not None
    assert found.gain.low > 0.5
    rows = {row.name: row for row in lossy.rows}
    share = rows["bbr"].share
    assert share is not None
    assert share.word != "harmless"
    assert "tcp_bbr" in str(lossy)
    assert "bbr stays best" in str(lossy)


def test_what_the_answer_names_stands_in_the_table_and_on_the_map(lossy: Advice) -> None:
    """Also where it is behind what is there now."""
    assert lossy.recommendation is not None
    shown, below = parted(lossy)
    last = below[-1]
    named = replace(lossy, recommendation=replace(lossy.recommendation, swifter=last.name))
    assert parted(named)[0] == [*shown, last]
    assert lossy.around[0].best == lossy.recommendation.use
    assert lossy.around[0].tied == lossy.recommendation.tied
    gains = [row for row in lossy.rows if row.gain is not None]
    assert {len(row.summary.seeds) for row in gains} == {max(len(row.summary.seeds) for row in lossy.rows)}


def test_the_answer_obeys_its_schema(lossy: Advice) -> None:
    jsonschema.Draft202012Validator(advice_schema()).validate(json.loads(to_json(lossy)))


def test_the_same_answer_whatever_the_number_of_jobs(lossy: Advice) -> None:
    assert to_json(_ask(LOSSY, "sender", jobs=1)) == to_json(lossy)


def test_the_report_has_the_answer_the_candidates_and_the_map(lossy: Advice, tmp_path: Path) -> None:
    lossy.report(tmp_path / "a.html")
    page = (tmp_path / "a.html").read_text()
    for word in ("Use bbr", "What it costs others", "tcp_bbr", "The best scheme on similar paths"):
        assert word in page
    lossy.report(tmp_path / "b.html")
    assert (tmp_path / "b.html").read_text() == page


def _cell(loss: float, best: str, *tied: str) -> Cell:
    behind = Estimate(0.2, 0.01, 4)
    return Cell(
        loss=loss,
        delay_factor=1.0,
        rate_factor=1.0,
        burst_packets=1.0,
        best=best,
        tied=tied,
        now_behind=None if best == "cubic" else behind,
        recommended_behind=None if best == "bbr" else behind,
    )


def test_a_planted_change_is_found_and_said(lossy: Advice) -> None:
    cells = (
        _cell(0.01, "bbr"),
        _cell(0.002, "cubic", "bbr"),
        _cell(0.005, "bbr"),
        _cell(0.02, "bbr"),
        _cell(0.08, "westwood-plus"),
    )
    (loss,) = ranges(replace(lossy, around=cells))
    assert loss == (
        "Loss: at 0.2 % cubic is as good as any; from 0.5 % to 2 % bbr stays best;"
        " at 8 % westwood-plus is better."
    )


def test_why_the_first_row_is_not_the_recommended_one_is_said(lossy: Advice) -> None:
    assert lossy.recommendation is not None
    first, second, *_ = lossy.rows
    chosen = replace(lossy.recommendation, use=second.name, keep_now=False, tied=(first.name,))
    said = {each.title: each.text for each in paragraphs(replace(lossy, recommendation=chosen))}
    assert f"hence not {first.name}, the table's first row" in said["What to do"]
    itself = replace(chosen, use=first.name, tied=(second.name,))
    said = {each.title: each.text for each in paragraphs(replace(lossy, recommendation=itself))}
    assert "hence not" not in said["What to do"]


def test_flows_with_different_round_trips_are_shown_as_a_range(lossy: Advice) -> None:
    assert propagation(replace(lossy, base_rtts_s=(0.012, 0.0505)), 2.0) == "24.0–101 ms"
    assert propagation(replace(lossy, base_rtts_s=(0.05, 0.05))) == "50.0 ms"


def test_a_change_that_only_the_map_shows_is_said(lossy: Advice) -> None:
    alone = (_cell(0.01, "bbr"), _cell(0.05, "bbr"), replace(_cell(0.01, "bbr"), delay_factor=4.0))
    assert elsewhere(replace(lossy, around=alone)) is None
    together = replace(_cell(0.05, "westwood-plus"), delay_factor=4.0)
    rtt_ms = 4000 * lossy.base_rtts_s[0]
    told = elsewhere(replace(lossy, around=(*alone, together)))
    assert told == (
        "Where both loss and delay differ, another scheme can be better:"
        f" westwood-plus at 5 % and {rtt_ms:.3g} ms."
    )


@pytest.fixture
def recorded(tmp_path: Path) -> airtcp.Scenario:
    """A link that is slow for 20 s and fast for 20 s."""
    slow, fast = range(0, 20_000, 30), range(20_000, 40_000, 3)
    (tmp_path / "cell.down").write_text("".join(f"{time}\n" for time in [*slow, *fast]))
    (tmp_path / "cell.toml").write_text(
        'duration = "10s"\n[[link]]\ntrace = "cell.down"\ndelay = "20ms"\nreverse = { rate = "1Mbit/s" }\n'
    )
    return airtcp.Scenario.load(str(tmp_path / "cell.toml"))


def test_runs_on_a_recording_begin_at_different_places_of_it(recorded: airtcp.Scenario) -> None:
    """Else all seeds would be the same run, and their interval zero."""
    assert replays(document(recorded))
    by_seed = recorded.vary(enter_recordings="by-seed")
    assert not replays(document(by_seed))
    found = airtcp.compare(by_seed, ["cubic"], seeds=4, series=False)
    assert len({run["goodput_bps"] for run in found.runs}) == 4
    inquiry = Inquiry(Question(recorded, frozenset(), "cubic", None, QUICK, False, False), Bench(1, Silent()))
    assert inquiry.scenario == by_seed


def test_contenders_run_until_they_are_decided_and_others_do_not() -> None:
    """On this link bbr and bbr3 are near each other, and vegas is far behind."""
    scenario = airtcp.Scenario.parse(LOSSY)
    race = Race(scenario, Candidate("cubic"))
    bench = Bench(None, Silent())
    candidates = [Candidate(name) for name in ("cubic", "bbr", "bbr3", "vegas")]
    screen({None: race}, candidates, 4, bench)
    decide({None: race}, Race.open, 4, 8, bench, until=10**9)
    done = {name: len(runs) for name, runs in race.runs.items()}
    assert done["vegas"] == 4
    assert done["bbr"] == done["cubic"]
    assert not race.open() or done["bbr"] == 8


def test_nothing_is_tried_at_a_gateway_that_a_flow_does_not_pass() -> None:
    """Else no machine there could be run."""
    scenario = airtcp.Scenario.parse(
        'duration = "3s"\nlink = [{ name = "a", rate = "2Mbit/s", delay = "5ms" },'
        ' { name = "b", rate = "2Mbit/s", delay = "5ms" }]\n'
        'flow = [{ name = "all" }, { name = "first", leave = "a" }]\n'
    )
    found = airtcp.advise(scenario, control=["gateway"], quick=True)
    assert [row.name for row in found.rows] == ["cubic"]
    assert "passes the gateway" in " ".join(found.notes)


class _Impatient:
    """Somebody presses Ctrl-C after so many runs."""

    def __init__(self, runs: int) -> None:
        self.left = runs

    def expect(self, runs: int) -> None:
        pass

    def done(self, label: str) -> None:  # noqa: ARG002
        self.left -= 1
        if self.left < 0:
            raise KeyboardInterrupt


@pytest.mark.parametrize("runs", [0, 1, 10, 60, 70])
def test_ctrl_c_gives_a_part_of_the_answer_and_says_so(runs: int) -> None:
    scenario = airtcp.Scenario.parse(LOSSY)
    found = airtcp.advise(scenario, control=["sender"], quick=True, watcher=_Impatient(runs))
    assert found.interrupted
    assert found.text[0].title == "Interrupted"
    assert len(found.rows) <= runs
    jsonschema.Draft202012Validator(advice_schema()).validate(json.loads(to_json(found)))


def test_the_command_says_it_in_words_and_writes_it_down(cli: Cli) -> None:
    (cli.directory / "radio.toml").write_text(LOSSY)
    arguments = ["advise", "radio.toml", "--control", "receiver", "--quick", "--duration", "3s", "--out", "d"]
    text = cli.ok(*arguments, "--json", "a.json")
    here = in_use()
    assert f"Compared with {here.scheme}, {here.why}; --now names another one." in " ".join(text.split())
    for word in ("What to do", "receive_window", "Where the answer changes"):
        assert word in text
    found = json.loads((cli.directory / "a.json").read_text())
    jsonschema.Draft202012Validator(json.loads(cli.ok("schema", "--advice"))).validate(found)
    assert {"advice.json", "advice.svg", "around.png"} <= {
        path.name for path in (cli.directory / "d").iterdir()
    }
    assert found["control"] == ["receiver"]
    assert found["command"].startswith("airtcp advise radio.toml")
    assert f"--now {here.scheme} " in found["command"]
    assert found["now"] == here.scheme


@pytest.mark.parametrize(
    ("kernels", "scheme", "why"),
    [
        ("bbr", "bbr", "which this host uses"),
        ("westwood", "westwood-plus", "which this host uses"),
        ("westwood_vt", "westwood-vt", "which this host uses"),
        ("concord", "concord", "which this host uses"),
        ("dctcp", "cubic", "no model of this host's dctcp"),
        (None, "cubic", "this host has no net.ipv4.tcp_congestion_control"),
    ],
)
def test_what_is_in_use_is_what_the_host_says(
    tmp_path: Path, kernels: str | None, scheme: str, why: str
) -> None:
    sysctl = tmp_path / "tcp_congestion_control"
    if kernels is not None:
        sysctl.write_text(f"{kernels}\n")
    found = in_use(sysctl)
    assert found.scheme == scheme
    assert why in found.why


def test_each_control_of_a_kernel_has_one_name_here() -> None:
    """Linux's own `westwood` is Westwood+."""
    assert {scheme_of(kernel): kernel for kernel in KERNELS.values()} == KERNELS
    loaded = set(CONGESTION_CONTROLS) - set(KERNELS) - {"westwood"}
    assert {scheme_of(name.replace("-", "_")) for name in loaded} == loaded


def test_a_gateway_and_a_host_are_told_which_direction_they_help() -> None:
    """Before anything is set up: in the answer, and in the plan."""
    assert "what comes back over it" in (FACTS["split"].caution or "")
    assert "only what the decoupled host sends" in (FACTS["decoupling"].caution or "")
    assert "nothing against random loss" in (FACTS["decoupling"].caution or "")
    # docs/circuit-wire.md: with IPv4 and UDP.
    assert "52 bytes" in (FACTS["decoupling"].headers or "")


def test_short_transfers_are_judged_by_their_times() -> None:
    scenario = airtcp.Scenario.parse(LOSSY)
    found = airtcp.advise(scenario, control=["receiver"], traffic="web", quick=True)
    assert found.objective == "completion time"
    assert "s per transfer" in str(found)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--control", "sende"], "sender"),
        (["--for", "gaming"], "'bulk', 'web'"),
        (["--now", "cubik"], "cubic"),
        (["--now", "cubic @ red-ecn"], "queue"),
        (["--role", "sender,server"], "--role server: expected one or more of sender, receiver, gateway"),
        (["--seeds", "1"], "--seeds"),
    ],
)
def test_bad_input_is_refused(cli: Cli, arguments: list[str], said: str) -> None:
    assert said in cli.refused("advise", *arguments)
