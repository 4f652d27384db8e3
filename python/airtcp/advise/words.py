"""The answer in plain words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from airtcp.advise.advice import Advice, Paragraph, Recommendation, Row, UnderReading
from airtcp.advise.air import sentences
from airtcp.advise.beside import RIVAL, Harm
from airtcp.advise.deployment import AIRTCP, STAGES
from airtcp.advise.ranges import elsewhere, percent_lost, ranges, rate_range
from airtcp.facts.numbers import milliseconds, seconds
from airtcp.facts.stats import Estimate
from airtcp.facts.units import rate_scale
from airtcp.facts.verdict import listed, percent
from airtcp.fit.arrival import BEYOND

MUCH_DELAY = 1.3
"""RTTs longer by this factor are a cost worth mentioning."""
PLACES = {"sender": "the sender", "receiver": "the receiver", "gateway": "the gateway"}


def paragraphs(advice: Advice) -> Iterator[Paragraph]:
    """Yields all paragraphs, the most important first."""
    if advice.interrupted:
        yield Paragraph("Interrupted", "Partial answer: based on what had run when it was stopped.")
    found = advice.recommendation
    if found is None:
        open_ = _sentence(advice.not_closed) if advice.not_closed else None
        why = open_ or advice.nothing_arrived or "Too few runs to compare anything."
        text = " ".join([why, *advice.notes])
        yield Paragraph("No answer", text)
        return
    rows = {row.name: row for row in advice.rows}
    mind = list(_mind_first(advice))
    if mind:
        yield Paragraph("First", " ".join(mind))
    yield Paragraph("What to do", " ".join([*_readings(advice), *_what(advice, found, rows)]))
    if not found.keep_now:
        yield Paragraph("What it needs", " ".join(_needs(rows[found.use])))
    risks = list(_risks(advice, found, rows))
    if risks:
        yield Paragraph("What it costs others", " ".join(risks))
    if advice.air:
        yield Paragraph("On the air", " ".join(sentences(advice.air)))
    yield Paragraph("How certain this is", " ".join(_sure(advice, rows[found.use])))
    around = ranges(advice)
    if around:
        both = elsewhere(advice)
        told = ["Each property varies on its own here.", *around, *([both] if both else [])]
        yield Paragraph("Where the answer changes", " ".join(told))
    if found.alone:
        yield Paragraph("By what you control", " ".join(_by_control(found, rows)))
    if advice.unknown:
        yield Paragraph("What the measurement leaves open", "\n".join(map(_sentence, advice.unknown)))


def _mind_first(advice: Advice) -> Iterator[str]:
    """Yields what comes before any choice, and the assumptions that may reverse the answer."""
    for text in advice.unknown:
        quantity, _, rest = text.partition(": ")
        if quantity == BEYOND:
            yield rest
    if advice.buffers:
        yield _sentence(advice.buffers)
    if advice.rate_assumed:
        yield _sentence(advice.rate_assumed)
        along_rate = rate_range(advice)
        yield along_rate or "The answer was not checked at other rates."
    if advice.readings and not agree(advice.readings):
        yield f"The answer depends on what the measurement leaves open. {advice.readings[0].decides}"


def agree(readings: Sequence[UnderReading]) -> bool:
    """Returns whether the assumed answer is best, or as good, under every reading."""
    return all(readings[0].use in each.as_good for each in readings)


def _readings(advice: Advice) -> Iterator[str]:
    """Yields the answer under each reading."""
    if not advice.readings:
        return
    first = advice.readings[0]
    if agree(advice.readings):
        others = listed([f"if {each.reading}" for each in advice.readings])
        yield f"{first.use} is best or tied under every reading of the measurement: {others}."
        return
    for each in advice.readings:
        now = _reached_text(advice, each.reached_now)
        use = _reached_text(advice, each.reached)
        what = f"keep {each.use} ({use})" if each.keep_now else f"use {each.use} ({use} instead of {now})"
        tied = f"; statistically tied: {listed(each.tied)}" if each.tied else ""
        yield f"If {each.reading}: {what}{tied}."
    always = [name for name in first.as_good if all(name in each.as_good for each in advice.readings)]
    if always:
        yield f"Best or tied in every case: {listed(always)}."
    yield f"The rest of this answer assumes that {first.reading}."


def _what(advice: Advice, found: Recommendation, rows: dict[str, Row]) -> Iterator[str]:
    now = rows[advice.now]
    if found.keep_now:
        yield f"Keep {advice.now} ({reached(advice, now)}): " + _nothing_better(advice, found)
    else:
        row = rows[found.use]
        yield (
            f"Use {found.use} at {listed([PLACES[place] for place in row.needs.places])}:"
            f" {reached(advice, row)} instead of {reached(advice, now)},"
            f" {_better(advice, found.gain)} than {advice.now}."
        )
        if advice.gain_between and advice.loss_between:
            yield _as_measured(advice.gain_between, advice.loss_between)
        if found.tied:
            yield f"Statistically tied with it: {listed(found.tied)}.{_why_not_first(advice, found)}"
    if found.swifter:
        yield _swifter(advice, found, rows)
    if found.not_deployable:
        row = rows[found.not_deployable]
        yield f"{row.name} would be better still ({reached(advice, row)}), but is {STAGES[row.needs.stage]}."


def _why_not_first(advice: Advice, found: Recommendation) -> str:
    """Explains a table whose first row is not the recommended one."""
    first = advice.rows[0].name
    if first not in found.tied:
        return ""
    return (
        " Among ties the least change wins, then the least harm to others, then the shortest queue;"
        f" hence not {first}, the table's first row."
    )


def _nothing_better(advice: Advice, found: Recommendation) -> str:
    tried = sum(1 for row in advice.rows if row.name != advice.now)
    margin = f"{100 * advice.margin:g} %"
    text = f"of {tried} others tried, none available is significantly more than {margin} better."
    return f"{text} Statistically tied with it: {listed(found.tied)}." if found.tied else text


def _better(advice: Advice, gain: Estimate | None) -> str:
    if gain is None:
        return "better"
    # A completion time that is shorter by x % is not a speed-up of x %.
    return f"{percent(gain)} {'more' if advice.objective == 'goodput' else 'less'}"


def _as_measured(gains: tuple[float, float], losses: tuple[float, float]) -> str:
    low, high = (percent_lost(loss) for loss in losses)
    least, most = (f"{100 * each:+.0f} %" for each in gains)
    return (
        f"Loss was measured to be {low} to {high}: with that and chance, the gain is from {least} to {most}."
    )


def _swifter(advice: Advice, found: Recommendation, rows: dict[str, Row]) -> str:
    swift, own = rows[found.swifter or ""], rows[found.use]
    return (
        f"Round trips of {found.use} are long, which affects everything on the link: {_ms(own)} at the 95th"
        f" percentile. {swift.name} has {_ms(swift)} and reaches {reached(advice, swift)}"
        f"{', but ' if swift.needs.cautions else ''}{'; '.join(swift.needs.cautions)}."
    )


def _needs(row: Row) -> Iterator[str]:
    needs = row.needs
    yield f"{listed([PLACES[place] for place in needs.places]).capitalize()}: {'; '.join(needs.how)}."
    yield f"It is {STAGES[needs.stage]}{', and needs root' if needs.root else ''}; {AIRTCP[needs.airtcp]}."
    yield from (_sentence(text) for text in needs.headers)
    yield from (_sentence(text) for text in needs.encrypted)
    yield from (_sentence(text) for text in needs.cautions)


def _risks(advice: Advice, found: Recommendation, rows: dict[str, Row]) -> Iterator[str]:
    row, now = rows[found.use], rows[advice.now]
    if row.share is None:
        yield f"Its effect on others was not run: {row.name}."
    elif row.name != RIVAL:
        yield (
            f"A CUBIC flow competing with {row.name} retains {percent(row.share.kept)} of what it gets"
            f" beside another CUBIC: {_harm(row)}."
        )
    if found.gentler:
        gentle = rows[found.gentler]
        yield f"Where others share the link, {gentle.name} is fairer to them: {reached(advice, gentle)}."
    own, before = row.rtt_p95_ms, now.rtt_p95_ms
    if own and before and own > MUCH_DELAY * before:
        yield f"Its queue has a cost too: round trips of {_ms(row)} instead of {_ms(now)} (95th percentile)."


def _harm(row: Row) -> str:
    assert row.share is not None
    words: dict[Harm, str] = {
        "harmless": "it does not harm them",
        "starves it": "it starves them",
        "takes more than its share": "it takes more than its share",
        "not known": "too few runs to tell whether it harms them",
    }
    return words[row.share.word]


def _sure(advice: Advice, row: Row) -> Iterator[str]:
    seeds = len(row.summary.seeds)
    runs = f"{seeds} run{'s' if seeds > 1 else ''} of {advice.duration_s:g} s"
    yield (
        f"Intervals are {100 * advice.confidence:.0f} % over {runs} each; schemes far behind ran fewer. They"
        " cover chance on the path as modelled, not how well the model fits."
    )
    if advice.shortened_from_s:
        yield (
            f"The scenario's {advice.shortened_from_s:g} s would take long;"
            f" use --duration {advice.shortened_from_s:g}s for the full length."
        )
    if "gateway" in row.needs.places and len(advice.scenario["link"]) == 1:
        yield (
            "The path is modelled as a single link with the gateway at its near end. The segment between"
            " gateway and sender was not measured separately, and a gateway cannot repair its losses."
        )
    if row.summary.goodput.half_width == 0:
        yield "Nothing on this path is random: all runs are identical."
    yield from advice.notes
    if advice.quick:
        yield "This is a quick look: run without --quick before acting on it."
    elif seeds < 4:
        yield "Few runs: take this as a hint."


def _by_control(found: Recommendation, rows: dict[str, Row]) -> Iterator[str]:
    for alone in found.alone:
        what = (
            f"{alone.use} ({_signed(rows[alone.use].gain)})"
            if alone.use
            else "nothing that helps significantly"
        )
        yield f"{alone.place.capitalize()} alone: {what}."


def reached(advice: Advice, row: Row) -> str:
    """Returns the objective in words: `9.32 Mbit/s`, or `1.24 s per transfer`."""
    return _reached_text(advice, row.reached)


def _reached_text(advice: Advice, value: Estimate) -> str:
    if advice.objective == "completion time":
        return f"{seconds(value.mean)} s per transfer"
    scale, unit = rate_scale([value.mean])
    return f"{value.mean / scale:.3g} {unit}"


def _signed(gain: Estimate | None) -> str:
    return percent(gain, signed=True) if gain else ""


def _ms(row: Row) -> str:
    return f"{milliseconds(row.rtt_p95_ms)} ms"


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:].rstrip('.')}."
