"""What a scheme is made of, by its text."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache

SPLITS = "split"


@dataclass(frozen=True)
class Term:
    """One of the names that a scheme adds up, with its keys: `westwood-vt:alpha=10`."""

    text: str

    @cached_property
    def name(self) -> str:
        return self.text.partition(":")[0].strip()

    @cached_property
    def keys(self) -> dict[str, str]:
        """What it sets, as written."""
        pairs = (pair.partition("=") for pair in self.text.split(":")[1:])
        return {key.strip(): value.strip() for key, _, value in pairs}

    def with_key(self, key: str, value: str) -> Term:
        """As it is, with one more key."""
        return Term(f"{self.text}:{key}={value}")


@dataclass(frozen=True)
class Scheme:
    """A scheme, taken apart. Whether there is such a one is for the engine to say.

    >>> scheme = Scheme("cubic:beta=0.8+split @ fq-codel")
    >>> [term.name for term in scheme.terms], scheme.queue
    (['cubic', 'split'], 'fq-codel')
    >>> scheme.with_key("ecn", "true").without("split").text
    'cubic:beta=0.8:ecn=true @ fq-codel'
    """

    text: str

    @cached_property
    def terms(self) -> tuple[Term, ...]:
        """What it adds up, in order."""
        return tuple(Term(term.strip()) for term in self.text.partition("@")[0].split("+") if term.strip())

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of its terms."""
        return tuple(term.name for term in self.terms)

    @cached_property
    def queue(self) -> str | None:
        """The queue that it brings along to the lossy link."""
        return self.text.partition("@")[2].strip() or None

    @cached_property
    def without_queue(self) -> str:
        """Its text but for the queue."""
        return "+".join(term.text for term in self.terms)

    @property
    def is_split(self) -> bool:
        """Does a proxy end its connection? RTT and timeouts are then the sender's with the proxy."""
        return SPLITS in self.names

    def with_key(self, key: str, value: str, term: str | None = None) -> Scheme:
        """With one more key in its first term, or in the one called `term`, where it has that."""
        place = 0 if term is None else next((n for n, name in enumerate(self.names) if name == term), None)
        if place is None:
            return self
        changed = (each.with_key(key, value) if n == place else each for n, each in enumerate(self.terms))
        return self._of(changed)

    def without(self, *names: str) -> Scheme:
        """Without the terms that are called so."""
        return self._of(term for term in self.terms if term.name not in names)

    def __str__(self) -> str:
        return self.text

    def _of(self, terms: Iterable[Term]) -> Scheme:
        text = "+".join(term.text for term in terms)
        return Scheme(text if self.queue is None else f"{text} @ {self.queue}")


@lru_cache
def is_split(scheme: str) -> bool:
    """As of `Scheme`, for the many rows that ask it of the same few."""
    return Scheme(scheme).is_split
