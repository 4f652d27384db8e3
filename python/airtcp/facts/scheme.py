"""Parses the text of a scheme."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache

SPLITS = "split"


@dataclass(frozen=True)
class Term:
    """One term of a scheme's sum, with its keys: `westwood-vt:alpha=10`."""

    text: str

    @cached_property
    def name(self) -> str:
        return self.text.partition(":")[0].strip()

    @cached_property
    def keys(self) -> dict[str, str]:
        """The keys that it sets, as written."""
        pairs = (pair.partition("=") for pair in self.text.split(":")[1:])
        return {key.strip(): value.strip() for key, _, value in pairs}

    def with_key(self, key: str, value: str) -> Term:
        """Returns this term with this key, in place of another value of it."""
        if key not in self.keys:
            return Term(f"{self.text}:{key}={value}")
        keys = {**self.keys, key: value}
        return Term(":".join([self.name, *(f"{name}={setting}" for name, setting in keys.items())]))


@dataclass(frozen=True)
class Scheme:
    """A parsed scheme. Only the engine decides whether it is valid.

    >>> scheme = Scheme("cubic:beta=0.8+split @ fq-codel")
    >>> [term.name for term in scheme.terms], scheme.queue
    (['cubic', 'split'], 'fq-codel')
    >>> scheme.with_key("ecn", "true").without("split").text
    'cubic:beta=0.8:ecn=true @ fq-codel'
    >>> scheme.with_key("beta", "0.7").text
    'cubic:beta=0.7+split @ fq-codel'
    """

    text: str

    @cached_property
    def terms(self) -> tuple[Term, ...]:
        """The terms in order."""
        return tuple(Term(term.strip()) for term in self.text.partition("@")[0].split("+") if term.strip())

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of its terms."""
        return tuple(term.name for term in self.terms)

    @cached_property
    def queue(self) -> str | None:
        """The queue that the scheme puts at the lossy link."""
        return self.text.partition("@")[2].strip() or None

    @cached_property
    def without_queue(self) -> str:
        """The text without the queue."""
        return "+".join(term.text for term in self.terms)

    @property
    def is_split(self) -> bool:
        """Whether a proxy splits its connection. RTT and timeouts are then those between sender and proxy."""
        return SPLITS in self.names

    def with_key(self, key: str, value: str, term: str | None = None) -> Scheme:
        """Returns the scheme with this key, in its first term or in `term` if it has that."""
        place = 0 if term is None else next((n for n, name in enumerate(self.names) if name == term), None)
        if place is None:
            return self
        changed = (each.with_key(key, value) if n == place else each for n, each in enumerate(self.terms))
        return self._of(changed)

    def without(self, *names: str) -> Scheme:
        """Returns the scheme without the terms of these names."""
        return self._of(term for term in self.terms if term.name not in names)

    def __str__(self) -> str:
        return self.text

    def _of(self, terms: Iterable[Term]) -> Scheme:
        text = "+".join(term.text for term in terms)
        return Scheme(text if self.queue is None else f"{text} @ {self.queue}")


@lru_cache
def is_split(scheme: str) -> bool:
    """Cached `Scheme.is_split`, for many rows with few schemes."""
    return Scheme(scheme).is_split
