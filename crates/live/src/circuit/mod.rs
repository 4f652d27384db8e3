//! TCP circuits between two gateways (S.-Y. Wang, H. T. Kung, *Use of TCP decoupling*; § are its sections): the machines of
//! [`airtcp_proto::circuit`] with sessions of `docs/circuit-wire.md` around them.
//!
//! A [`SendingNode`] opens a session, and forwards data packets as its control TCPs allow; a [`ReceivingNode`]
//! answers and never handles data. Both follow the contract of [`airtcp_proto::machine`]. A gateway is a node with
//! its socket and, at the sender, the device that data comes from and goes back to.
//!
//! A circuit that is down stops nothing: while nobody answers, data packets pass as if there were no gateway. Nor does one that
//! stands still: a watchdog in the sending node begins a new session.
//!
//! Where data is repaired, the sending node remembers what has left and codes repairs of it ([`airtcp_proto::fec`]). The receiving
//! gateway shows its node the data that it counts, and hands on what that one rebuilds, through a TUN device of its own: to the kernel
//! these packets come in by another interface than the others, and pass the same rules.
//!
//! A `SendingNode` and a `ReceivingNode` are the circuit's machines with a session around each;
//! `wire/src/circuit` authenticates their packets with keyed tags (`docs/circuit-wire.md`). `SendingGateway`
//! reads a TUN device only while the tunnel queue has room (`Intake` cuts long packets to a millisecond's
//! worth), and writes each packet back to it, so that the kernel forwards it as in the paper:
//! `namespace/detour.rs` routes packets for the prefixes into the device, but not those that come out of it.
//! Data needs no socket; the receiving gateway answers header packets, and a packet socket on its link counts
//! the data before each of them (`counting.rs`).

mod counters;
mod counting;
mod gateway;
mod intake;
mod receiving;
mod sending;
mod serve;
mod service;
mod session;
mod socket;
mod thread;
mod window;

pub use counters::{ReceivingCounters, Sending, SendingCounters};
pub use counting::{Counted, DataCounter};
pub use gateway::{Counts, HandOn, ReceivingGateway, SendingGateway, Shed};
pub use receiving::{ReceivingNode, Reply};
pub use sending::{Output, SendingNode};
pub use serve::{Gateway, serve};
pub use service::{NAME, ReceivingService, SendingService, try_detour};
pub(crate) use service::{any_port, bind, chance, open_device, open_outlet, payload_within, way_to};
pub use socket::{Datagrams, Socket};
pub use thread::GatewayThread;
pub use window::ToldWindow;

use airtcp_proto::Chance;
use airtcp_wire::Dur;
use airtcp_wire::circuit::Nonce;

/// How often a sender repeats HELLO or PING until it is answered.
const REPEAT: Dur = Dur::from_secs(1);

/// A sender sends PING after this silence.
const IDLE: Dur = Dur::from_secs(5);

/// How long a sender waits for an answer before it takes the receiver for dead.
const PATIENCE: Dur = Dur::from_secs(3);

/// How long data may wait while nothing is under way, before a sender begins anew. No sound machine lets it wait.
const STANDSTILL: Dur = Dur::from_secs(3);

fn nonce(chance: &mut Chance) -> Nonce {
    let mut nonce = Nonce::default();
    let (first, second) = nonce.split_at_mut(8);
    first.copy_from_slice(&chance.u64().to_be_bytes());
    second.copy_from_slice(&chance.u64().to_be_bytes());
    nonce
}

#[cfg(test)]
mod tests;
