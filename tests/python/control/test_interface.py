"""What a congestion control in Python is given, may set, and is told when it is wrong."""

from __future__ import annotations

import json
import math
import pickle
from typing import ClassVar

import pytest

import airtcp

SHORT = airtcp.Scenario.built_in([("duration", "5s"), ("seeds", "2")])


class Aimd(airtcp.CongestionControl):
    """The example of the documentation."""

    beta = airtcp.parameter(0.5, minimum=0.1, maximum=0.9, doc="What a loss leaves")
    every = 1

    def on_ack(self, ack: airtcp.Ack) -> None:
        self.cwnd += self.every * self.mss * ack.acked_bytes / self.cwnd

    def on_loss(self, loss: airtcp.Loss) -> None:
        self.ssthresh = max(self.beta * loss.flight_size_bytes, 2 * self.mss)
        self.cwnd = self.ssthresh


def goodput(scheme: str | type[airtcp.CongestionControl]) -> float:
    return airtcp.run(SHORT.with_controllers(Aimd), scheme, series=False).goodput_bps


def test_parameters_are_set_by_the_scheme() -> None:
    seen = []

    class Seeing(Aimd):
        def __init__(self) -> None:
            seen.append((self.beta, self.every, type(self.every)))

    SHORT.with_controllers(Seeing).run("seeing:beta=0.7:every=2", 1)
    assert seen == [(0.7, 2, int)]
    assert goodput("aimd:beta=0.9") > goodput(Aimd) == goodput("aimd:beta=0.5")
    assert (Aimd.beta, Aimd.every) == (0.5, 1)


@pytest.mark.parametrize(
    ("scheme", "said"),
    [
        ("aimd:beta=1", "`aimd`: beta = 1 is out of range: 0.1 to 0.9"),
        ("aimd:bta=0.5", "unknown key `bta` .did you mean `beta`"),
        ("aimd:beta=half", "beta = `half`: not a number"),
        ("aimdd", "unknown name `aimdd` .did you mean `aimd`"),
        ("aimd+reno", "`aimd` and `reno` cannot be combined"),
        ("aimd:recovery=newremo", "did you mean `newreno`"),
    ],
)
def test_a_scheme_that_names_it_is_checked_as_any(scheme: str, said: str) -> None:
    with pytest.raises(airtcp.ScenarioError, match=said):
        SHORT.with_controllers(Aimd).vary(schemes=[scheme])


def test_it_is_one_scheme_by_class_and_by_name() -> None:
    with pytest.raises(airtcp.ScenarioError, match="`aimd` duplicates"):
        airtcp.compare(SHORT, schemes=[Aimd, "reno", "aimd"])


def test_a_scenario_without_it_does_not_know_its_name() -> None:
    with pytest.raises(airtcp.ScenarioError, match="unknown name `aimd`"):
        SHORT.vary(schemes=["aimd"])


@pytest.mark.parametrize(
    "name", ["reno", "split", "decoupling", "rack", "unlimited", "Aimd", "a+b", "a:b", "7", "ä"]
)
def test_names_that_schemes_could_not_say_are_refused(name: str) -> None:
    kind = type("Named", (Aimd,), {"name": name})
    with pytest.raises(airtcp.ScenarioError, match=r"is not a valid name|is already the name of a scheme"):
        SHORT.with_controllers(kind)


def test_a_parameter_may_not_hide_a_key_of_the_stack() -> None:
    kind = type("Hiding", (Aimd,), {"initial_window": 3})
    with pytest.raises(airtcp.ScenarioError, match="`initial_window` has the name of a stack key"):
        SHORT.with_controllers(kind)


def test_mistakes_in_a_class_are_told_where_it_is_written() -> None:
    with pytest.raises(TypeError, match=r"Wrong.on_akc: no such hook; did you mean on_ack"):
        type("Wrong", (Aimd,), {"on_akc": lambda self: None})
    half = type("Half", (airtcp.CongestionControl,), {"on_ack": Aimd.on_ack})
    with pytest.raises(TypeError, match="Half lacks on_loss"):
        SHORT.with_controllers(half)
    with pytest.raises(TypeError, match=r"not a subclass of airtcp\.CongestionControl"):
        SHORT.with_controllers(int)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="beta = 2 is not between 0 and 1"):
        type("Outside", (Aimd,), {"beta": airtcp.parameter(2, minimum=0, maximum=1)})


def test_a_hook_under_another_name_is_told_and_so_is_one_that_a_mixin_misspells() -> None:
    shouting = type("Shouting", (airtcp.CongestionControl,), {"onAck": Aimd.on_ack, "on_loss": Aimd.on_loss})
    with pytest.raises(TypeError, match=r"Shouting lacks on_ack .is onAck meant to be it\?"):
        SHORT.with_controllers(shouting)
    mixin = type("Mixin", (), {"on_los": lambda self, loss: None})
    with pytest.raises(TypeError, match=r"Mixed.on_los: no such hook; did you mean on_loss"):
        type("Mixed", (mixin, Aimd), {})


class Halving(Aimd):
    """Sets cwnd alone."""

    def on_loss(self, loss: airtcp.Loss) -> None:
        self.cwnd = max(self.beta * loss.flight_size_bytes, 2 * self.mss)


def test_cwnd_alone_ends_slow_start_as_if_ssthresh_had_been_set() -> None:
    """RFC 5681 §3.2 ends recovery with a cwnd of ssthresh; only timeouts could tell the two classes apart."""
    no_timeouts = SHORT.vary({"wireless.loss": {"at": ["1s", "2s", "3s"]}})
    one, other = (no_timeouts.run(kind, 1) for kind in (Aimd, Halving))
    assert one.hooks_not_run == other.hooks_not_run == []
    records = [json.loads(record.to_json())["flows"][0] for record in (one, other)]
    assert records[0]["timeouts"] == 0
    assert records[0] == {**records[1], "scheme": "aimd"}


def test_ssthresh_after_a_loss_is_what_the_hook_sets_or_what_the_standard_says() -> None:
    seen: list[tuple[str, float, float, int]] = []

    class Seeing(Halving):
        def __init__(self) -> None:
            self.waiting: list[airtcp.Loss] = []

        def on_sent(self, sent_bytes: int, in_flight_bytes: int) -> None:
            while self.waiting:
                loss = self.waiting.pop()
                seen.append((loss.cause, self.cwnd, self.ssthresh, loss.flight_size_bytes))

        def on_loss(self, loss: airtcp.Loss) -> None:
            super().on_loss(loss)
            self.waiting.append(loss)

        def on_timeout(self, loss: airtcp.Loss) -> None:
            self.cwnd = self.mss
            self.waiting.append(loss)

    class Keeping(Seeing):
        def on_loss(self, loss: airtcp.Loss) -> None:
            super().on_loss(loss)
            self.ssthresh = 7 * self.mss

    lossy = SHORT.vary({"wireless.loss": {"at": ["1s"]}, "wireless.outages": {"at": ["2s"], "length": "1s"}})
    for kind, kept in ((Seeing, False), (Keeping, True)):
        seen.clear()
        lossy.run(kind, 1)
        causes = {cause: (cwnd, ssthresh, flight) for cause, cwnd, ssthresh, flight in seen}
        _, ssthresh, flight = causes["timeout"]
        assert ssthresh == pytest.approx(max(flight // 2, 2 * 1448), rel=0.01)
        cwnd, ssthresh, _ = causes["loss"]
        assert ssthresh < math.inf
        assert (ssthresh != cwnd) == kept


def test_a_required_hook_that_never_ran_is_named() -> None:
    clean = SHORT.vary({"wireless.loss": {}, "wireless.queue": {"packets": 100_000}})

    class Growing(Aimd):
        """Never leaves slow start, so that nothing of `on_ack` is tried."""

        def on_ack(self, ack: airtcp.Ack) -> None:
            raise RuntimeError("misspelt")

        def on_loss(self, loss: airtcp.Loss) -> None:
            self.ssthresh = math.inf

    assert clean.run(Growing, 1).hooks_not_run == [("growing", "on_ack"), ("growing", "on_loss")]
    found = airtcp.compare(clean, schemes=["reno", Growing, Aimd], series=False)
    assert found.hooks_not_run == (
        ("growing", "on_ack"),
        ("growing", "on_loss"),
        ("aimd", "on_ack"),
        ("aimd", "on_loss"),
    )
    assert "growing: on_ack never ran: " in str(found)
    assert found.results()["hooks_not_run"] == found.hooks_not_run
    assert "growing: on_ack never ran: " in str(airtcp.run(clean, Growing, series=False))
    lossy = airtcp.compare(SHORT, schemes=["reno", Growing, Aimd], series=False)
    assert lossy.hooks_not_run == (("growing", "on_ack"),)


def test_an_unused_class_is_not_reproached() -> None:
    assert SHORT.with_controllers(Aimd).run("reno", 1).hooks_not_run == []
    assert SHORT.vary({"wireless.loss.packet": 1.0}).run(Aimd, 1).hooks_not_run == []


BAD = [math.nan, math.inf, -1.0, 0, None, "10", [1], object]


@pytest.mark.parametrize("value", BAD, ids=repr)
def test_a_bad_window_names_class_hook_and_line(value: object) -> None:
    class Bad(Aimd):
        def on_ack(self, ack: airtcp.Ack) -> None:
            self.cwnd = value  # type: ignore[assignment]

    with pytest.raises(airtcp.ControllerError) as raised:
        SHORT.run(Bad, 1)
    text = str(raised.value)
    assert text.startswith("bad: on_ack failed at ")
    assert f'File "{__file__}", line ' in text
    assert "self.cwnd = value" in text
    assert "Bad.cwnd = " in text
    assert isinstance(raised.value.__cause__, ValueError)


def test_ssthresh_may_be_infinite_and_no_nan() -> None:
    control = Aimd()
    control.ssthresh = math.inf
    for value in (math.nan, -1.0, None):
        with pytest.raises(ValueError, match=r"Aimd\.ssthresh = "):
            control.ssthresh = value  # type: ignore[assignment]


def test_a_hook_that_returns_something_is_told_so() -> None:
    class Returning(Aimd):
        def on_ack(self, ack: airtcp.Ack) -> None:
            return self.cwnd + 1  # type: ignore[return-value]

    with pytest.raises(airtcp.ControllerError, match=r"hooks must return nothing and set self\.cwnd"):
        SHORT.run(Returning, 1)


@pytest.mark.parametrize(
    "hook", ["__init__", "on_ack", "on_loss", "on_every_ack", "on_slow_start", "on_sent"]
)
def test_an_error_in_any_hook_ends_that_run_alone(hook: str) -> None:
    def fail(self: object, *_: object) -> None:
        raise RuntimeError("deliberate")

    failing = type("Failing", (Aimd,), {hook: fail})
    found = airtcp.compare(SHORT, schemes=["reno", failing, Aimd])
    assert [(failure.scheme, failure.seed) for failure in found.failures] == [("failing", 1), ("failing", 2)]
    assert all("RuntimeError: deliberate" in failure.text for failure in found.failures)
    assert all(f"failing: {hook} failed" in failure.text for failure in found.failures)
    assert [summary.scheme for summary in found.summaries] == ["reno", "aimd"]
    assert found.failed_schemes == ["failing"]
    alone = airtcp.compare(SHORT, schemes=["reno", Aimd])
    assert found.runs == alone.runs
    assert "failed with seeds 1, 2" in repr(found)


def test_each_connection_has_an_object_of_its_own() -> None:
    made = []

    class Counting(Aimd):
        def __init__(self) -> None:
            made.append(self)

    SHORT.vary(flow=[{"name": "many", "count": 4}]).run(Counting, 1)
    assert len(made) == len(set(map(id, made))) == 4


def test_the_first_window_is_what_init_makes_of_it() -> None:
    sent_at_s = []

    class One(Aimd):
        def __init__(self) -> None:
            assert self.cwnd == 10 * self.mss
            assert self.ssthresh == math.inf
            self.cwnd = self.mss

        def on_sent(self, sent_bytes: int, in_flight_bytes: int) -> None:
            assert in_flight_bytes >= sent_bytes
            sent_at_s.append(self.now_s)

    SHORT.vary({"wireless.loss": {}}, duration="1s").run(One, 1)
    assert sent_at_s[1] - sent_at_s[0] > 0.05


def test_slow_start_may_be_replaced() -> None:
    class Slow(Aimd):
        def on_slow_start(self, ack: airtcp.Ack) -> None:
            self.on_ack(ack)

    class Classic(Aimd):
        def on_slow_start(self, ack: airtcp.Ack) -> None:
            super().on_slow_start(ack)

    clean = SHORT.vary({"wireless.loss": {}})
    slow, fast = (airtcp.run(clean, kind, series=False).goodput_bps for kind in (Slow, Aimd))
    assert slow < fast
    assert airtcp.run(clean, Classic, series=False).goodput_bps == pytest.approx(fast, rel=0.1)


def test_a_controller_may_pace() -> None:
    class Paced(Aimd):
        is_paced: ClassVar[bool] = True

        def __init__(self) -> None:
            self.cwnd = 100 * self.mss
            self.pacing_rate_bps = 2e6

        def on_slow_start(self, ack: airtcp.Ack) -> None:
            pass

        def on_loss(self, loss: airtcp.Loss) -> None:
            pass

    clean = SHORT.vary({"wireless.loss": {}})
    assert airtcp.run(clean, Paced, series=False).goodput_bps == pytest.approx(2e6, rel=0.05)
    with pytest.raises(ValueError, match="is_paced = True"):
        Aimd().pacing_rate_bps = 1e6


def test_a_flow_of_the_scenario_may_name_it() -> None:
    flows = [{"name": "mine", "scheme": Aimd}, {"name": "theirs", "scheme": "cubic"}]
    found = airtcp.run(SHORT.vary(flow=flows), "reno", series=False)
    assert [flow["scheme"] for flow in found.run["flows"]] == ["aimd", "cubic"]


def test_runs_do_not_depend_on_what_runs_beside_them() -> None:
    one, many = (airtcp.compare(SHORT, schemes=[Aimd, "aimd:beta=0.7"], jobs=jobs) for jobs in (1, 4))
    assert one.runs == many.runs


def test_scenarios_with_classes_are_compared_copied_and_pickled() -> None:
    scenario = SHORT.vary(schemes=[Aimd, "aimd:beta=0.7"])
    assert scenario.schemes == ["aimd", "aimd:beta=0.7"]
    again = pickle.loads(pickle.dumps(scenario))
    assert again == scenario
    assert again.controllers == [Aimd]
    assert again != scenario.with_controllers(type("Other", (Aimd,), {}))
    assert again.run("aimd", 1).to_json() == scenario.run(Aimd, 1).to_json()


def test_a_sweep_keeps_failures_as_rows() -> None:
    class Failing(Aimd):
        def on_loss(self, loss: airtcp.Loss) -> None:
            raise RuntimeError("deliberate")

    scenario = SHORT.vary(schemes=["reno", Failing, Aimd], seeds=1)
    found = airtcp.sweep(scenario, {"wireless.loss.packet": [0.01, 0.02]})
    failed = found.frame.filter(found.frame["error"].is_not_null())
    assert failed["scheme"].to_list() == ["failing", "failing"]
    assert all("RuntimeError: deliberate" in text for text in failed["error"])
