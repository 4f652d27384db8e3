//! Names for combinations of keys of the stack.

/// A name for a few keys that belong together.
pub struct SchemeSpec {
    pub name: &'static str,
    /// One line for `airtcp schemes`.
    pub summary: &'static str,
    pub source: &'static str,
    pub changes: &'static [(&'static str, &'static str)],
    /// Short names that the source uses for keys of the stack, each with the key.
    pub aliases: &'static [(&'static str, &'static str)],
}

/// All combinations, in the order in which users see them.
pub const COMBINATIONS: &[SchemeSpec] = &[
    SchemeSpec {
        name: "tahoe",
        summary: "Slow start from one segment after every loss",
        source: "Jacobson 1988",
        changes: &[("recovery", "tahoe"), ("sack", "false")],
        aliases: &[],
    },
    SchemeSpec {
        name: "newreno",
        summary: "Partial ACKs keep recovery going; no SACK",
        source: "RFC 6582",
        changes: &[("recovery", "newreno"), ("sack", "false")],
        aliases: &[],
    },
    SchemeSpec {
        name: "sack",
        summary: "SACK-based recovery",
        source: "RFC 6675",
        changes: &[("recovery", "sack"), ("sack", "true")],
        aliases: &[],
    },
    SchemeSpec {
        name: "rack",
        summary: "RACK-TLP's time-based recovery",
        source: "RFC 8985",
        changes: &[("recovery", "rack-tlp"), ("sack", "true")],
        aliases: &[],
    },
    SchemeSpec {
        name: "eifel",
        summary: "Detects spurious retransmissions by timestamps and undoes them",
        source: "RFC 3522, RFC 4015",
        changes: &[("timestamps", "true"), ("eifel", "true")],
        aliases: &[],
    },
    SchemeSpec {
        name: "f-rto",
        summary: "Detects spurious timeouts by the ACKs that follow and undoes them",
        source: "RFC 5682, RFC 4015",
        changes: &[("f_rto", "true"), ("eifel", "false")],
        aliases: &[],
    },
    SchemeSpec {
        name: "rto-m",
        summary: "A retransmission timeout of SRTT + m·RTTVAR with m above 4",
        source: "paper 003 §II, which finds most of the gain at m = 10",
        changes: &[("rto.factor", "10")],
        aliases: &[("m", "rto.factor")],
    },
    SchemeSpec {
        name: "gbn",
        summary: "Go-back-N: a timeout resends all that is outstanding",
        source: "paper 003 §III",
        changes: &[("timeout_policy", "go-back-n")],
        aliases: &[],
    },
    SchemeSpec {
        name: "sr",
        summary: "Selective repeat: a timeout resends one segment",
        source: "paper 003 §III",
        changes: &[("timeout_policy", "selective-repeat")],
        aliases: &[],
    },
];

pub(super) fn find(name: &str) -> Option<&'static SchemeSpec> {
    COMBINATIONS.iter().find(|spec| spec.name == name)
}
