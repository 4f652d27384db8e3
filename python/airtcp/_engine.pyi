"""The lab's native engine. Times in seconds, rates in bit/s, sizes in bytes."""

from collections.abc import Mapping
from os import PathLike
from typing import Self, final

from airtcp.catalogue import KeyInfo, ProfileInfo, SchemeInfo
from airtcp.fit.capture_columns import CaptureColumns
from airtcp.series import Columns

__all__ = [
    "CancelToken",
    "Cancelled",
    "CaptureError",
    "Record",
    "Scenario",
    "ScenarioError",
    "_restore_scenario",
    "decoupling_gain",
    "decoupling_gain_at",
    "goodput_bound",
    "maximum_allowable_throughput",
    "maximum_allowable_window",
    "packet_error_rate",
    "packet_error_rate_first_order",
    "profiles",
    "rate_in_bps",
    "read_capture",
    "red_maximum_average_queue",
    "schema",
    "scheme_keys",
    "schemes",
    "size_in_bytes",
    "time_in_seconds",
    "version",
]

class ScenarioError(ValueError):
    """A scenario, scheme or override is wrong: says where, what is allowed, what was probably meant."""

class Cancelled(Exception):
    """The run was stopped by its `CancelToken`."""

class CaptureError(ValueError):
    """A packet capture cannot be read, or no TCP transfer is in it: says why."""

@final
class CancelToken:
    """Stops runs from another thread."""

    def __new__(cls) -> CancelToken: ...
    def cancel(self) -> None:
        """Every run that holds this token ends soon, with `Cancelled`."""

    @property
    def cancelled(self) -> bool:
        """Has it been cancelled?"""

@final
class Scenario:
    """A path, its flows, and the schemes to compare on it: checked, with all defaults filled in.

    A scenario does not change: `vary` makes another one. Two are equal if they say the same, wherever that
    was written. It can be pickled, and then has the files that it names with it: each of them is read once.

    >>> from airtcp import Scenario
    >>> link = {"name": "wireless", "rate": "10Mbit/s", "delay": "25ms", "loss": {"ber": 1e-6}}
    >>> scenario = Scenario.build(name="mine", schemes=["reno", "bbr"], link=[link])
    >>> scenario
    <Scenario mine: link wireless; reno, bbr; 5 seeds of 60s>
    >>> scenario.vary({"wireless.loss.ber": 1e-5}, duration="20s").duration_s
    20.0
    """

    @staticmethod
    def build(**keys: object) -> Scenario:
        """A scenario of the file's keys as Python values: text, numbers, truth values, lists, dicts, paths.

        Files that it names are looked for in the current directory. `airtcp schema` tells all keys.

        Raises ScenarioError, which names the key that is wrong:

        >>> from airtcp import Scenario
        >>> Scenario.build(link=[{"rat": "10Mbit/s", "delay": "5ms"}])
        Traceback (most recent call last):
        airtcp._engine.ScenarioError: link[0].rat: unknown key; did you mean `rate`? allowed: name, ...
        """

    def vary(self, changes: Mapping[str, object] | None = None, /, **keys: object) -> Scenario:
        """The same scenario with other values under some keys; defaults that depend on them are found anew.

        A key is a path as for `--set`: `duration`, `wireless.loss.ber`, `flow.main.count`. A value is one of
        Python, as for `build`, or text as it stands in `--set`: `"1%"`, `"20s"`. Later changes win.

        Raises ScenarioError, which names the key.
        """

    @staticmethod
    def load(path: str | PathLike[str], overrides: list[tuple[str, str]] = ...) -> Scenario:
        """Reads a file; files that it names are looked for beside it. Each override is a key and its value.

        Raises ScenarioError and OSError.
        """

    @staticmethod
    def built_in(overrides: list[tuple[str, str]] = ...) -> Scenario:
        """The scenario that runs where none is named: a lossy wireless link.

        Raises ScenarioError.
        """

    @staticmethod
    def parse(text: str, overrides: list[tuple[str, str]] = ...) -> Scenario:
        """Reads TOML text; files that it names are looked for in the current directory.

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
        """All of it as a scenario file, with every default written out."""

    def round_trips(self, link: str, seed: int, *, packet_bytes: int, packets: int) -> list[float]:
        """Round trips in seconds of packets that all wait at the beginning, one after the other.

        Each is the time that the packet is with the transmitter, as in a run with that seed, and the link's
        delay there and back; loss and jitter have no part in it. Fewer where the link serves no more. Raises
        ScenarioError for a link that does not exist.
        """

    def run(
        self,
        scheme: str,
        seed: int,
        *,
        series_interval_s: float | None = None,
        pcap: str | PathLike[str] | None = None,
        pcap_link: str | None = None,
        cancel: CancelToken | None = None,
    ) -> Record:
        """Runs `scheme` once, without the GIL.

        The same scheme and seed give the same record on any machine. With `series_interval_s`, the record
        has time series with that spacing. With `pcap`, the packets of `pcap_link` (default: the first link)
        are written there as pcapng. Raises ScenarioError for a scheme or a link that does not exist,
        Cancelled, and OSError.
        """

@final
class Record:
    """What one run left behind."""

    def to_json(self) -> str:
        """`airtcp.records.Run` as JSON."""

    def flow_series(self) -> Columns:
        """A row for each measured flow and sample; empty without `series_interval_s`."""

    def queue_series(self) -> Columns:
        """A row for each link, direction and sample; empty without `series_interval_s`."""

    def event_series(self) -> Columns:
        """A row for each loss, retransmission and timeout, and for duplicate ACKs.

        Duplicate ACKs of one position within an interval are one row, with their `count`. Empty without
        `series_interval_s`, as what follows.
        """

    def delivery_series(self) -> Columns:
        """What each measured flow has received so far, in all its connections; a row for each sample."""

    def rtt_counts(self) -> Columns:
        """How often each measured flow measured which RTT, after the warm-up; RTTs within 0.4 %."""

def _restore_scenario(recipe: str) -> Scenario:
    """What a pickle calls."""

def schemes() -> list[SchemeInfo]:
    """Every scheme, in the order in which people should see them."""

def scheme_keys() -> list[KeyInfo]:
    """Every key of the stack that a scheme may change."""

def profiles() -> list[ProfileInfo]:
    """Every profile."""

def schema() -> str:
    """The JSON Schema of the scenario file."""

def version() -> str:
    """The engine's version."""

def packet_error_rate(ber: float, packet_bytes: float) -> float:
    """1 − (1 − BER)^(8·PS)."""

def packet_error_rate_first_order(ber: float, packet_bytes: float) -> float:
    """BER·PS·8 (paper 000, eq. 1); may exceed 1."""

def maximum_allowable_window(error_rate: float) -> float:
    """W in packets, of 3/8·W² + 3/4·W = 1/PER (paper 000, eq. 2)."""

def maximum_allowable_throughput(window: float, packet_bytes: float, rtt_s: float) -> float:
    """MAT = (3/4·W + 3/2)·PS/RTT in bytes a second (paper 000, eq. 3)."""

def goodput_bound(throughput: float, error_rate: float, packet_bytes: float, header_bytes: float) -> float:
    """What of `throughput` is useful at best, in its unit (paper 000, §8.3)."""

def decoupling_gain(mtu_bytes: float, header_packet_bytes: float) -> float:
    """√(MTU/HP_Sz) (paper 000, §7)."""

def decoupling_gain_at(ber: float, mtu_bytes: float, header_packet_bytes: float) -> float:
    """The same by eqs 1 to 3 of paper 000, without the simplification for rare errors."""

def red_maximum_average_queue(
    min_threshold: float,
    max_threshold: float,
    max_probability: float,
    weight: float,
    windows: list[float],
    probability: float | None = ...,
) -> float:
    """Q̄max in packets (paper 002, eq. 8) for flows of these windows in packets.

    Without a marking `probability`, it is RED's at Q̄max itself.
    """

def read_capture(path: str) -> CaptureColumns:
    """Reads a pcap or pcapng file, without the GIL, and tells of the TCP connection in it with the most data.

    Memory is bounded whatever the file's size. Raises CaptureError and OSError.
    """

def size_in_bytes(text: str) -> int:
    """ "52B", "1.5kB". Raises ValueError."""

def time_in_seconds(text: str) -> float:
    """ "540ms", "2s". Raises ValueError."""

def rate_in_bps(text: str) -> int:
    """ "5Mbit/s". Raises ValueError."""
