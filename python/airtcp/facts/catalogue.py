"""The available schemes, parameters and profiles, as the engine lists them."""

from __future__ import annotations

from typing import Literal, TypedDict


class Param(TypedDict):
    """A numeric parameter of a scheme; the bounds `min` and `max` are inclusive."""

    name: str
    default: float
    min: float
    max: float
    doc: str


class KeyInfo(TypedDict):
    """A key that a scheme may change; `allowed` is empty unless only certain words are valid.

    `default` is the value of a key that is not given: None if the key is then absent.
    """

    name: str
    doc: str
    allowed: list[str]
    example: str | None
    default: str | None


class SchemeInfo(TypedDict):
    """A named way to carry data, or a part of one.

    Of two names joined by +, at most one is a congestion control, and at most one belongs to the base
    station. `changes` are the stack's keys that the name stands for or needs, `keys` those of its own.
    """

    name: str
    part: Literal["congestion control", "keys of the stack", "circuit", "base station"]
    summary: str
    source: str
    params: list[Param]
    changes: dict[str, str]
    keys: list[KeyInfo]


class ProfileInfo(TypedDict):
    """The behaviour of an era's stack."""

    name: str
    summary: str
