"""What paper 001 reads from its sequence plot, Fig 3: the duplicate ACKs after a spurious timeout."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from airtcp.facts.series import Series
from airtcp_studies.frame import Row, Tried, absolute, claim
from airtcp_studies.papers.packet_control.path import SEGMENT_BYTES

RECOVERS_S = 11.0
"""When the link recovers."""


@dataclass(frozen=True)
class Duplicates:
    """The duplicate ACKs after the link has recovered."""

    number: int
    """The segment that they acknowledge, counted from 0 as in ns-2."""
    after_s: float
    """From the recovery of the link to the first."""
    last_s: float
    """From the first to the last."""
    pause_s: float
    """How long no new segment is sent, at the most."""
    fast_retransmits: int

    @property
    def evidence(self) -> str:
        return f"{self.fast_retransmits} fast retransmits"


def duplicates_of(series: Series) -> Duplicates:
    after = series.events.filter(pl.col("time_s") > RECOVERS_S)
    found = after.filter(pl.col("kind") == "duplicate-ack")
    times = found["time_s"].to_list()
    first, last = (times[0], times[-1]) if times else (float("nan"), float("nan"))
    new = series.flows.filter(pl.col("nxt_bytes").diff() > 0)["time_s"]
    return Duplicates(
        number=int(found["offset_bytes"][0]) // SEGMENT_BYTES - 1 if times else 0,
        after_s=first - RECOVERS_S,
        last_s=last - first,
        pause_s=max(new.filter(new > RECOVERS_S).diff().drop_nulls().to_list(), default=0.0),
        fast_retransmits=after.filter(pl.col("kind") == "fast-retransmit").height,
    )


def duplicate_rows(found: Duplicates, others: Mapping[str, Duplicates]) -> list[Row]:
    """Returns what §IV.B says of Fig 3; `others` are the same under other settings."""
    return [
        absolute(
            "the last segment acknowledged when the duplicates come (Fig 3)",
            136,
            found.number,
            "",
            tried=[Tried(name, other.number) for name, other in others.items()],
        ),
        absolute(
            "duplicate ACKs begin after the link recovers (Fig 3)",
            0.97,
            found.after_s,
            "s",
            tried=[Tried(name, other.after_s) for name, other in others.items()],
        ),
        absolute(
            "duplicate ACKs come for (Fig 3)",
            0.57,
            found.last_s,
            "s",
            tried=[Tried(name, other.last_s) for name, other in others.items()],
        ),
        absolute(
            "no new segment is sent for (Fig 3)",
            0.6,
            found.pause_s,
            "s",
            tried=[Tried(name, other.pause_s) for name, other in others.items()],
        ),
        claim(
            "the duplicate ACKs trigger a spurious fast retransmit (Fig 3)",
            found.fast_retransmits > 0,
            evidence=found.evidence,
            note="ns-2's bugfix_ lets none begin here, but inflates the window for the duplicate ACKs. In "
            "a sequence plot that looks the same, and cwnd is afterwards what it was, as in the paper.",
            tried=[
                Tried(name, holds=other.fast_retransmits > 0, evidence=other.evidence)
                for name, other in others.items()
            ],
        ),
    ]
