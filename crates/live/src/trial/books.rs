//! Connections that are open, and accounts of those that are over, shared by the applications and the measuring
//! thread.

use super::circuit_book::{CircuitAccount, CircuitBook};
use super::meter::MeteredPacket;
use super::senders::Senders;
use super::tcp_info::{Expiries, TcpInfo};
use airtcp_wire::{Dur, Time};
use std::collections::BTreeMap;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A connection, as its sender's side knows it.
pub struct Sending {
    /// Open as long as anybody holds this.
    pub socket: OwnedFd,
    pub flow: usize,
    /// Whether the flow has no other connection.
    pub is_lasting: bool,
    /// Application bytes that the receiver has read.
    pub received: AtomicU64,
    /// The sender's port, which identifies the connection.
    pub port: u16,
    /// Of the socket's timer, as far as [`Sending::info`] has seen them.
    pub expiries: Mutex<Expiries>,
    /// Present if the path sees our own TCP rather than this socket's.
    pub own: Option<Senders>,
}

impl Sending {
    /// To be called for each packet that is sent again: where the kernel counts no timeouts, these calls do.
    ///
    /// # Errors
    /// The kernel's.
    pub fn info(&self) -> io::Result<TcpInfo> {
        match &self.own {
            Some(senders) => senders.info(self.port).ok_or(io::ErrorKind::NotConnected.into()),
            None => {
                let mut expiries = self.expiries.lock().unwrap_or_else(PoisonError::into_inner);
                TcpInfo::of(&self.socket, &mut expiries)
            }
        }
    }
}

/// One flow's account.
#[derive(Clone, Debug, Default)]
pub struct Account {
    /// Application bytes received.
    pub received: u64,
    /// Expiries of the senders' retransmission timers.
    pub timeouts: u64,
    pub transfers_started: u64,
    pub resets: u64,
    /// How long each completed transfer took.
    pub completions: Vec<Dur>,
    /// When the flow's lasting connection was complete.
    pub completed: Option<Time>,
}

/// Shared by the threads of a run.
#[derive(Default)]
pub struct Books {
    ledger: Mutex<Ledger>,
    /// By the circuit's number.
    circuits: Vec<CircuitBook>,
}

/// What the lock protects. It is held only for look-ups.
#[derive(Default)]
pub struct Ledger {
    /// By the sender's port, which no other connection of the run has at the same time.
    open: BTreeMap<u16, Arc<Sending>>,
    /// Accounts of ended connections, by flow.
    accounts: Vec<Account>,
}

impl Books {
    pub fn new(flows: usize, circuits: usize) -> Books {
        let ledger = Ledger { open: BTreeMap::new(), accounts: vec![Account::default(); flows] };
        let circuits = (0..circuits).map(|_| CircuitBook::default()).collect();
        Books { ledger: Mutex::new(ledger), circuits }
    }

    /// The book of a circuit, by its number.
    pub fn circuit(&self, number: usize) -> CircuitBook {
        self.circuits[number].clone()
    }

    /// Packets that found no room in a circuit's tunnel queue since the last call.
    pub fn take_shed(&self) -> Vec<MeteredPacket> {
        self.circuits.iter().flat_map(CircuitBook::take_shed).collect()
    }

    /// Each circuit's account, by number.
    pub fn circuits(&self) -> Vec<CircuitAccount> {
        self.circuits.iter().map(CircuitBook::read).collect()
    }

    pub fn open(&self, port: u16, sending: Arc<Sending>) {
        let mut ledger = self.ledger();
        ledger.accounts[sending.flow].transfers_started += 1;
        ledger.open.insert(port, sending);
    }

    /// The connection is over: adds it to the flow's account.
    pub fn retire(&self, port: u16) {
        let mut ledger = self.ledger();
        let Some(sending) = ledger.open.remove(&port) else { return };
        ledger.accounts[sending.flow].add(&sending);
    }

    pub fn completed(&self, flow: usize, took: Dur, ended: Option<Time>) {
        let account = &mut self.ledger().accounts[flow];
        account.completions.push(took);
        account.completed = ended.or(account.completed);
    }

    pub fn reset(&self, flow: usize) {
        self.ledger().accounts[flow].resets += 1;
    }

    pub fn find(&self, port: u16) -> Option<Arc<Sending>> {
        self.ledger().open.get(&port).cloned()
    }

    /// Open connections with their senders' ports.
    pub fn all(&self) -> Vec<(u16, Arc<Sending>)> {
        self.ledger().open.iter().map(|(&port, sending)| (port, sending.clone())).collect()
    }

    /// Each flow's account, including open connections.
    pub fn accounts(&self) -> Vec<Account> {
        let ledger = self.ledger();
        let mut accounts = ledger.accounts.clone();
        ledger.open.values().for_each(|sending| accounts[sending.flow].add(sending));
        accounts
    }

    /// Application bytes that each flow's receivers have read.
    pub fn received(&self) -> Vec<u64> {
        let ledger = self.ledger();
        let mut received: Vec<_> = ledger.accounts.iter().map(|account| account.received).collect();
        for sending in ledger.open.values() {
            received[sending.flow] += sending.received.load(Ordering::Relaxed);
        }
        received
    }

    fn ledger(&self) -> MutexGuard<'_, Ledger> {
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Account {
    fn add(&mut self, sending: &Sending) {
        self.received += sending.received.load(Ordering::Relaxed);
        self.timeouts += sending.info().map_or(0, |info| u64::from(info.timeouts));
    }

    /// What was added after `before`.
    #[must_use]
    pub fn since(&self, before: &Account) -> Account {
        Account {
            received: self.received - before.received,
            timeouts: self.timeouts.saturating_sub(before.timeouts),
            transfers_started: self.transfers_started - before.transfers_started,
            resets: self.resets - before.resets,
            completions: self.completions[before.completions.len()..].to_vec(),
            completed: self.completed,
        }
    }
}
