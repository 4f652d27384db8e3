//! TCP circuits: TCP's congestion control for a stream of data packets that no TCP carries.
//!
//! Source: S.-Y. Wang, H. T. Kung, *Use of TCP decoupling in improving TCP performance over wireless networks*; § in
//! this folder are its sections.
//!
//! Data packets wait in the [`Sender`]'s tunnel queue. Control TCPs, real [`Connection`](crate::tcp::Connection)s over a virtual byte
//! stream, probe the path with header packets, and VMSS bytes of data leave for each of these. The data packets themselves stay with the
//! driver, which knows them by [`Item`](crate::queue::Item). The circuit cannot change their content or length, and forgets them when
//! they have left. At the far end, the [`Receiver`] acknowledges header packets. It does not see data, but the driver reports what
//! passes, and the ACKs say what is missing. They do so in their window field, which control packets do not need.
//!
//! With `fec = auto`, repairs follow the last data packets of a burst ([`crate::fec`]). They leave the tunnel queue as data does, when it
//! has no data, so that they take credit and have header packets. They are counted as data, at both ends; what they recover is not, and
//! so congestion control sees every loss. What is coded, and how, is the driver's: it has the payloads.

pub(crate) mod compression;
mod config;
mod control;
mod data_tcp;
mod fec;
mod gmb;
mod losses;
mod outlet;
mod receiver;
mod sender;
#[cfg_attr(not(feature = "shortcuts"), path = "no_shortcut.rs")]
mod shortcut;
mod tunnel_queue;

pub use compression::saving as saved_by_compression;
pub use config::{Compression, Config, ErrorControl, Fec, MAX_FEC};
pub use outlet::{Outlet, Pair};
pub use receiver::{Receiver, Reply};
pub use sender::{Output, Sender};
pub use shortcut::transmit;

use airtcp_wire::circuit::{FINGERPRINT_LEN, MAX_SOURCES, REPAIR_LEN};
use airtcp_wire::ip::{IPV4_HEADER_LEN, IPV6_HEADER_LEN};
use airtcp_wire::{Header, Segment, tcp};

/// The window that a control TCP assumes for a control packet whose window field carries a report.
const WINDOW: u16 = u16::MAX;

/// What a repair packet has beside names and its coded packet: IPv4 and UDP, what the datagram has, and the coded length.
const REPAIR_HEADERS: u32 = (IPV4_HEADER_LEN + 8 + REPAIR_LEN + 2) as u32;

/// What a repair packet has beside its coded packet at most, with IPv4 or IPv6. Where data is repaired, its packets leave so much of the
/// path's MTU, because a repair is not fragmented.
pub const REPAIR_ROOM: u32 =
    REPAIR_HEADERS + (IPV6_HEADER_LEN - IPV4_HEADER_LEN + FINGERPRINT_LEN * crate::fec::WINDOW) as u32;

const _: () = assert!(crate::fec::WINDOW == MAX_SOURCES, "a repair names all that it covers");

/// Length in bytes of an uncompressed control packet: only headers, since its payload is virtual.
fn control_packet_len(segment: &Segment) -> u32 {
    (IPV4_HEADER_LEN + tcp::header_len(segment)) as u32
}

/// As [`control_packet_len`], for a packet without SYN and with this many SACK blocks.
#[inline]
fn plain_packet_len(header: &Header, blocks: usize) -> u32 {
    (IPV4_HEADER_LEN + tcp::plain_header_len(header, blocks)) as u32
}
