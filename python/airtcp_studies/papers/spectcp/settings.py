"""What S4 varies: how losses are repaired, and what else the paper leaves open."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from airtcp_studies.papers.spectcp.red import HEADER_BYTES, Thresholds


@dataclass(frozen=True)
class Setting:
    """How both TCPs compared find and repair losses, and what else the paper leaves open."""

    name: str
    keys: str = ""
    spec_keys: str = ""
    """Keys of SpecTCP alone."""
    window: int = 30
    """Receiver's window, in segments."""
    sets: Mapping[str, object] = field(default_factory=dict, hash=False)
    counts_repeats: bool = True
    """Whether packets that arrive again count as goodput."""

    def scheme(self, term: str, packet: int) -> str:
        window = f"receive_window={self.window * (packet - HEADER_BYTES)}B"
        own = self.spec_keys if term == SPEC else ""
        return f"{term}:packet_size={packet}:{window}:initial_ssthresh=30{self.keys}{own}"


ECN, SPEC = "reno:ecn=true", "spectcp"
NAMES = {ECN: "ECN TCP", SPEC: "SpecTCP"}
NO_BACKOFF = ":rto.backoff=false"
RACK_KEYS = ":recovery=rack-tlp:sack=true"
FEW_MARKS = {"link.satellite.queue": Thresholds(15, 45, 0.1).queue()}

NS2 = Setting("Reno as in ns-2")
TIMER = Setting("SpecTCP without back-off", spec_keys=NO_BACKOFF)
TRIED = {
    NS2: (
        replace(NS2, name="repeated packets not counted", counts_repeats=False),
        TIMER,
        Setting("no timer backs off", NO_BACKOFF),
        Setting("NewReno", ":recovery=newreno"),
        Setting("SACK", ":recovery=sack:sack=true"),
        Setting("RACK-TLP", RACK_KEYS),
        Setting("RACK-TLP, receiver's window of 60", RACK_KEYS, window=60),
        Setting("mechanism (ii): cwnd grows while corruption is repaired", spec_keys=":repair_growth=1"),
        Setting("RED of 15/45, which hardly marks", sets=FEW_MARKS),
        Setting("RED of 5/8", sets={"link.satellite.queue": Thresholds(5, 8, 0.1).queue()}),
        Setting("errors on the way there only", sets={"link.satellite.reverse.loss.ber": 0}),
        Setting("initial ssthresh of 65 segments", ":initial_ssthresh=65"),
    ),
    TIMER: (
        replace(TIMER, name="RED of 15/45, which hardly marks", sets=FEW_MARKS),
        replace(TIMER, name="receiver's window of 60", window=60),
        replace(TIMER, name="repeated packets not counted", counts_repeats=False),
        replace(TIMER, name="errors on the way there only", sets={"link.satellite.reverse.loss.ber": 0}),
    ),
}
