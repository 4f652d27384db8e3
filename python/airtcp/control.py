"""A congestion control written in Python, which runs in any scenario beside the native ones.

import airtcp

class Aimd(airtcp.CongestionControl):
    beta = airtcp.parameter(0.5, minimum=0.1, maximum=0.9, doc="What a loss leaves of the window")

    def on_ack(self, ack: airtcp.Ack) -> None:
        self.cwnd += self.mss * ack.acked_bytes / self.cwnd

    def on_loss(self, loss: airtcp.Loss) -> None:
        self.ssthresh = max(self.beta * loss.flight_size_bytes, 2 * self.mss)
        self.cwnd = self.ssthresh

found = airtcp.compare(airtcp.Scenario.built_in(), schemes=["reno", Aimd, "aimd:beta=0.7"])
"""

from __future__ import annotations

import inspect
import math
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, ClassVar, TypeVar, cast

from airtcp._engine import Ack, Loss, Window

T = TypeVar("T", int, float)


@dataclass(frozen=True)
class Parameter:
    """A number that a scheme can set: `aimd:beta=0.7`. The bounds are inclusive."""

    name: str
    default: float
    minimum: float
    maximum: float
    doc: str
    is_whole: bool


@dataclass(frozen=True)
class Description:
    """What the engine must know of a class."""

    name: str
    parameters: tuple[Parameter, ...]
    hooks: tuple[str, ...]
    required: tuple[str, ...]
    is_paced: bool
    governs_recovery: bool


@dataclass(frozen=True)
class _Declared:
    default: float
    minimum: float
    maximum: float
    doc: str


def parameter(default: T, *, minimum: float = -math.inf, maximum: float = math.inf, doc: str = "") -> T:
    """Declare a class attribute as a parameter with bounds.

    A lower-case class attribute that is a number is a parameter without bounds.
    """
    return cast(T, _Declared(default, minimum, maximum, doc))


class CongestionControl(Window):
    """The base class of congestion controls in Python. Only `on_ack` and `on_loss` are required.

    A result names the required hooks that have not run.

    The engine makes an object of the class for each connection, as it sends its first data, and sets
    `mss`, `cwnd` and `ssthresh` before `__init__`, which takes no arguments. Hooks set `cwnd`, `ssthresh` and
    `pacing_rate_bps`, and return nothing. Numbers in a scheme's text replace the class's parameters on each
    object. An exception in a hook ends the run.
    """

    name: ClassVar[str] = ""
    """Its name in schemes; by default the class's name in lower case."""
    is_paced: ClassVar[bool] = False
    """Whether it sets `pacing_rate_bps`."""
    governs_recovery: ClassVar[bool] = False
    """Whether cwnd applies as it is during recovery too, without proportional rate reduction (RFC 6937)."""
    _parameters: ClassVar[tuple[Parameter, ...]] = ()

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "name" not in vars(cls):
            cls.name = cls.__name__.lower()
        _refuse_misspelt_hooks(cls)
        own = [found for name, value in vars(cls).items() if (found := _declared(name, value))]
        for declared in own:
            kind = int if declared.is_whole else float
            setattr(cls, declared.name, kind(declared.default))
        inherited = [known for known in cls._parameters if known.name not in vars(cls)]
        cls._parameters = (*inherited, *own)

    def on_ack(self, ack: Ack) -> None:
        """Called when new data is acknowledged in congestion avoidance.

        That is outside slow start and recovery, without ECN-Echo, and while cwnd limits the sender.
        `ack.acked_bytes` counts only bytes that may grow the window.
        """
        raise NotImplementedError

    def on_loss(self, loss: Loss) -> None:
        """Called when a loss is detected; once per recovery. The defaults of `on_timeout` and `on_ecn` call
        it too.

        If it sets `cwnd` alone, `ssthresh` becomes the same, so that congestion avoidance follows (RFC 5681
        §3.2).
        """
        raise NotImplementedError

    def on_timeout(self, loss: Loss) -> None:
        """Called when the retransmission timer expires for the first time on a segment.

        If `ssthresh` is not set, it becomes half of FlightSize, at least two segments. On further timeouts
        cwnd becomes one segment and ssthresh is kept, without a call (RFC 5681 §3.1).
        """
        self.on_loss(loss)
        self.cwnd = self.mss

    def on_ecn(self, loss: Loss) -> None:
        """Called on ECN-Echo, once per window (RFC 3168 §6.1.2)."""
        self.on_loss(loss)

    def on_slow_start(self, ack: Ack) -> None:
        """Like `on_ack`, while cwnd is below ssthresh.

        Without this hook the stack's slow start applies: classic, HyStart or HyStart++, according to the
        scheme's key `slow_start`.
        """
        self.cwnd = min(self.cwnd + ack.acked_bytes, self.ssthresh)

    def on_every_ack(self, ack: Ack) -> None:
        """Called on any ACK, including duplicates and those in recovery, before the other hooks."""

    def on_recovery_exit(self) -> None:
        """Called when loss recovery is over, unless a timeout ended it."""

    def on_spurious(self) -> None:
        """Called when the last loss or timeout was spurious: cwnd and ssthresh have been restored (RFC 4015
        §3.2)."""

    def on_restart(self) -> None:
        """Called before data is sent after a pause longer than the RTO (RFC 5681 §4.1).

        cwnd has been reduced to the initial window, if it was larger.
        """

    def on_sent(self, sent_bytes: int, in_flight_bytes: int) -> None:
        """Called after data was sent, which `in_flight_bytes` includes."""

    @classmethod
    def lacking(cls) -> list[str]:
        """Returns the required hooks that the class lacks."""
        return [hook for hook in _NEEDED if not _has(cls, hook)]

    @classmethod
    def _description(cls) -> Description:
        if cls.lacking():
            lacking = " and ".join(_with_hint(cls, hook) for hook in cls.lacking())
            raise TypeError(f"{cls.__name__} lacks {lacking} ({_place(cls)})")
        hooks = tuple(hook for hook in _HOOKS if hook in _DEFAULTED or _has(cls, hook))
        return Description(cls.name, cls._parameters, hooks, _NEEDED, cls.is_paced, cls.governs_recovery)


_NEEDED = ("on_ack", "on_loss")
_DEFAULTED = ("on_timeout", "on_ecn")
_HOOKS = tuple(name for name in vars(CongestionControl) if name.startswith("on_"))


def _has(cls: type[CongestionControl], hook: str) -> bool:
    return getattr(cls, hook) is not getattr(CongestionControl, hook)


def _with_hint(cls: type[CongestionControl], hook: str) -> str:
    """Returns the hook's name, and what its method is called instead, by the looks of it."""
    methods = [name for name, value in vars(cls).items() if callable(value) and not name.startswith("__")]
    near = get_close_matches(hook, methods, n=1)
    return f"{hook} (is {near[0]} meant to be it?)" if near else hook


def _refuse_misspelt_hooks(cls: type[CongestionControl]) -> None:
    own = dict.fromkeys(name for base in cls.__mro__ for name in vars(base))
    for name in own:
        if name.startswith("on_") and name not in _HOOKS:
            near = get_close_matches(name, _HOOKS, n=1)
            hint = f"did you mean {near[0]}? " if near else ""
            raise TypeError(f"{cls.__name__}.{name}: no such hook; {hint}Hooks: {', '.join(_HOOKS)}")


def _declared(name: str, value: object) -> Parameter | None:
    if name.startswith("_") or name != name.lower() or isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        value = _Declared(value, -math.inf, math.inf, "")
    if not isinstance(value, _Declared):
        return None
    if not value.minimum <= value.default <= value.maximum:
        raise ValueError(f"{name} = {value.default} is not between {value.minimum} and {value.maximum}")
    is_whole = isinstance(value.default, int)
    return Parameter(name, value.default, value.minimum, value.maximum, value.doc, is_whole)


def _place(cls: type) -> str:
    try:
        return f"{inspect.getsourcefile(cls)}:{inspect.getsourcelines(cls)[1]}"
    except (OSError, TypeError):
        return cls.__module__
