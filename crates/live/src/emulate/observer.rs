//! Observers of packets on the path.

use airtcp_proto::queue::DropCause;
use airtcp_wire::Time;

/// Called for every packet, with the time at which the event happens by the models, which the clock may have passed.
/// Packets begin as the devices' packets do.
pub trait Observer {
    /// A packet enters the path by `port`.
    fn entered(&mut self, _now: Time, _port: usize, _packet: &[u8]) {}

    /// A packet leaves the path by `port`, as it is sent, possibly marked.
    fn delivered(&mut self, _due: Time, _port: usize, _packet: &[u8]) {}

    /// A packet that entered by `port` is lost.
    fn lost(&mut self, _at: Time, _cause: DropCause, _port: usize, _packet: &[u8]) {}
}

impl Observer for () {}

impl<O: Observer> Observer for Option<O> {
    fn entered(&mut self, now: Time, port: usize, packet: &[u8]) {
        self.iter_mut().for_each(|observer| observer.entered(now, port, packet));
    }

    fn delivered(&mut self, due: Time, port: usize, packet: &[u8]) {
        self.iter_mut().for_each(|observer| observer.delivered(due, port, packet));
    }

    fn lost(&mut self, at: Time, cause: DropCause, port: usize, packet: &[u8]) {
        self.iter_mut().for_each(|observer| observer.lost(at, cause, port, packet));
    }
}
