"""Runs blocks, with each scheme once in random order, until the result is decided."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass

from airtcp.advise.deployment import CONGESTION_CONTROLS
from airtcp.apply import ApplyError, Host, apply, journal, undo
from airtcp.apply.here import congestion_control
from airtcp.apply.journal import Journal
from airtcp.apply.steps import DefaultControl, Step
from airtcp.apply.steps.sysctl import ALLOWED
from airtcp.facts.scheme import Scheme, Term
from airtcp.facts.stats import Estimate
from airtcp.trial.blocks import Trial, trial_of
from airtcp.trial.transfers import Transfer


@dataclass(frozen=True)
class Plan:
    """The kernel's names of the schemes, and what must be loaded for them."""

    controls: Mapping[str, str]
    steps: tuple[Step, ...]

    def takes_root(self, transfer: Transfer, host: Host) -> bool:
        """Returns whether it changes something, or uses a control reserved for privileged users."""
        allowed = (host.sysctl(ALLOWED) or "").split()
        return bool(self.steps) or transfer.sets_default or not set(self.controls.values()) <= set(allowed)


def prepare(schemes: Sequence[str], host: Host) -> Plan:
    """Raises ApplyError for what is no congestion control or is not available here."""
    controls: dict[str, str] = {}
    steps: dict[Step, None] = {}
    for scheme in schemes:
        first, *more = Scheme(scheme).terms or (Term(""),)
        if first.name not in CONGESTION_CONTROLS or more:
            raise ApplyError(
                f"{scheme} is not a sender's congestion control, the only thing that try changes"
            )
        *needed, default = congestion_control(first.name, first.keys, host)
        assert isinstance(default, DefaultControl)
        if default.name in controls.values():
            raise ApplyError(f"{scheme} has the same kernel name as another one: try them separately")
        controls[scheme] = default.name
        steps.update(dict.fromkeys(step for step in needed if not step.holds(host)))
    return Plan(controls, tuple(steps))


def try_all(
    plan: Plan,
    transfer: Transfer,
    host: Host,
    most_blocks: int,
    seed: int,
    forecast: Mapping[str, Estimate],
    watch: Callable[[Trial, str], object],
) -> Trial:
    """Runs blocks; `watch` gets the results so far after each transfer, and the scheme that made it.

    Loaded controls and this host's default are restored at the end; after a kill, by `airtcp undo`. If it is
    interrupted, or a transfer fails, the complete blocks are returned. Raises ApplyError.
    """
    chance = random.Random(seed)
    values: dict[str, list[float]] = {scheme: [] for scheme in plan.controls}
    order: list[list[str]] = []

    def so_far(broken_off: str | None = None) -> Trial:
        return trial_of(transfer.objective, order, values, forecast, seed, broken_off=broken_off)

    with ExitStack() as held:
        kept = None
        if plan.steps or transfer.sets_default:
            kept = held.enter_context(journal())
            apply("a trial", plan.steps, host, kept, lambda _: None)
            held.callback(undo, host, kept, lambda _: None)
        try:
            while len(order) < most_blocks and not so_far().decided:
                order.append(chance.sample(list(plan.controls), len(plan.controls)))
                for scheme in order[-1]:
                    values[scheme].append(_one(plan.controls[scheme], transfer, host, kept))
                    watch(so_far(), scheme)
        except KeyboardInterrupt:
            return so_far("interrupted")
        except ApplyError as error:
            if len(order) < 2:
                raise
            return so_far(str(error))
    return so_far()


def _one(control: str, transfer: Transfer, host: Host, kept: Journal | None) -> float:
    default = DefaultControl(control)
    if not transfer.sets_default or default.holds(host):
        return transfer.measure(control, host)
    assert kept is not None
    number = 1 + max((entry.number for entry in kept.entries()), default=-1)
    before = default.look(host)
    kept.begin(number, default, before)
    try:
        default.do(host)
        return transfer.measure(control, host)
    finally:
        default.undo(host, before)
        kept.undone(number)
