//! What a circuit's sending gateway reports to the meter.

use super::meter::MeteredPacket;
use crate::circuit::Counts;
use airtcp_proto::tcp::Connection;
use airtcp_wire::{Dur, Time};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Shared by the gateway's thread and the one that measures.
#[derive(Clone, Default)]
pub struct CircuitBook {
    account: Arc<Mutex<CircuitAccount>>,
    /// Packets that found no room, and that the meter has not seen.
    shed: Arc<Mutex<Vec<MeteredPacket>>>,
}

/// Totals since the gateway began.
#[derive(Clone, Debug, Default)]
pub struct CircuitAccount {
    pub forwarded_packets: u64,
    pub forwarded_bytes: u64,
    /// Data packets that found no room in the tunnel queue; by flow.
    pub shed: BTreeMap<usize, u64>,
    /// Timeouts of the control TCPs.
    pub timeouts: u64,
    pub cwnd_reductions: u64,
    /// Sum of the control TCPs' windows in bytes of data, integrated over time in nanoseconds.
    window_time: u128,
    window: u64,
    updated: Time,
    /// Time over which it was measured.
    time: Dur,
}

impl CircuitBook {
    pub fn record<'a>(&self, now: Time, counts: &Counts, controls: impl Iterator<Item = &'a Connection>) {
        let account = &mut *self.account();
        let elapsed = now.since(account.updated);
        account.window_time += u128::from(account.window) * u128::from(elapsed.0);
        account.time += elapsed;
        (account.updated, account.window, account.timeouts, account.cwnd_reductions) = (now, 0, 0, 0);
        for control in controls {
            let stats = control.stats();
            account.window += control.sender_view().cwnd;
            account.timeouts += stats.timeouts;
            account.cwnd_reductions += stats.cwnd_reductions;
        }
        (account.forwarded_packets, account.forwarded_bytes) = (counts.data_packets, counts.data_bytes);
    }

    /// A data packet of a flow found no room.
    pub fn shed(&self, packet: MeteredPacket) {
        *self.account().shed.entry(packet.flow()).or_default() += 1;
        lock(&self.shed).push(packet);
    }

    /// The packets that found no room since the last call.
    pub fn take_shed(&self) -> Vec<MeteredPacket> {
        std::mem::take(&mut *lock(&self.shed))
    }

    pub fn read(&self) -> CircuitAccount {
        self.account().clone()
    }

    fn account(&self) -> MutexGuard<'_, CircuitAccount> {
        lock(&self.account)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl CircuitAccount {
    /// What was added after `before`.
    #[must_use]
    pub fn since(&self, before: &CircuitAccount) -> CircuitAccount {
        let shed = self.shed.iter().map(|(&flow, &count)| (flow, count - before.shed_of(flow)));
        CircuitAccount {
            forwarded_packets: self.forwarded_packets - before.forwarded_packets,
            forwarded_bytes: self.forwarded_bytes - before.forwarded_bytes,
            shed: shed.collect(),
            // A new session counts from zero.
            timeouts: self.timeouts.saturating_sub(before.timeouts),
            cwnd_reductions: self.cwnd_reductions.saturating_sub(before.cwnd_reductions),
            window_time: self.window_time - before.window_time,
            time: self.time - before.time,
            ..*self
        }
    }

    pub fn shed_of(&self, flow: usize) -> u64 {
        self.shed.get(&flow).copied().unwrap_or(0)
    }

    /// Mean sum of the control TCPs' windows, in bytes of data.
    pub fn mean_window_bytes(&self) -> f64 {
        self.window_time as f64 / self.time.0.max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use airtcp_proto::tcp::{TcpConfig, profile};
    use airtcp_wire::Seq;

    #[test]
    fn what_went_before_does_not_count() {
        let book = CircuitBook::default();
        let control = Connection::connect(&TcpConfig { ..profile::linux() }, Seq(0), 1, Time::ZERO).unwrap();
        let tell = |seconds: u64, data_packets| {
            let counts = Counts { data_packets, ..Counts::default() };
            book.record(Time::ZERO + Dur::from_secs(seconds), &counts, std::iter::once(&control));
        };
        let packet = || MeteredPacket::Datagram { flow: 2, bytes: 100, payload_bytes: 72 };
        tell(1, 10);
        book.shed(packet());
        let before = book.read();
        book.shed(packet());
        tell(3, 25);
        assert_eq!(book.take_shed(), [packet(), packet()]);
        assert_eq!(book.take_shed(), []);
        let since = book.read().since(&before);
        assert_eq!((since.forwarded_packets, since.shed_of(2), since.shed_of(0)), (15, 1, 0));
        assert_eq!(since.mean_window_bytes(), control.sender_view().cwnd as f64);
    }
}
