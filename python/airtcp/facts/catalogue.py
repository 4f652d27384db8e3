"""What there is to choose from, as the engine tells it."""

from __future__ import annotations

from typing import Literal, TypedDict


class Param(TypedDict):
    """A numeric parameter of a scheme; `min` and `max` are allowed themselves."""

    name: str
    default: float
    min: float
    max: float
    doc: str


class KeyInfo(TypedDict):
    """A key that a scheme may change; `allowed` is empty unless only some words are.

    `default` is the value of a key that is not given: None where it is then absent.
    """

    name: str
    doc: str
    allowed: list[str]
    example: str | None
    default: str | None


class SchemeInfo(TypedDict):
    """A named way to carry data, or a part of one.

    Of two names joined by +, at most one is a congestion control, and at most one is of the base station.
    `changes` are the keys of the stack that the name stands for or needs, `keys` those of its own.
    """

    name: str
    part: Literal["congestion control", "keys of the stack", "circuit", "base station"]
    summary: str
    source: str
    params: list[Param]
    changes: dict[str, str]
    keys: list[KeyInfo]


class ProfileInfo(TypedDict):
    """What an era's stack did."""

    name: str
    summary: str
