//! What rate sampling keeps of each outstanding segment (draft-ietf-ccwg-bbr, "Delivery Rate Samples").

use airtcp_wire::Time;

/// `P.*` of the draft: the connection's state when a segment was last sent.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stamps {
    pub first_sent_at: Time,
    pub delivered: u64,
    pub delivered_at: Time,
    pub is_app_limited: bool,
    pub lost: u64,
    pub in_flight: u64,
}

impl Stamps {
    /// Stamps of a segment that left at `now`, before anything was delivered.
    pub fn new(now: Time) -> Stamps {
        Stamps { first_sent_at: now, delivered_at: now, ..Stamps::default() }
    }
}
