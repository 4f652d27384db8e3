//! What connections, circuits and stations act on.

use crate::network::Network;
use crate::timer::{Schedule, Timer};
use airtcp_proto::tcp::Connection;
use airtcp_wire::Time;

/// The network, with the current time, and all timers.
pub struct Stage {
    pub network: Network,
    pub schedule: Schedule,
    /// When the run ends.
    pub end: Time,
}

impl Stage {
    /// Schedules the sending end with that number for the earliest of its timers.
    #[inline(always)]
    pub fn schedule_sender(&mut self, endpoint: u32, sender: &Connection) {
        let timer = Timer::Endpoint(endpoint);
        self.schedule.set_lazily(timer, sender.earliest_timeout(), || sender.poll_timeout());
    }
}
