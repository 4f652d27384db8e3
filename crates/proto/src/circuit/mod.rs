//! TCP circuits: TCP's congestion control for a stream of data packets that no TCP carries.
//!
//! Source: S.-Y. Wang, H. T. Kung, *Use of TCP decoupling in improving TCP performance over wireless networks*; § in
//! this folder are its sections.
//!
//! Data packets wait in the [`Sender`]'s tunnel queue. Control TCPs, real [`Connection`](crate::tcp::Connection)s over a
//! virtual byte stream, probe the path with header packets, and for each of them VMSS bytes of data leave. The data
//! packets themselves stay with the driver, which knows them by [`Item`](crate::queue::Item): the circuit cannot touch
//! their content or length, and keeps none after it has left. At the far end the [`Receiver`] acknowledges header
//! packets and sees no data, but is told that it passes: what is missing goes back with the ACKs, in a field that control
//! packets have no use for, their window.

mod compression;
mod config;
mod control;
mod data_tcp;
mod fec;
mod gmb;
mod losses;
mod receiver;
mod sender;
mod tunnel_queue;

pub use config::{Compression, Config, ErrorControl, MAX_FEC};
pub use receiver::{Receiver, Reply};
pub use sender::{Output, Pair, Sender};

use airtcp_wire::ip::IPV4_HEADER_LEN;
use airtcp_wire::{Header, Segment, tcp};

/// What a control TCP takes for the window of a control packet that carries a report there.
const WINDOW: u16 = u16::MAX;

/// Length in bytes of an uncompressed control packet: headers alone, whatever virtual payload they stand for.
fn control_packet_len(segment: &Segment) -> u32 {
    (IPV4_HEADER_LEN + tcp::header_len(segment)) as u32
}

/// The same of one without SYN that has so many SACK blocks.
#[inline]
fn plain_packet_len(header: &Header, blocks: usize) -> u32 {
    (IPV4_HEADER_LEN + tcp::plain_header_len(header, blocks)) as u32
}
