"""Does a plan's steps, and undoes them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from airtcp._engine import version
from airtcp.apply.errors import ApplyError
from airtcp.apply.host import Host
from airtcp.apply.journal import Applied, Journal
from airtcp.apply.steps import Step

Tell = Callable[[str], object]


def apply(what: str, steps: Sequence[Step], host: Host, journal: Journal, tell: Tell) -> None:
    """Does all the steps, and checks each at the end, or none. Raises ApplyError, KeyboardInterrupt."""
    check_nothing_is_applied(journal)
    host = host.holding(journal.lock)
    now = datetime.now(UTC).isoformat(timespec="seconds")
    try:
        journal.start(Applied(what, now, host.boot, host.network, version()))
        for number, step in enumerate(steps):
            journal.begin(number, step, step.look(host))
            step.do(host)
            journal.done(number)
            tell(f"done: {step.title}")
        for step in steps:
            tell(step.check(host))
        journal.complete()
    except ApplyError as error:
        raise ApplyError(f"{error}. {_taken_back(host, journal, tell)}") from error
    except KeyboardInterrupt:
        tell(_taken_back(host, journal, tell))
        raise


def undo(host: Host, journal: Journal, tell: Tell) -> list[str]:
    """Undoes all steps in the journal, the last first; returns what remains, and why.

    Undone steps are marked, so that a second call continues. Raises ApplyError if a step could not be undone.
    """
    host = host.holding(journal.lock)
    _check_network(host, journal)
    left: list[str] = []
    failed: list[str] = []
    for entry in reversed(journal.entries()):
        try:
            said = entry.step.undo(host, entry.before)
        except ApplyError as error:
            failed.append(str(error))
            continue
        journal.undone(entry.number)
        if said:
            left.append(said)
        else:
            tell(f"undone: {entry.step.title}")
    if failed:
        raise ApplyError(
            f"not undone: {'; '.join(failed)}. The rest was undone; fix this, then run `airtcp undo` again"
        )
    journal.remove()
    return left


def check_nothing_is_applied(journal: Journal) -> None:
    """Refuses a second scheme: undo would not know the original state. Raises ApplyError."""
    found = journal.applied
    if found is None:
        return
    if journal.is_complete:
        raise ApplyError(f"{found.what} was applied on {found.time}: run `airtcp undo` first")
    raise ApplyError(f"applying {found.what} was interrupted on {found.time}: run `airtcp undo` first")


def _taken_back(host: Host, journal: Journal, tell: Tell) -> str:
    left = undo(host, journal, tell)
    return "\n".join(left) if left else "The previous state is restored."


def _check_network(host: Host, journal: Journal) -> None:
    """Refuses another network namespace, which has its own sysctls, queues and filters. Raises ApplyError."""
    found = journal.applied
    if found and found.boot == host.boot and found.network != host.network:
        raise ApplyError(
            f"{found.what} was applied in the network namespace {found.network}, and this is {host.network}: "
            "undo it there (`nsenter --net=… airtcp undo`)"
        )
