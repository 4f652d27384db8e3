"""What S4 varies: how losses are repaired, and what else the paper leaves open."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from airtcp_studies.frame import OpenParameter
from airtcp_studies.papers.spectcp.red import HEADER_BYTES, RECOMMENDED, WEIGHT, Thresholds


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

SATELLITE_PARAMETERS = (
    OpenParameter(
        "how losses are repaired",
        "by ns-2's Reno",
        "the paper says 'Fast Recovery', and simulates with ns-2 2.1b6",
    ),
    OpenParameter(
        "SpecTCP's timer",
        "two ways: it backs off, or not",
        "§II keeps cwnd when the timer expires, and says nothing of the timer itself. ns-2 doubles it; "
        "who takes a timeout for corruption has no reason to wait longer",
    ),
    OpenParameter(
        "goodput",
        "all packets that arrive without errors, their whole length",
        "§IV: what is 'received by the receiver per second, not including errors'; ns-2's packets have no "
        "headers",
    ),
    OpenParameter(
        "RED at the routers",
        f"{RECOMMENDED}, w {WEIGHT:g}, 50 packets",
        "§III's recommended ones; ns-2's default buffer",
    ),
    OpenParameter("delay of the LANs", "1 ms", "nothing beside 280 ms"),
    OpenParameter(
        "ECN",
        "RFC 3168's, with ECN-capable retransmissions",
        "RFC 2481, which the paper names, and ns-2 let retransmissions be marked; RFC 3168 does not",
    ),
    OpenParameter(
        "bit errors",
        "1 − (1 − BER)^bits, in both directions",
        "the link is full-duplex and 'has a BER'; the form is ns-2's",
    ),
    OpenParameter(
        "duration",
        "2 000 s, and 4 000 s from BER 2e-5",
        "the paper makes it a function of the BER, and gives no numbers",
    ),
)
