//! What the application and whoever measures know of each other: the connections that there are, and what became of those
//! that are over.

use super::circuit_book::{CircuitAccount, CircuitBook};
use super::meter::MeteredPacket;
use super::senders::Senders;
use super::tcp_info::TcpInfo;
use airtcp_wire::{Dur, Time};
use std::collections::BTreeMap;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A connection as its sender's side has it.
pub struct Sending {
    /// Open as long as anybody holds this.
    pub socket: OwnedFd,
    pub flow: usize,
    /// The flow has no other.
    pub is_lasting: bool,
    /// Application bytes that the receiver has read.
    pub received: AtomicU64,
    /// The sender's, which names the connection.
    pub port: u16,
    /// Where it is not this socket's TCP that the path sees.
    pub own: Option<Senders>,
}

impl Sending {
    /// # Errors
    /// The kernel's.
    pub fn info(&self) -> io::Result<TcpInfo> {
        match &self.own {
            Some(senders) => senders.info(self.port).ok_or(io::ErrorKind::NotConnected.into()),
            None => TcpInfo::of(&self.socket),
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
    /// When the flow's lasting connection was done.
    pub completed: Option<Time>,
}

/// Shared by the threads of a run.
#[derive(Default)]
pub struct Books {
    ledger: Mutex<Ledger>,
    /// By number.
    circuits: Vec<CircuitBook>,
}

/// What is behind the lock, held for as long as it takes to look something up.
#[derive(Default)]
pub struct Ledger {
    /// By the port of the sender, which no other connection of the run has at the same time.
    open: BTreeMap<u16, Arc<Sending>>,
    /// Of ended connections; by flow.
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

    /// What each circuit has come to, by number.
    pub fn circuits(&self) -> Vec<CircuitAccount> {
        self.circuits.iter().map(CircuitBook::read).collect()
    }

    pub fn open(&self, port: u16, sending: Arc<Sending>) {
        let mut ledger = self.ledger();
        ledger.accounts[sending.flow].transfers_started += 1;
        ledger.open.insert(port, sending);
    }

    /// The connection is over: what it came to goes into the flow's account.
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

    /// The connections that there are, with their senders' ports.
    pub fn all(&self) -> Vec<(u16, Arc<Sending>)> {
        self.ledger().open.iter().map(|(&port, sending)| (port, sending.clone())).collect()
    }

    /// Each flow's account, connections under way included.
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
