"""Writes the slowest link as the search among a transfer's readings has settled it."""

from __future__ import annotations

from dataclasses import replace

from airtcp.fit.bottleneck import WORDS, Bottleneck, Settled
from airtcp.fit.delay import Delay
from airtcp.fit.draft import LINK, Draft, Entry, milliseconds, number, percent, rate, text
from airtcp.fit.estimates import LossOf
from airtcp.fit.evidence import From, there
from airtcp.fit.findings import Finding, Reading, Unknown, Value

UNLIKELY = 0.02
"""Readings less likely than this are not listed."""
DECIDES = (
    "A ping log of the idle path would show its loss and round trip, `airtcp measure` with a server the rest."
)


def settled_rate(draft: Draft) -> Entry | None:
    """Returns the rate of the link; None if nothing has settled it."""
    if draft.settled is None:
        return None
    settled, name = draft.settled.what, draft.settled.name
    best, between = settled.best, settled.rate_between
    shown = rate(best.rate_bps)
    if between is None:
        draft.unknown.append(
            Unknown(
                f"capacity {there('forward')}",
                f"Losses that do not depend on the link's rate explain the transfer of {name} as well.",
                f"{shown} is assumed, with which it does again what it did.",
                "--rate says otherwise.",
            )
        )
        arrived = draft.settled.source.transfer and draft.settled.source.transfer.arrived
        least = rate(arrived.rate_bps) if arrived else shown
        finding = Finding(
            f"rate {there('forward')}", f"at least {least}", "", f"So much arrived in {name} in all."
        )
        draft.found.append(finding)
        return Entry("rate", text(rate(best.link_bps)), (finding.text,))
    low, high = between
    of = "a policer" if best.cause == "policer" else "the link"
    how = f"That of {of} on which the transfer of {name} does again what it did ({settled.runs} simulations)."
    interval = f"{rate(low)} to {rate(high)}" if low < high else ""
    finding = Finding(f"rate {there('forward')}", shown, interval, settled.how or how)
    draft.found.append(finding)
    return Entry("rate", text(rate(best.link_bps)), (finding.text,))


def put_settled_base(draft: Draft, delay: Delay) -> bool:
    """Writes the delay; returns False if nothing has settled it."""
    if draft.settled is None:
        return False
    settled, name = draft.settled.what, draft.settled.name
    base_s, (low, high) = settled.best.base_s, settled.base_between
    draft.delay = replace(delay, base_s=Value(base_s, low, high), least_s=min(delay.least_s, base_s))
    how = (
        f"That with which the transfer of {name} does again what it did: its own round trips, at least "
        f"{number(delay.least_s * 1e3)} ms, include the queue that it filled."
    )
    if draft.settled.source.transfer is not None and draft.settled.source.transfer.least_s is not None:
        how = (
            f"The least of all packets of the transfer in {name}, its handshake's included, before it filled "
            "a queue; less the packet's own time."
        )
    if settled.how:
        how = f"The least of the transfer in {name}, which filled no queue, less a packet's own time."
    interval = f"{number(low * 1e3)} to {number(high * 1e3)} ms"
    finding = Finding("round trip without a queue", f"{number(base_s * 1e3)} ms", interval, how)
    draft.add("delay", text(milliseconds(base_s / 2)), finding)
    return True


def put_settled_queue(draft: Draft) -> bool:
    """Writes the queue; returns False if nothing has settled it."""
    if draft.settled is None:
        return False
    best, name = draft.settled.what.best, draft.settled.name
    if best.cause == "policer":
        finding = Finding(
            "policer",
            f"{rate(best.rate_bps)}, burst {number(best.burst_bytes / 1e3)} kB",
            "",
            f"Packets of {name} were lost while no queue grew: what came faster was dropped.",
        )
    else:
        wait_s = best.room_packets * 12_000 / best.rate_bps
        finding = Finding(
            f"room in the queue {there('forward')}",
            f"{best.room_packets:.0f} packets, {number(wait_s * 1e3, 3)} ms",
            "",
            f"That with which the transfer of {name} does again what it did.",
        )
    draft.found.append(finding)
    draft.forward.append(Entry("queue", best.queue, (finding.text,)))
    draft.reverse.append(Entry("queue", "{ packets = 1000 }"))
    return True


def is_policed(settled: From[Settled] | None, loss: LossOf) -> bool:
    """Returns whether a policer dropped what that transfer lost: it is no loss of the link."""
    if settled is None or settled.what.best.cause != "policer":
        return False
    return loss.source.source is settled.source


def settled_loss(draft: Draft) -> tuple[str, Finding] | None:
    """Returns the loss with which a transfer does again what it did, as TOML and in words; None if it lost
    nothing to the link, or if nothing was settled."""
    if draft.settled is None or not draft.settled.what.best.loss > 0:
        return None
    best = draft.settled.what.best
    how = f"With that, {draft.settled.name} retransmits as often as it did."
    runs = f", {number(best.run_packets, 2)} packets in a row" if best.run_packets > 1 else ""
    return best.losses, Finding(f"loss {there('forward')}", f"{percent(best.loss)}{runs}", "", how)


def put_settled_loss(draft: Draft) -> bool:
    """Writes what lost the transfer's packets, with the other readings; returns False if nothing has
    settled it."""
    if draft.settled is None:
        return False
    settled, name = draft.settled.what, draft.settled.name
    if (lost := settled_loss(draft)) is not None:
        losses, finding = lost
        draft.add("loss", losses, replace(finding, quantity="loss"))
        draft.reverse.append(Entry("loss", "{}"))
    else:
        draft.found.append(
            Finding("loss", "none", "", f"{WORDS[settled.best.cause].capitalize()}, in {name}.")
        )
    return True


def put_settled_readings(draft: Draft, *, has_idle: bool, has_loss: bool) -> None:
    """Lists the readings of the transfer, each with its likelihood."""
    if draft.settled is None:
        return
    (best, likelihood), *others = draft.settled.what.likelihoods
    listed = [(path, share) for path, share in others if share >= UNLIKELY]
    if not listed:
        return
    assumed = _named(best, likelihood)
    rest = [_named(path, share) for path, share in listed]
    keys = [_keys(path, has_idle, has_loss) for path, _ in listed]
    draft.unknown.append(
        Unknown(
            f"what dropped packets of {draft.settled.name}",
            "A transfer shows what was lost, not where.",
            f"The fit assumes that {assumed}; it is also possible that {' or that '.join(rest)}.",
            DECIDES,
            (
                Reading(assumed, (), likelihood),
                *(
                    Reading(name, each, share)
                    for name, each, (_, share) in zip(rest, keys, listed, strict=True)
                ),
            ),
        )
    )


def _named(path: Bottleneck, likelihood: float) -> str:
    return f"{WORDS[path.cause]} ({percent(likelihood, 2)} likely)"


def _keys(path: Bottleneck, has_idle: bool, has_loss: bool) -> tuple[tuple[str, str], ...]:
    keys = {"rate": text(rate(path.link_bps)), "queue": path.queue}
    if not has_idle:
        keys["delay"] = text(milliseconds(path.base_s / 2))
    if not has_loss:
        keys["loss"] = path.losses
    return tuple((f"link.{LINK}.{key}", value) for key, value in keys.items())
