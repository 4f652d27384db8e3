"""The part of `docs/calibration.md` on advice that was tried: the same study gives the same bytes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import fmean

from airtcp.advise.ask import NOW
from airtcp.facts.numbers import percent
from airtcp_studies.calibration.paths import KnownPath
from airtcp_studies.calibration.tried.asking import Advised
from airtcp_studies.calibration.tried.journal import Tried
from airtcp_studies.calibration.tried.running import CLOSE
from airtcp_studies.frame.docs import table

LESS_CLOSE = 0.1
INTRODUCTION = """\
## Advice on paths that really ran

{paths} paths that really ran on Linux {kernel} ({date}) with `airtcpd link`, whose packets left
{late_us:.0f} µs late on average: 2 to 50 Mbit/s, 10 to 200 ms, each with losses, losses in bursts, a policer,
a short or a long queue, or delay that varies. Each was measured with ping, then for 20 s with iperf3 and
CUBIC while tcpdump watched the sender. `airtcp advise --control sender --quick` was asked of ping and iperf3
together, and of the capture. Then the schemes that this kernel has, or that `airtcpd` loads into it, really
ran over the same path, one transfer of 20 s at a time: each once, the two best, the recommended and
the present one twice, and the last three four times where the recommended one was behind. Schemes that
reach less than 60 % of the best in the simulator on the true path did not run. Where this kernel lacks the
recommended scheme (`tcp_westwood` is not built), the best one tied with it was taken.
"""
EXCEPTIONS = """\
### Where the recommended scheme was behind

Goodput in Mbit/s: as forecast on the fitted path; in the simulator on the true one; and really. The first two
differ by what the fit missed, the last two by what the simulator and this kernel do differently.
"""


def summary(tried: Sequence[Tried]) -> str:
    """Returns how many answers were good."""
    answers = [(each, advised) for each in tried for advised in each.advised]
    given = [(each, advised) for each, advised in answers if advised.use]
    behind = [each.behind_best(advised) for each, advised in given]
    below = sum(each.is_below_now(advised) for each, advised in given)
    spread = percent(fmean(each.spread for each in tried), 1)
    close, less = (sum(share <= most for share in behind) for most in (CLOSE, LESS_CLOSE))
    return (
        f"{len(answers)} answers on {len(tried)} paths, of which {len(given)} recommend something. Of those, "
        f"the scheme to use carries 95 % of the best measured goodput on {close}, 90 % on {less}, and less "
        f"than the present one, by more than 1 % and noise, on {below}. One run differs from another by "
        f"{spread} % (standard deviation)."
    )


def section(tried: Sequence[Tried]) -> Iterator[str]:
    if not tried:
        return
    known = [each.circumstances for each in tried]
    yield INTRODUCTION.format(
        paths=len(tried),
        kernel=", ".join(sorted({each.kernel for each in known})),
        date=", ".join(sorted({each.date for each in known})),
        late_us=1e3 * fmean(each.late_ms for each in known),
    )
    yield f"{summary(tried)}\n"
    columns = ["path", "what it is", "measured by", "use", "best", "use", "best", "cubic [Mbit/s]", "behind"]
    yield from table(columns, [_row(each, advised) for each in tried for advised in each.advised])
    yield from _exceptions(tried)


def is_exception(tried: Tried, advised: Advised) -> bool:
    return tried.behind_best(advised) > CLOSE or tried.is_below_now(advised)


def described(path: KnownPath) -> str:
    """Returns what the path is, in a few words."""
    words = [f"{path.rate_bps / 1e6:.3g} Mbit/s, {2e3 * path.delay_s:.0f} ms"]
    if path.limit == "policer":
        words.append(f"policer with {path.queue_packets} packets")
    else:
        words.append(f"queue of {path.queue_packets}")
    if path.loss:
        words.append(f"{percent(path.loss, 1)} % lost" + (" in bursts" if path.burst > 1 else ""))
    if path.jitter != "none":
        words.append(f"jitter {1e3 * path.jitter_mean_s:.0f} ± {1e3 * path.jitter_deviation_s:.0f} ms")
    return ", ".join(words)


def _row(tried: Tried, advised: Advised) -> list[str]:
    use = tried.used(advised)
    return [
        str(tried.path.number),
        described(tried.path),
        advised.tool,
        _named(tried, advised),
        tried.best,
        *(_mbps(tried.goodput_bps(scheme)) for scheme in (use, tried.best, NOW)),
        f"{percent(tried.behind_best(advised), 1)} %",
    ]


def _named(tried: Tried, advised: Advised) -> str:
    use = tried.used(advised)
    if not advised.use:
        return f"– ({use})"
    return use if use == advised.use else f"{use} (for {advised.use})"


def _exceptions(tried: Sequence[Tried]) -> Iterator[str]:
    rows = [
        [
            str(each.path.number),
            advised.tool,
            scheme,
            *(
                _mbps(by[scheme]) if scheme in by else "–"
                for by in (advised.forecast_bps, each.simulated_bps)
            ),
            ", ".join(map(_mbps, each.really_bps[scheme])),
        ]
        for each in tried
        for advised in each.advised
        if is_exception(each, advised)
        for scheme in dict.fromkeys((each.used(advised), each.best, NOW))
    ]
    if rows:
        yield EXCEPTIONS
        yield from table(["path", "measured by", "scheme", "forecast", "simulated", "really"], rows)
    silent = [(each.path, advised) for each in tried for advised in each.advised if advised.not_closed]
    for path, advised in silent:
        yield f"Path {path.number}, {advised.tool}: nothing was recommended. {advised.not_closed}\n"


def _mbps(bps: float) -> str:
    return f"{bps / 1e6:.3g}"
