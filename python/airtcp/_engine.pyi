"""The lab's native engine. Times in seconds, rates in bit/s, sizes in bytes."""

from typing import final

from airtcp.catalogue import KeyInfo, ProfileInfo, SchemeInfo
from airtcp.series import Columns

__all__ = [
    "CancelToken",
    "Cancelled",
    "Record",
    "Scenario",
    "ScenarioError",
    "profiles",
    "schema",
    "scheme_keys",
    "schemes",
    "version",
]

class ScenarioError(ValueError):
    """A scenario, scheme or override is wrong: says where, what is allowed, what was probably meant."""

class Cancelled(Exception):
    """The run was stopped by its `CancelToken`."""

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
    """A path, its flows, and the schemes to compare on it: checked, with all defaults filled in."""

    @staticmethod
    def load(path: str, overrides: list[tuple[str, str]] = ...) -> Scenario:
        """Reads a file; files that it names are looked for beside it. Each override is a key and its value.

        Raises ScenarioError.
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

    def to_toml(self) -> str:
        """All of it as a scenario file, with every default written out."""

    def run(
        self,
        scheme: str,
        seed: int,
        *,
        series_interval_s: float | None = None,
        pcap: str | None = None,
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
        """A row for each loss, retransmission and timeout; empty without `series_interval_s`."""

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
