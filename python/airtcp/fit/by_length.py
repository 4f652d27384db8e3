"""Counts packets by their length."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from airtcp.fit.measurement import Fates, LengthCount


def by_length(fates: Fates) -> Iterator[LengthCount]:
    """Yields the packets of each length, if lengths are known."""
    if fates.sizes is not None:
        lengths, places = np.unique(fates.sizes, return_inverse=True)
        sent = np.bincount(places)
        lost = np.bincount(places, weights=fates.lost)
        for length, n, gone in zip(lengths, sent, lost, strict=True):
            yield LengthCount(float(length), int(n), int(n - gone), fates.direction)
    elif fates.packet_bytes is not None:
        n = len(fates.lost)
        yield LengthCount(fates.packet_bytes, n, n - int(fates.lost.sum()), fates.direction)
