//! Lets observers see what our own machine does.

use airtcp_proto::tcp::{SenderView, Stats};
use airtcp_wire::packet::Endpoints;

/// Called for each connection of our own machine after every turn. `endpoints` are from us to the peer.
pub trait Watch: Send {
    fn look(&mut self, endpoints: &Endpoints, view: &SenderView, stats: &Stats);
}
