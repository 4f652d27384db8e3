"""`airtcp paper`: the verdicts' arithmetic, and every experiment as far as a quick run goes."""

from __future__ import annotations

import json
import math
import re
import textwrap
from pathlib import Path
from typing import Any

import airtcp_studies.papers
import jsonschema
import pytest
from airtcp_studies.concord import concord_schema
from airtcp_studies.concord.ablation import PARTS
from airtcp_studies.cross import AS_PROPOSED, COMPOSITIONS, Plan, all_paths, all_schemes, cross
from airtcp_studies.cross_page import CrossPlot, matrix
from airtcp_studies.cross_page import page as cross_page
from airtcp_studies.frame import (
    BarPlot,
    Case,
    Context,
    Row,
    SweepPlot,
    TimePlot,
    Tolerance,
    Tried,
    absolute,
    claim,
    gain,
    gain_of,
    info,
    ratio,
    ratio_of,
)
from airtcp_studies.frame.docs import page
from airtcp_studies.frame.document import (
    PaperResults,
    RowOut,
    experiment_out,
    experiments,
    merged,
    paper_results,
    paper_results_schema,
)
from airtcp_studies.frame.find import UnknownName, links, papers, select
from airtcp_studies.frame.model import Experiment, Result
from airtcp_studies.frame.rows import TOLERANCES
from airtcp_studies.frame.words import FEW, judged_first, tally, value
from conftest import Cli
from hypothesis import given
from hypothesis import strategies as st

from airtcp import _engine
from airtcp.facts.stats import Estimate
from airtcp.results.document import plain

IDS = [experiment.id for paper in papers() for experiment in paper.experiments]
LINK = """
duration = "2s"
[[link]]
name = "wireless"
rate = "10Mbit/s"
delay = "5ms"
"""

DOCS = Path(__file__).parents[2] / "docs"

values = st.floats(1e-3, 1e6)
signs = st.sampled_from([-1.0, 1.0])


@given(values, st.floats(-0.2, 0.2))
def test_an_absolute_value_agrees_within_15_percent(quoted: float, off: float) -> None:
    row = absolute("x", quoted, quoted * (1 + off), "KB/s")
    if not math.isclose(abs(off), 0.15, rel_tol=1e-9):
        assert row.verdict == ("agrees" if abs(off) < 0.15 else "differs")
    assert row.ratio == pytest.approx(1 + off)


@given(values, signs, st.floats(-0.5, 0.5))
def test_a_gain_agrees_within_a_third_of_the_quoted_gain(size: float, sign: float, off: float) -> None:
    row = gain("x", sign * size, sign * size * (1 + off))
    if not math.isclose(abs(off), 1 / 3, rel_tol=1e-9):
        assert row.verdict == ("agrees" if abs(off) < 1 / 3 else "differs")


@given(st.tuples(values, values), st.floats(0, 1))
def test_all_of_a_range_agrees(ends: tuple[float, float], place: float) -> None:
    row = absolute("x", ends, ends[0] + place * (ends[1] - ends[0]), "s")
    assert row.verdict == "agrees"
    assert row.ratio == pytest.approx(1)


@given(values, signs, st.floats(-1, 1), st.floats(0, 1))
def test_a_verdict_is_undecided_exactly_where_the_interval_holds_a_limit(
    size: float, sign: float, off: float, half: float
) -> None:
    quoted = sign * size
    row = ratio("x", quoted, Estimate(quoted * (1 + off), half * size, 5))
    ends = [Estimate(quoted * (1 + off) + way * half * size, None, 1) for way in (-1, 1)]
    at_ends = {ratio("x", quoted, end).verdict for end in ends}
    if row.decided:
        assert at_ends == {row.verdict}
    else:
        low, high = (end.mean for end in ends)
        assert row.limits is not None
        assert (
            len(at_ends) == 2
            or any(math.isclose(limit, end) for limit in row.limits for end in (low, high))
            or (low < min(row.limits) < max(row.limits) < high)
        )


def test_a_tolerance_of_its_own_carries_a_reason() -> None:
    row = absolute("x", 100, 140, "s", tolerance=Tolerance(0.5, "read off a small figure"))
    assert row.verdict == "agrees"
    assert row.tolerance is not None
    assert row.tolerance.reason


def test_claims_hold_or_differ_and_context_is_not_judged() -> None:
    assert claim("x", True, evidence="1 < 2").verdict == "holds"
    assert claim("x", False, evidence="1 < 2").verdict == "differs"
    assert info("x", [1.0, 2.0], "s", paper=99).verdict == "info"


def test_what_is_undefined_does_not_agree() -> None:
    assert gain("x", 10, gain_of([1.0, 2.0], [0.0, 0.0])).verdict == "differs"
    assert value({"mean": None, "half_width": None, "n": 2}) == "undefined"  # type: ignore[typeddict-item]


@given(st.lists(st.tuples(values, values), min_size=1, max_size=6))
def test_gain_and_ratio_say_the_same(pairs: list[tuple[float, float]]) -> None:
    ours, base = [a for a, _ in pairs], [b for _, b in pairs]
    assert ratio_of(ours, base).mean == pytest.approx(sum(ours) / sum(base))
    assert gain_of(ours, base).mean == pytest.approx(100 * (sum(ours) / sum(base) - 1), rel=1e-6, abs=1e-6)


def _out(row: Row) -> RowOut:
    experiment = Experiment("T1", "§1", "A test", "A set-up.", lambda _: Result([row]), (), 3)
    return experiment_out(experiment, Result([row]), seeds=3, quick=False)["rows"][0]


def test_a_differing_row_without_a_cause_is_shown_as_not_explained() -> None:
    explained = absolute("the one", 100, 200, "s", tried=[Tried("a queue of 20 packets", 110.0)])
    silent = absolute("the other", 100, 200, "s")
    assert "(1 not explained)" in tally([_out(explained), _out(silent)])
    found = experiment_out(_first(), Result([explained, silent]), seeds=3, quick=False)
    text = page(paper_results([found]))
    assert "the one*: differs: moved by a queue of 20 packets: 110 s" in text
    assert "| the one | a queue of 20 packets | 110 s | agrees |" in text
    assert "the other*: differs: not explained" in text


def test_what_moves_nothing_is_no_cause() -> None:
    row = absolute("it", 100, 200, "s", tried=[Tried("a longer way", 190.0), Tried("no way", 205.0)])
    found = experiment_out(_first(), Result([row]), seeds=3, quick=False)
    assert "it*: differs: not found, tried: a longer way; no way" in page(paper_results([found]))


@given(ours=values, then=values)
def test_a_setting_moves_a_row_if_it_closes_half_of_the_gap(ours: float, then: float) -> None:
    row = absolute("it", 100, ours, "s")
    effect = row.effect(Tried("another", then))
    alone = absolute("it", 100, then, "s")
    assert (effect == "agrees") == (alone.verdict == "agrees")
    if effect == "nearer":
        assert abs(then - 100) < abs(ours - 100)
    assert row.effect(Tried("the same", ours)) == ("agrees" if row.verdict == "agrees" else "none")


def test_a_claim_is_moved_by_the_setting_under_which_it_holds() -> None:
    row = claim("it", False, evidence="2 > 1", tried=[Tried("the other", holds=True, evidence="1 < 2")])
    text = page(paper_results([experiment_out(_first(), Result([row]), seeds=3, quick=False)]))
    assert "differs: moved by the other: holds (1 < 2)" in text


def test_the_short_page_folds_what_has_no_verdict() -> None:
    rows = [_out(absolute("it", 100, 100, "s")), *(_out(info(f"{place}", 1.0)) for place in range(FEW + 1))]
    assert [row["name"] for row in judged_first(rows)] == ["it"]
    assert len(judged_first(rows[:FEW])) == FEW
    assert len(judged_first(rows[1:])) == FEW + 1


def test_the_page_has_what_linux_measured() -> None:
    document = paper_results([experiment_out(_first(), Result([info("it", 1.0)]), seeds=3, quick=False)])
    row = ["one over the other", "1.65", "1.57"]
    assert "| one over the other | 1.65 | 1.57 |" in page(document, {_first().id: [row]})
    assert page(document, {"another": [row]}) == page(document)


def _first() -> Experiment:
    return papers()[0].experiments[0]


def test_docs_keep_what_has_not_run_again() -> None:
    first = experiment_out(_first(), Result([info("old", 1.0)]), seeds=3, quick=False)
    again = experiment_out(_first(), Result([info("new", 1.0)]), seeds=3, quick=False)
    assert "| old |" in page(merged(paper_results([first]), paper_results([])))
    assert "| new |" in page(merged(paper_results([first]), paper_results([again])))
    assert "| old |" not in page(merged(paper_results([first]), paper_results([again])))


def test_cases_run_with_their_keys_and_seeds() -> None:
    ctx = Context(seeds=2)
    found = ctx.sweep(
        {
            "clean": Case(LINK, ["reno", "cubic"]),
            "lossy": Case(LINK, ["reno"], {"link.wireless.loss.packet": 0.05}, seeds=3),
        }
    )
    assert found["clean"].schemes == ["reno", "cubic"]
    assert len(found["clean"].goodput("cubic")) == 2
    assert len(found["lossy"].goodput("reno", "KB/s")) == 3
    assert max(found["lossy"].goodput("reno")) < min(found["clean"].goodput("reno"))
    with pytest.raises(KeyError, match="bbr"):
        found["clean"].of("bbr")


def test_the_example_of_the_documentation_runs() -> None:
    indented = (airtcp_studies.papers.__doc__ or "").partition("declares its experiments, and `PAPER`:")[2]
    lines = [line for line in indented.splitlines() if not line or line.startswith("    ")]
    declared: dict[str, Any] = {}
    exec(textwrap.dedent("\n".join(lines)), declared)
    declared["SCHEMES"] = ("reno", "westwood")
    result = declared["PAPER"].experiments[0].measure(Context(seeds=2, quick=True))
    assert [row.kind for row in result.rows] == ["absolute", "gain", "claim"]
    assert result.figures["fig10"].draw().axes


def test_series_of_the_first_seed_or_of_every_one() -> None:
    ctx = Context(seeds=2)
    first = ctx.run(LINK, ["reno"], series_interval_s=0.1)
    every = ctx.run(LINK, ["reno"], series_interval_s=0.1, series_of_every_seed=True)
    assert len(first.every_series("reno")) == 1
    assert len(every.every_series("reno")) == 2
    assert first.series("reno").flows.equals(every.series("reno").flows)


def test_the_user_has_the_last_word_on_seeds_and_a_quick_run_is_short() -> None:
    assert len(Context(seeds=2, forced_seeds=1).run(LINK, ["reno"], seeds=5).of("reno")) == 1
    quick = Context(seeds=2, quick=True)
    assert len(quick.run(LINK, ["reno"], seeds=5).of("reno")) == 2
    assert quick.pick(100, quick=1) == 1


@pytest.mark.parametrize(
    "plot",
    [
        SweepPlot("x", "y", {"a": {1.0: [1.0, 2.0], 2.0: 3.0}}, bounds={"b": {1.0: 4.0}}, log_x=True),
        SweepPlot("x", "y", {"a": {1.0: 1.0}}, quoted={"a": {1.0: 2.0}}, log_y=True),
        TimePlot("y", {"one": {"a": ([0.0, 1.0], [1.0, 2.0])}, "two": {"b": ([0.0], [1.0])}}, dots=["b"]),
        BarPlot("y", {"one": {"a": [1.0, 2.0]}, "two": {"a": 1.0, "b": 2.0}}, quoted={"two": {"b": 1.0}}),
    ],
)
def test_every_kind_of_figure_can_be_drawn(plot: SweepPlot | TimePlot | BarPlot) -> None:
    assert plot.draw().axes


@pytest.mark.parametrize("name", ["all", *(paper.name for paper in papers()), *IDS])
def test_names_are_found_whatever_their_case(name: str) -> None:
    assert select([name.upper()]) == select([name.lower(), name])


def test_an_unknown_name_is_answered_with_the_nearest() -> None:
    with pytest.raises(UnknownName, match="did you mean decoupling"):
        select(["decuopling"])


def test_links_are_scenarios() -> None:
    for paper in papers():
        for name, text in paper.links.items():
            runs = Context(seeds=1).run(text, ["reno"], {"duration": "1s"}, label=name)
            assert runs.of("reno"), f"{paper.name}/{name}"


@pytest.mark.parametrize("identifier", IDS)
def test_every_experiment_runs_quickly_and_obeys_the_schema(cli: Cli, identifier: str) -> None:
    document = json.loads(cli.ok("paper", identifier, "--quick", "--json", "-", "--out", "d"))
    jsonschema.Draft202012Validator(json.loads(cli.ok("schema", "--papers"))).validate(document)
    (found,) = document["papers"][0]["experiments"]
    assert found["id"] == identifier
    assert found["quick"]
    assert found["rows"]
    for row in found["rows"]:
        assert row["name"]
        assert row["verdict"] in {"agrees", "holds", "differs", "info"}
        assert (row["holds"] is None) != (row["ours"] is None), row["name"]
        assert row["kind"] != "claim" or row["evidence"], row["name"]
        assert row["kind"] not in TOLERANCES or row["paper"], row["name"]
        assert row["tolerance"] in (None, TOLERANCES.get(row["kind"])) or row["tolerance_reason"], row["name"]
    for figure in found["figures"]:
        for kind in ("png", "svg"):
            assert (cli.directory / "d" / f"{figure['file']}.{kind}").stat().st_size > 4_000


def test_docs_are_the_same_bytes_each_time(cli: Cli) -> None:
    cli.started("paper", IDS[0], "--quick", "--docs", "one", "--jobs", "1")
    cli.ok("paper", IDS[0], "--quick", "--docs", "two", "--jobs", "2")
    written = sorted(path.relative_to(cli.directory / "one") for path in (cli.directory / "one").rglob("*.*"))
    assert {"papers.md", "papers.json"} <= {path.name for path in written}
    for path in written:
        assert (cli.directory / "one" / path).read_bytes() == (cli.directory / "two" / path).read_bytes()


def test_no_row_of_the_page_differs_without_runs_of_other_settings() -> None:
    document: PaperResults = json.loads((DOCS / "papers.json").read_text(encoding="utf-8"))
    for found in experiments(document):
        for row in found["rows"]:
            assert row["verdict"] != "differs" or row["tried"], f"{found['id']}: {row['name']}"


def test_the_guide_counts_the_rows_as_the_page_does() -> None:
    document: PaperResults = json.loads((DOCS / "papers.json").read_text(encoding="utf-8"))
    rows = [[row for found in paper["experiments"] for row in found["rows"]] for paper in document["papers"]]
    text = (DOCS / "five-papers.md").read_text(encoding="utf-8")
    assert re.findall(r"\d+ of \d+ rows agree", text) == [tally(each).partition(",")[0] for each in rows]


def test_the_list_names_every_experiment(cli: Cli) -> None:
    text = cli.ok("paper", "list")
    assert all(identifier in text for identifier in IDS)


def test_every_scheme_on_every_link(cli: Cli) -> None:
    chosen = ("lte", "wifi", "--schemes", "bbr,snoop-less", "--quick")
    assert "snoop-less" in cli.refused("paper", "cross", *chosen)
    document = json.loads(cli.ok("paper", "cross", "lte", "--schemes", "bbr,reno", "--quick", "--json", "-"))
    jsonschema.Draft202012Validator(json.loads(cli.ok("schema", "--cross"))).validate(document)
    (link,) = document["links"]
    bbr, reno = link["schemes"]
    assert (bbr["scheme"], reno["scheme"]) == ("bbr", "reno")
    # To its own kind, a scheme is as fair as to its own kind.
    assert reno["reno_keeps"]["mean"] == 1
    assert "did you mean lte" in cli.refused("paper", "cross", "ltee")


def test_the_table_names_every_scheme_and_every_link() -> None:
    paths = all_paths()
    assert {"3g", "lte", "geo-satellite", "wifi", *links()} == set(paths)
    names = {scheme["name"] for scheme in _engine.schemes()}
    assert {AS_PROPOSED.get(name, name) for name in names} | set(COMPOSITIONS) == set(all_schemes())
    document = cross(Plan({"lte": paths["lte"]}, ["reno", "bbr"], "2s"), Context(seeds=1))
    header, rows = matrix(document)
    assert header == ["% of bound", "lte"]
    assert [row[0] for row in rows] == ["reno", "bbr"]
    assert "## lte" in cross_page(document)
    assert CrossPlot(document).draw().axes


def test_concords_gates_are_judged_and_written(cli: Cli) -> None:
    written = ("--out", "out", "--docs", "docs", "--json", "-")
    (cli.directory / "docs").mkdir()
    document = json.loads(cli.ok("paper", "concord", "--quick", "--seeds", "1", *written))
    jsonschema.Draft202012Validator(concord_schema()).validate(document)
    assert [row[0] for row in document["ablation"]["rows"]] == list(PARTS)
    for gate in document["gates"]:
        assert all(len(row["cells"]) == len(gate["columns"]) for row in gate["paths"])
        assert gate["met"] == all(row["met"] for row in gate["paths"])
    text = (cli.directory / "docs" / "concord.md").read_text(encoding="utf-8")
    assert all(f"### {gate['name']}" in text for gate in document["gates"])
    assert "NAME.down" in cli.refused("paper", "concord", "--traces", "docs")


def test_an_unknown_experiment_is_bad_input(cli: Cli) -> None:
    assert "did you mean" in cli.refused("paper", f"{IDS[0]}x")


def test_the_schema_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(paper_results_schema())
    assert plain(paper_results([]))["papers"] == []


@pytest.mark.parametrize(
    ("mean", "half_width", "text"),
    [
        (0.0, 0.0, "0 ± 0"),
        (14.8, 2.0, "14.8 ± 2.0"),
        (0.0, 2.5, "0.00 ± 2.50"),
        (0.899, 0.107, "0.899 ± 0.107"),
        (4e-6, 1e-6, "4.00e-06 ± 1.00e-06"),
        (652500.0, None, "652500"),
    ],
)
def test_numbers_read_well(mean: float, half_width: float | None, text: str) -> None:
    assert value({"mean": mean, "half_width": half_width, "n": 1 if half_width is None else 5}) == text
