"""Does what `airtcp apply`, `airtcp undo` and `airtcp advise --apply` ask for."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import typer
from rich.console import Console

from airtcp._engine import rate_in_bps
from airtcp.advise.advice import Advice
from airtcp.advise.asked import Control
from airtcp.advise.deployment import Place
from airtcp.advise.gateway import wireless as lossy_link
from airtcp.advise.now import scheme_of
from airtcp.apply import ROLES, ApplyError, Host, Plan, Site, Wanted, journal, make_plan, openwrt_script
from airtcp.apply import apply as apply_steps
from airtcp.apply import undo as undo_steps
from airtcp.apply.applying import check_nothing_is_applied
from airtcp.apply.cures import CURES
from airtcp.apply.steps import DefaultControl
from airtcp.cli.console import plain_console
from airtcp.cli.errors import FAILED, InputError
from airtcp.facts.scenario import Document
from airtcp.facts.scheme import Scheme
from airtcp.linux.airtcpd import find
from airtcp.linux.error import LinuxError
from airtcp.results.document import to_json


def read_advice(file: Path) -> Document:
    """Reads advice. Raises InputError, also if it recommends nothing."""
    try:
        advice: Document = json.loads(file.read_text(encoding="utf-8"))
        recommendation = advice["recommendation"]
        has_none = recommendation is None or recommendation["keep_now"]
    except OSError as error:
        raise InputError(f"cannot read {file}: {error.strerror}") from error
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"{file} is not an advice file; `airtcp advise` writes advice.json") from error
    if has_none:
        raise InputError(f"{file} recommends no change")
    return advice


def apply_here(console: Console, wanted: Wanted, *, yes: bool) -> None:
    """Plans, asks, applies and checks. Raises InputError."""
    check_root("airtcp apply")
    host = this_host()
    try:
        with journal() as kept:
            check_nothing_is_applied(kept)
            plan = make_plan(wanted, host)
            show_plan(console, plan, wanted)
            if not plan.changes:
                console.print("Nothing to change on this host.")
                return
            if not (yes or _agreed()):
                console.print("Nothing was changed.")
                return
            apply_steps(plan.what, plan.steps, host, kept, lambda line: console.print(f"  {line}"))
    except ApplyError as error:
        raise InputError(str(error)) from error
    console.print("Applied and checked. `sudo airtcp undo` reverts it.")


def apply_cure(console: Console, site: Site, controls: Sequence[Control], *, yes: bool) -> None:
    """Applies what this host can do against a path-MTU black hole. Raises InputError."""
    here = site.role or {only_place(controls)}
    use = "+".join(name for name, cure in CURES.items() if cure.place in here)
    if not use:
        console.print("Nothing to apply to a receiver: the cures are those of senders and gateways.")
        return
    apply_here(console, site.wanted(use, own=only_place(controls)), yes=yes)


def undo_here() -> None:
    """Undoes what was applied, and prints it. Raises InputError."""
    check_root("airtcp undo")
    console = plain_console()
    try:
        with journal() as kept:
            applied = kept.applied
            if applied is None:
                console.print("Nothing is applied to this host.")
                return
            console.print(f"Undoing {applied.what}, applied on {applied.time}:")
            left = undo_steps(this_host(), kept, lambda line: console.print(f"  {line}"))
    except ApplyError as error:
        raise InputError(str(error)) from error
    for line in left:
        console.print(f"left: {line}")
    if left:
        raise typer.Exit(FAILED)
    console.print("The previous state is restored.")


def print_openwrt(wanted: Wanted, rate_bps: float | None) -> None:
    """Prints the script on standard output. Raises InputError."""
    try:
        sys.stdout.write(openwrt_script(wanted, rate_bps))
    except ApplyError as error:
        raise InputError(str(error)) from error


def openwrt_advice(found: Advice, site: Site) -> None:
    """Does the last step of `airtcp advise --format openwrt`. Raises InputError."""
    advised = found.recommendation
    if advised is None or advised.keep_now:
        sys.stdout.write("# Nothing to change.\n")
        return
    print_openwrt(site.wanted(advised.use, own="gateway"), lossy_rate_bps(found.scenario))


def lossy_rate_bps(scenario: Document) -> float | None:
    """Returns the rate of the lossy link; None if it varies."""
    rate = lossy_link(scenario).get("rate")
    return rate_in_bps(rate) if isinstance(rate, str) else None


def apply_advice(console: Console, found: Advice, site: Site, *, yes: bool) -> None:
    """Does the last step of `airtcp advise --apply`. Raises InputError."""
    advised = found.recommendation
    if found.interrupted or advised is None or advised.keep_now:
        console.print("Nothing to apply.")
        return
    wanted = site.wanted(advised.use, own=only_place(found.control))
    show_premises(console, json.loads(to_json(found)))
    in_use = this_host().sysctl(DefaultControl.KEY)
    if "sender" in wanted.role and in_use and scheme_of(in_use) != Scheme(found.now).names[0]:
        console.print(f"Advice was for --now {found.now}; this host uses {in_use}, so the gain will differ.")
    apply_here(console, wanted, yes=yes)


def only_place(controls: Sequence[str]) -> Place:
    """Returns what is controlled if that is one place, else the sender."""
    return next((place for place in ROLES if tuple(controls) == (place,)), "sender")


def show_premises(console: Console, advice: Document) -> None:
    """Prints what the measurement leaves open and the plan assumes."""
    if advice.get("rate_assumed"):
        console.print(f"Note: {advice['rate_assumed']}")
    readings = advice.get("readings", [])
    if not all(readings[0]["use"] in (each["use"], *each["tied"]) for each in readings):
        first, *others = readings
        console.print(f"Note: this is the answer if {first['reading']}, which was not measured.")
        for each in others:
            what = f"keep {each['use']}" if each["keep_now"] else f"use {each['use']}"
            console.print(f"  If {each['reading']}: {what}. {each['decides']}")


def show_plan(console: Console, plan: Plan, wanted: Wanted) -> None:
    """Prints what will be done here, what others need, and what the plan does not reach."""
    role = " and ".join(place for place in ROLES if place in wanted.role)
    if plan.changes:
        console.print(f"To use {plan.what}, this {role} is changed:", style="bold")
    for change in plan.changes:
        console.print(f"  {change.words}")
    for words in plan.already:
        console.print(f"  {words} is already in place")
    for other in plan.elsewhere:
        console.print(f"Also needed, on the {other}")
    for limit in plan.limits:
        console.print(limit)
    if not wanted.persistent and plan.changes:
        console.print("It lasts until the next reboot; use --persistent to keep it.")


def check_can_apply() -> None:
    """Refuses early a host that cannot apply changes. Raises InputError."""
    check_root("airtcp advise --apply")
    try:
        with journal() as kept:
            check_nothing_is_applied(kept)
    except ApplyError as error:
        raise InputError(str(error)) from error


def check_root(what: str) -> None:
    """Refuses a user other than root. Raises InputError."""
    if os.geteuid() != 0:
        raise InputError(f"{what} changes this host and needs root: run it again with sudo")


def this_host() -> Host:
    """Returns this host, with the matching airtcpd if it exists."""
    try:
        return Host(airtcpd=find().path)
    except LinuxError:
        return Host()


def _agreed() -> bool:
    if not sys.stdin.isatty():
        raise InputError("no terminal to ask for confirmation; use --yes to apply without asking")
    return typer.confirm("Apply these changes?", default=False)
