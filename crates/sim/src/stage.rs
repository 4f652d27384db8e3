//! What connections, circuits and stations act on.

use crate::network::Network;
use crate::timer::Schedule;

/// The network, with the time, and everybody's timers.
pub struct Stage {
    pub network: Network,
    pub schedule: Schedule,
}
