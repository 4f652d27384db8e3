"""The lab's native engine. Times in seconds, rates in bit/s, sizes in bytes."""

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Literal, Self, TypedDict, Unpack, final, overload, type_check_only

from typing_extensions import disjoint_base

from airtcp.control import CongestionControl
from airtcp.facts.catalogue import KeyInfo, ProfileInfo, SchemeInfo
from airtcp.facts.series import Columns
from airtcp.fit.capture_columns import CaptureColumns

__all__ = [
    "Ack",
    "CancelToken",
    "Cancelled",
    "CaptureError",
    "ControllerError",
    "Loss",
    "Record",
    "Scenario",
    "ScenarioError",
    "Window",
    "_restore_scenario",
    "profiles",
    "rate_in_bps",
    "read_capture",
    "schema",
    "scheme_keys",
    "schemes",
    "size_in_bytes",
    "time_in_seconds",
    "version",
]

_Quantity = str | float
_Table = Mapping[str, object]

@type_check_only
class _Keys(TypedDict, total=False):
    # Of a scenario file; `airtcp schema` has their words, and those of the tables in them.
    name: str
    description: str
    duration: _Quantity
    warmup: _Quantity
    seed: int
    seeds: int
    profile: str
    schemes: Sequence[str | type[CongestionControl]]
    base_station: str
    enter_recordings: str
    measurement: _Table
    node: Sequence[_Table]
    link: Sequence[_Table]
    flow: Sequence[_Table]
    circuit: Sequence[_Table]

class ScenarioError(ValueError):
    """A scenario, scheme or override is wrong; the message gives place, cause and fix."""

class ControllerError(Exception):
    """A hook of a Python congestion control failed; the message names it, with the traceback.

    `__cause__` is the hook's exception.
    """

class Cancelled(Exception):
    """The run was stopped by its `CancelToken`."""

class CaptureError(ValueError):
    """A packet capture cannot be read, or contains no TCP transfer; the message says why."""

@final
class CancelToken:
    """Stops runs from another thread."""

    def __new__(cls) -> CancelToken: ...
    def cancel(self) -> None:
        """Makes every run that holds this token end soon, with `Cancelled`.

        In a run whose Python congestion control is in a hook, KeyboardInterrupt is raised there. If the hook
        catches that, call this again.
        """

    @property
    def cancelled(self) -> bool:
        """Whether it has been cancelled."""

@final
class Scenario:
    """A path, its flows, and the schemes to compare on it: checked, with all defaults filled in.

    A scenario is immutable: `vary` makes another one. Two are equal if their contents are, wherever they were
    written. A pickle includes the files that the scenario names, each of which is read once.

    >>> from airtcp import Scenario
    >>> link = {"name": "wireless", "rate": "10Mbit/s", "delay": "25ms", "loss": {"ber": 1e-6}}
    >>> scenario = Scenario.build(name="mine", schemes=["reno", "bbr"], link=[link])
    >>> scenario
    <Scenario mine: link wireless; reno, bbr; 5 seeds of 60s>
    >>> scenario.vary({"wireless.loss.ber": 1e-5}, duration="20s").duration_s
    20.0
    """

    @overload
    @staticmethod
    def build(**keys: Unpack[_Keys]) -> Scenario: ...
    @overload
    @staticmethod
    def build(**keys: object) -> Scenario:
        """A scenario of the file's keys as Python values: strings, numbers, booleans, lists, dicts, paths.

        Paths are relative to the current directory. `airtcp schema` lists all keys.

        Raises ScenarioError, which names the wrong key:

        >>> from airtcp import Scenario
        >>> Scenario.build(link=[{"rat": "10Mbit/s", "delay": "5ms"}])
        Traceback (most recent call last):
        airtcp._engine.ScenarioError: link[0].rat: unknown key; did you mean `rate`? allowed: name, ...
        """

    def vary(self, changes: Mapping[str, object] | None = None, /, **keys: object) -> Scenario:
        """This scenario with some values changed; defaults that depend on them are recomputed.

        A key is a path as for `--set`: `duration`, `wireless.loss.ber`, `flow.main.count`. A value is a
        Python value, as for `build`, or text as for `--set`: `"1%"`, `"20s"`. Later changes win.

        Raises ScenarioError, which names the key.
        """

    def with_controllers(self, *controllers: type[CongestionControl]) -> Scenario:
        """This scenario, whose schemes may also name these controllers.

        Raises ScenarioError for a name that is taken.
        """

    @property
    def controllers(self) -> list[type[CongestionControl]]:
        """Python congestion controls that its schemes may name."""

    @staticmethod
    def load(
        path: str | PathLike[str],
        overrides: list[tuple[str, str]] = ...,
        *,
        controllers: Sequence[type[CongestionControl]] = ...,
    ) -> Scenario:
        """Reads a file; paths in it are relative to its folder. Each override is a key and its value.

        Its schemes may also name the `controllers`.

        Raises ScenarioError and OSError.
        """

    @staticmethod
    def built_in(
        overrides: list[tuple[str, str]] = ...,
        *,
        controllers: Sequence[type[CongestionControl]] = ...,
    ) -> Scenario:
        """The scenario that runs by default: a lossy wireless link.

        Raises ScenarioError.
        """

    @staticmethod
    def parse(
        text: str,
        overrides: list[tuple[str, str]] = ...,
        *,
        controllers: Sequence[type[CongestionControl]] = ...,
    ) -> Scenario:
        """Reads TOML text; paths in it are relative to the current directory.

        Raises ScenarioError.
        """

    @property
    def name(self) -> str: ...
    @property
    def description(self) -> str: ...
    @property
    def duration_s(self) -> float:
        """Simulated time of each run."""

    @property
    def seeds(self) -> int:
        """Runs per scheme."""

    @property
    def seed(self) -> int:
        """The first seed; the others follow it."""

    @property
    def schemes(self) -> list[str]: ...
    @property
    def profile(self) -> str: ...
    @property
    def links(self) -> list[str]:
        """Names, in path order."""

    def __copy__(self) -> Self: ...
    def __deepcopy__(self, memo: object, /) -> Self: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def to_toml(self) -> str:
        """The complete scenario as a file, with every default written out."""

    def recipe_json(self) -> str:
        """Its source and the files that it names, as JSON, for `airtcpd run` to read.

        Python congestion controls are not included.
        """

    def round_trips(self, link: str, seed: int, *, packet_bytes: int, packets: int) -> list[float]:
        """Round trips in seconds of packets that all wait at the beginning, sent one after the other.

        Each is the packet's time at the transmitter, as in a run with that seed, plus the link's delay in
        both directions, without loss and jitter. Fewer are returned if the link serves no more. Raises
        ScenarioError for a link that does not exist.
        """

    def run(
        self,
        scheme: str | type[CongestionControl],
        seed: int,
        *,
        series_interval_s: float | None = None,
        pcap: str | PathLike[str] | None = None,
        pcap_link: str | None = None,
        no_shortcuts: bool = False,
        cancel: CancelToken | None = None,
    ) -> Record:
        """Runs `scheme` once, without the GIL.

        The same scheme and seed give the same record on any machine. With `series_interval_s`, the record has
        time series with that spacing. With `pcap`, the packets of `pcap_link` (default: the first link) are
        written to that file as pcapng. With `no_shortcuts`, the engine handles every packet the general way:
        only `events` differs. Raises ScenarioError for a scheme or a link that does not exist, Cancelled,
        which names the hook that was running, and OSError.
        """

@final
class Ack:
    """The contents of an ACK. Sizes and stream positions are in bytes of payload."""

    @property
    def now_s(self) -> float:
        """Simulated time since the beginning of the run."""

    @property
    def acked_bytes(self) -> int:
        """Newly acknowledged, cumulatively.

        In `on_ack` and `on_slow_start`, only bytes that may grow the window: not those that SACK reported
        before, nor those beyond the stack's `byte_counting_limit` or cwnd.
        """

    @property
    def delivered_bytes(self) -> int:
        """Newly known to have arrived, cumulatively or by SACK."""

    @property
    def is_duplicate(self) -> bool:
        """Nothing new is acknowledged while data is outstanding (RFC 5681 §2)."""

    @property
    def rtt_s(self) -> float | None:
        """The RTT measured with this ACK. Never from an ambiguous one (Karn)."""

    @property
    def srtt_s(self) -> float | None:
        """SRTT after this ACK; None before the first sample."""

    @property
    def min_rtt_s(self) -> float | None:
        """The smallest RTT of the connection; None before the first sample."""

    @property
    def prior_in_flight_bytes(self) -> int:
        """In flight just before this ACK."""

    @property
    def in_flight_bytes(self) -> int:
        """In flight now."""

    @property
    def in_recovery(self) -> bool:
        """Whether it arrived in fast recovery, including the ACK that ends it."""

    @property
    def is_cwnd_limited(self) -> bool:
        """Whether cwnd limits the sender, rather than the application or the receiver."""

    @property
    def has_ecn_echo(self) -> bool: ...
    @property
    def una_bytes(self) -> int:
        """SND.UNA as a position in the stream."""

    @property
    def nxt_bytes(self) -> int:
        """SND.NXT as a position in the stream."""

    @property
    def total_delivered_bytes(self) -> int:
        """Delivered over the connection's life."""

    @property
    def prior_delivered_bytes(self) -> int:
        """`total_delivered_bytes` when the newest acknowledged packet was sent.

        A round trip ends when this reaches the value that `total_delivered_bytes` had at its beginning.
        """

    @property
    def delivery_rate_bps(self) -> float | None:
        """Over about one round trip (draft-ietf-ccwg-bbr, "Delivery rate sampling"); None if unknown."""

    @property
    def is_app_limited(self) -> bool:
        """Whether that sample was limited by the application."""

    @property
    def newly_lost_bytes(self) -> int:
        """Marked lost with this ACK, or by a timer since the previous one."""

@final
class Loss:
    """Why the sender should slow down. Sizes and stream positions are in bytes of payload."""

    @property
    def now_s(self) -> float:
        """Simulated time since the beginning of the run."""

    @property
    def cause(self) -> Literal["loss", "ecn", "timeout"]: ...
    @property
    def flight_size_bytes(self) -> int:
        """FlightSize: sent and not yet cumulatively acknowledged; at most cwnd when the loss happened."""

    @property
    def in_flight_bytes(self) -> int:
        """In flight according to the scoreboard."""

    @property
    def srtt_s(self) -> float | None:
        """None before the first sample."""

    @property
    def min_rtt_s(self) -> float | None:
        """None before the first sample."""

    @property
    def una_bytes(self) -> int:
        """SND.UNA as a position in the stream."""

    @property
    def nxt_bytes(self) -> int:
        """SND.NXT as a position in the stream."""

@disjoint_base
class Window:
    """What a congestion control in Python sets. Sizes are in bytes of payload.

    By itself it represents a connection that has just opened, with ten segments of `mss` bytes.
    """

    def __new__(cls, *, mss: int = 1460) -> Self: ...
    @property
    def cwnd(self) -> float:
        """The congestion window. Fractions are kept; less than one segment counts as one.

        Setting it to a value that is not finite and above 0 raises ValueError.
        """

    @cwnd.setter
    def cwnd(self, value: float) -> None: ...
    @property
    def ssthresh(self) -> float:
        """Infinite before the first loss, unless the stack has `initial_ssthresh`.

        A hook that answers a loss or ECN-Echo by setting cwnd alone sets ssthresh to the same
        (RFC 5681 §3.2), and one that answers a timeout, to half of FlightSize, at least two segments
        (RFC 5681 §3.1).

        Setting it to a value that is not a number of 0 or more raises ValueError.
        """

    @ssthresh.setter
    def ssthresh(self, value: float) -> None: ...
    @property
    def pacing_rate_bps(self) -> float | None:
        """Maximum rate of payload; None: only ACKs clock the sender.

        Setting it to a value that is neither None nor finite and above 0, or in a class without `is_paced =
        True`, raises ValueError.
        """

    @pacing_rate_bps.setter
    def pacing_rate_bps(self, value: float | None) -> None: ...
    @property
    def mss(self) -> int:
        """Payload of a full segment: SMSS."""

    @property
    def now_s(self) -> float:
        """Simulated time since the beginning of the run."""

@final
class Record:
    """The results of one run."""

    def to_json(self) -> str:
        """`airtcp.records.Run` as JSON."""

    @property
    def hooks_not_run(self) -> list[tuple[str, str]]:
        """Required hooks of Python congestion controls that have not run: names of control and hook."""

    def totals(self) -> dict[str, float | int | None]:
        """Sums over the measured flows, by the names of `airtcp.records.Flow`.

        RTTs are means weighted by their samples; None without any.
        """

    def flow_series(self) -> Columns:
        """One row per measured flow and sample; empty without `series_interval_s`."""

    def queue_series(self) -> Columns:
        """One row per link, direction and sample; empty without `series_interval_s`."""

    def event_series(self) -> Columns:
        """One row per loss, retransmission and timeout, and for duplicate ACKs.

        Duplicate ACKs of one position within an interval are one row, with their `count`. Empty without
        `series_interval_s`, like the series below.
        """

    def delivery_series(self) -> Columns:
        """Bytes that each measured flow has received so far, over all its connections; one row per sample."""

    def rtt_counts(self) -> Columns:
        """Histogram of each measured flow's RTTs after the warm-up, within 0.4 %."""

def _restore_scenario(recipe: str, controllers: list[type[CongestionControl]]) -> Scenario:
    """Called by a pickle."""

def schemes() -> list[SchemeInfo]:
    """Every scheme, in the order for display."""

def scheme_keys() -> list[KeyInfo]:
    """Every key of the stack that a scheme may change."""

def profiles() -> list[ProfileInfo]:
    """Every profile."""

def schema() -> str:
    """The JSON Schema of the scenario file."""

def version() -> str:
    """The engine's version."""

def read_capture(path: str) -> CaptureColumns:
    """Reads a pcap or pcapng file, without the GIL, and describes its TCP connection with the most data.

    Memory is bounded whatever the file's size. Raises CaptureError and OSError.
    """

def size_in_bytes(text: str) -> int:
    """ "52B", "1.5kB". Raises ValueError."""

def time_in_seconds(text: str) -> float:
    """ "540ms", "2s". Raises ValueError."""

def rate_in_bps(text: str) -> int:
    """ "5Mbit/s". Raises ValueError."""
