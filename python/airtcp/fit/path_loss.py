"""Writes `loss` of each direction from the fates of packets, and overtaking from their order."""

from __future__ import annotations

import math

import numpy as np

from airtcp.fit.draft import LINK, Draft, Entry, duration, milliseconds, number, percent, table, text
from airtcp.fit.estimates import Estimates, LossOf
from airtcp.fit.evidence import Evidence, From, there
from airtcp.fit.findings import Finding, Reading, Unknown, Value
from airtcp.fit.hidden_chain import Chain
from airtcp.fit.loss import Loss, most_unseen
from airtcp.fit.loss_by_size import BySize
from airtcp.fit.measurement import Direction, Fates, LossCount, Reordering
from airtcp.fit.overflow import Overflow
from airtcp.fit.path_overload import put_overflow, put_readings_of_overload
from airtcp.fit.path_settled import is_policed, put_settled_loss, put_settled_readings, settled_loss

SMALL_PACKET_BYTES = 500.0


def put_loss(draft: Draft, evidence: Evidence, estimates: Estimates) -> None:
    """Uses the best source: packets with a known direction, round-trip probes, then a transfer's
    retransmissions. What a sender lost by its own rate is no loss of the link."""
    losses = {way: of for way, of in estimates.losses.items() if not is_policed(draft.settled, of)}
    for way, sent in estimates.overloads.items():
        if way in losses and isinstance(losses[way].source.what, LossCount):
            put_readings_of_overload(draft, evidence.offered[way], sent)
            if sent.is_likely:
                put_overflow(draft, evidence.offered[way], sent)
                del losses[way]
    _put_loss(draft, evidence, losses)
    put_settled_readings(draft, has_idle=evidence.idle is not None, has_loss=bool(losses))


def _put_loss(draft: Draft, evidence: Evidence, losses: dict[Direction, LossOf]) -> None:
    if "forward" in losses:
        _there(draft, losses["forward"])
        _back(draft, losses)
        _compare_with_probes(draft, losses)
    elif "both" in losses:
        _both_ways(draft, losses["both"])
    elif put_settled_loss(draft):
        pass
    elif evidence.resent is not None:
        _resent(draft, evidence.resent)
    else:
        draft.unknown.append(
            Unknown(
                "loss",
                "No input measures it.",
                "None assumed, except queue drops.",
                'Add a ping log, or add loss = { packet = "1%" }.',
            )
        )


def _both_ways(draft: Draft, probed: LossOf) -> None:
    found, name = probed.loss, probed.source.name
    draft.loss, draft.loss_between = found, _between(probed, "both")
    findings = _findings(probed, "both")
    settled = settled_loss(draft) if probed.is_plain else None
    if settled is not None:
        losses, finding = settled
        draft.add("loss", losses, *findings, finding)
    elif found.lost:
        draft.add("loss", _table(probed, halve=True), *findings)
    else:
        draft.found += findings
        draft.unknown.append(_zero(found, name, ""))
    if not found.lost:
        return
    draft.unknown.append(
        Unknown(
            "in which direction packets were lost",
            "An unanswered ping does not show it.",
            "Half of the loss is assumed in each direction, independently, with bursts of the same length.",
            "A capture at the sender would show it, or `airtcp measure` with its server at the other end; "
            "`loss` of the link and of link.reverse can be changed.",
        )
    )
    _size(draft, probed, "both")


def _there(draft: Draft, forward: LossOf) -> None:
    found, name = forward.loss, forward.source.name
    draft.loss, draft.loss_between = found, _between(forward, "forward")
    findings = _findings(forward, "forward")
    if forward.overflow is not None:
        findings.append(_overflow(forward.overflow))
    if found.lost == 0:
        draft.found += findings
        draft.unknown.append(_zero(found, name, f" {there('forward')}"))
        return
    draft.add("loss", _table(forward), *findings)
    if forward.source.source.transfer is None:
        _size(draft, forward, "forward")
    elif forward.overflow is None:
        draft.unknown.append(
            Unknown(
                "which losses the transfer's own queue made",
                "A lost packet does not show it.",
                "All are attributed to the link, in addition to the simulated queue's drops.",
                "A ping log of the idle path shows the link alone: fit that instead of the capture.",
            )
        )


def _overflow(found: Overflow) -> Finding:
    return Finding(
        "overflow",
        f"{found.lost} of {found.packets} packets that met a nearly full queue",
        "",
        "More than link loss explains; not counted above, since the simulated queue has its own overflows.",
    )


def _back(draft: Draft, losses: dict[Direction, LossOf]) -> None:
    back = losses.get("reverse")
    if back is not None:
        findings = _findings(back, "reverse")
        draft.found += findings
        value = _table(back) if back.loss.lost else "{}"
        draft.reverse.append(Entry("loss", value, tuple(finding.text for finding in findings)))
        if back.source.source.transfer is None:
            _size(draft, back, "reverse")
    elif losses["forward"].loss.lost:
        draft.unknown.append(
            Unknown(
                "loss in the reverse direction",
                "No input measures it.",
                "It is as in the forward direction.",
                "Write `loss = {}` under [link.reverse] for none.",
            )
        )


def _compare_with_probes(draft: Draft, losses: dict[Direction, LossOf]) -> None:
    if "both" not in losses:
        return
    one, both = losses["forward"].loss.share, losses["both"].loss.share
    name, probes = losses["forward"].source.name, losses["both"].source.name
    if one.low is not None and both.high is not None and one.low > both.high:
        draft.notes.append(
            f"{name} lost {percent(one.best)} {there('forward')}, {probes} only {percent(both.best)} "
            f"{there('both')}: drops at the transfer's own queue, or loss that grows with packet length. "
            f"{name} is used."
        )


def _resent(draft: Draft, resent: From[float]) -> None:
    share, transfer = resent.what, resent.source.transfer
    packets = transfer.data_packets if transfer is not None else 0
    if share == 0:
        most = percent(most_unseen(packets), 2)
        how = f"None of {packets} packets of {resent.name} was sent again; 95 % confidence."
        draft.found.append(Finding("loss", f"at most {most}", "", how))
        draft.unknown.append(
            Unknown(
                "loss",
                f"{packets} packets of {resent.name} were too few to lose one.",
                f"None assumed; it is below {most} (95 %).",
                "A longer measurement detects rarer losses.",
            )
        )
        return
    finding = Finding(
        "loss",
        f"at most {percent(share)}",
        "",
        f"Share of the packets of {resent.name} that were retransmitted, including drops at its own queue.",
    )
    draft.unknown.append(
        Unknown(
            "which of the retransmitted packets the link lost",
            "A count of retransmissions does not show it.",
            "All are attributed to the link, independently, in both directions.",
            "A ping log of the idle path would show it.",
        )
    )
    draft.add("loss", table(packet=number(share)), finding)


def _findings(of: LossOf, way: Direction) -> list[Finding]:
    """Returns share, model and bursts, and the comparison of two packet lengths."""
    found = of.loss
    where = "lost there or back" if way == "both" else f"lost {there(way)}"
    quantity = "loss" if way != "reverse" else f"loss {there(way)}"
    bounds = _bounds(found.share)
    if found.lost == 0:
        rule = f"None of {found.n} in {of.source.name}, {where}; the bound is 3/n, the rule of three."
        return [Finding(quantity, "none seen", f"below {percent(found.share.high or 0)}", rule)]
    how = f"{found.lost} of {found.n} in {of.source.name}, {where}."
    findings = [Finding(quantity, percent(found.share.best), bounds, how)]
    sizes = of.by_size
    if sizes is not None:
        findings.append(_by_size(sizes, quantity))
    chosen = found if sizes is None or sizes.ber is None else sizes.rest
    return [*findings, _bursts(chosen or found, "bursts" if way != "reverse" else f"bursts {there(way)}")]


def _bursts(found: Loss, quantity: str) -> Finding:
    if found.burst is None or found.chain is None:
        return Finding(quantity, "none", "", f"Losses are independent: {_why_none(found)}.")
    bounds = (
        ""
        if found.burst.low is None
        else f"{number(found.burst.low, 3)} to {number(found.burst.high or 0, 3)}"
    )
    return Finding(
        f"mean {quantity.replace('bursts', 'burst')}",
        f"{number(found.burst.best, 3)} packets",
        bounds,
        f"{found.model}, by maximum likelihood; it has the lowest BIC of the models.",
    )


def _by_size(found: BySize, quantity: str) -> Finding:
    if found.ber is None:
        how = "No significant difference (BIC): loss does not depend on length."
    else:
        beside = ", in addition to loss independent of length" if found.rest is not None else ""
        how = f"Bit errors explain it (BIC), at a rate of {number(found.ber.best, 3)}{beside}."
    return Finding(
        f"{quantity} by size",
        f"{percent(found.small.share.best)} of {found.small_bytes:.0f} bytes, "
        f"{percent(found.full.share.best)} of {found.full_bytes:.0f} bytes",
        f"{_bounds(found.small.share)} and {_bounds(found.full.share)}",
        how,
    )


def _bounds(share: Value) -> str:
    return f"{percent(share.low or 0)} to {percent(share.high or 0)}"


def _why_none(found: Loss) -> str:
    if not found.bic:
        return "a count does not show which were lost"
    return "too few losses" if len(found.bic) == 1 else "bursts would not explain more (BIC)"


def _table(of: LossOf, *, halve: bool = False) -> str:
    """Returns the table; `halve` splits a round-trip loss into two equal directions."""
    sizes, fates = of.by_size, of.source.what
    is_probed = of.source.source.transfer is None
    interval_s = fates.interval_s if is_probed and isinstance(fates, Fates) else None
    if sizes is None or sizes.ber is None:
        return table(**_keys(of.loss, interval_s, halve=halve))
    ber = sizes.ber.best / 2 if halve else sizes.ber.best
    return table(ber=number(ber), **(_keys(sizes.rest, interval_s, halve=halve) if sizes.rest else {}))


def _keys(found: Loss, interval_s: float | None, *, halve: bool) -> dict[str, str]:
    share = found.share.best
    if found.chain is None:
        one_way = 1 - (1 - share) ** 0.5 if halve and share < 1 else share
        return {"packet": number(one_way)}
    chain: Chain = found.chain.on_one_of_two_ways() if halve else found.chain
    burst = table(
        to_bad=number(chain.to_bad),
        to_good=number(chain.to_good),
        good_loss=number(chain.good_loss) if chain.good_loss else None,
        bad_loss=number(chain.bad_loss) if chain.bad_loss < 1 else None,
        interval=text(duration(interval_s)) if interval_s else None,
    )
    return {"burst": burst}


def _zero(found: Loss, name: str, where: str) -> Unknown:
    return Unknown(
        "loss",
        f"{found.n} packets of {name} were too few to lose one{where}.",
        f"None assumed; it is below {percent(found.share.high or 0)} (95 %).",
        "A longer measurement detects rarer losses.",
    )


def _size(draft: Draft, of: LossOf, way: Direction) -> None:
    """Reports what is open if only one length was sent, or the two decide too little."""
    if of.by_size is not None:
        if not of.by_size.is_sure:
            draft.unknown.append(_unsure_of_size(of, of.by_size, way))
        return
    packet_bytes = of.source.what.packet_bytes
    if packet_bytes is None or packet_bytes > SMALL_PACKET_BYTES:
        return
    draft.unknown.append(
        Unknown(
            "loss of full packets",
            f"The probes had {packet_bytes:.0f} bytes; bit errors affect small packets less.",
            "Loss independent of length is assumed.",
            "ping -s 1472 measures full ones, `airtcp measure` both.",
        )
    )


def _unsure_of_size(of: LossOf, sizes: BySize, way: Direction) -> Unknown:
    """Returns both readings; the better supported one is assumed."""
    share = sizes.full.share.best
    ber = -math.log1p(-min(share, 0.999)) / (8 * sizes.full_bytes)
    alike = ("loss does not depend on length", table(packet=number(_halved(of.loss.share.best, way))))
    by_bits = ("bit errors explain all losses", table(ber=number(ber / 2 if way == "both" else ber)))
    stands_in, other = (alike, by_bits) if sizes.ber is None else (by_bits, alike)
    key = f"link.{LINK}{'.reverse' if way == 'reverse' else ''}.loss"
    return Unknown(
        f"how loss grows with length{'' if way == 'both' else f' {there(way)}'}",
        "Too few losses to show it.",
        f"The fit assumes that {stands_in[0]}, which fits best; it is also possible that {other[0]}.",
        "A longer measurement would show it.",
        (Reading(stands_in[0], ()), Reading(other[0], ((key, other[1]),))),
    )


def _between(of: LossOf, way: Direction) -> tuple[float, float] | None:
    """Returns the one-way interval of the loss of full packets; None if unknown."""
    share = of.by_size.full.share if of.by_size is not None and of.by_size.ber is not None else of.loss.share
    if share.low is None or share.high is None:
        return None
    return _halved(share.low, way), _halved(share.high, way)


def _halved(share: float, way: Direction) -> float:
    """Returns the loss of one direction if it was seen over both."""
    return 1 - (1 - share) ** 0.5 if way == "both" else share


def put_overtaking(draft: Draft, evidence: Evidence) -> None:
    """Models late packets as a first link that delays their share of all packets and lets the others pass."""
    found = evidence.reordering.get("forward")
    if found is None or found.what.late == 0 or found.what.packets == 0:
        return
    share = min(0.5, found.what.late / found.what.packets)
    low, high = _lateness(found.what)
    ranges = (
        f"[{table(probability=number(1 - share, 6), low=text('0ms'), high=text('0ms'))}, "
        f"{table(probability=number(share, 6), low=text(milliseconds(low)), high=text(milliseconds(high)))}]"
    )
    finding = Finding(
        "packets out of order",
        percent(share),
        f"late by {number(low * 1e3)} to {number(high * 1e3)} ms",
        f"{found.what.late} of {found.what.packets} in {found.name}.",
    )
    draft.found.append(finding)
    # Rounded alike, the probabilities sum to 1.
    jitter = table(distribution=text("table"), ranges=ranges, overtaking="true")
    draft.extra_links.append(
        [Entry("rate", text("100Gbit/s"), (finding.text,)), Entry("jitter", jitter)],
    )


def _lateness(found: Reordering) -> tuple[float, float]:
    known = found.late_by_s[np.isfinite(found.late_by_s) & (found.late_by_s > 0)]
    if len(known) == 0:
        return 0.0, 0.005
    low, high = np.quantile(known, [0.1, 0.9])
    return float(low), float(max(high, low + 1e-6))
