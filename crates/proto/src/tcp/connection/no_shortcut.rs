//! What stands in for `shortcut` in a build without it: nothing is expected, and no half rests.

use super::outlet::{Outcome, Outlet};
use super::{Connection, Reply, Transmit};
use crate::tcp::handshake::{Negotiated, Rules};
use crate::tcp::receiver::Receiver;
use crate::tcp::sender::Sender;
use crate::tcp::stats::Stats;
use airtcp_wire::{Ecn, Header, SackBlocks, Time};

#[derive(Clone, Copy)]
pub enum Prediction {
    Unknown,
}

impl Prediction {
    pub fn receives(self) -> bool {
        false
    }

    pub fn sends_new(self) -> bool {
        false
    }
}

impl Connection {
    pub fn receive_text(
        &mut self,
        _: Time,
        _: &Header,
        _: Ecn,
        _follows: bool,
        _: &mut SackBlocks,
    ) -> Option<Reply> {
        None
    }

    pub fn receive_ack(&mut self, _: Time, _: &Header, _: &SackBlocks) -> bool {
        false
    }

    pub(crate) fn handle_expected_text(&mut self, _: Time, _: &Header, _: Ecn) -> bool {
        false
    }

    pub(crate) fn handle_next_text(&mut self, _: Time, _: &Header) -> bool {
        false
    }

    pub fn poll_expected(&mut self, _: Time, _: &mut Transmit) -> Option<bool> {
        None
    }
}

pub fn transmit_new_data(_: &mut Time, _: &mut impl Outlet) -> Option<Outcome> {
    None
}

pub enum SenderAtRest {}

impl SenderAtRest {
    pub fn wake(&self, _: &Rules, _: &Negotiated) -> Sender {
        match *self {}
    }

    pub fn una(&self) -> u64 {
        match *self {}
    }

    pub fn stats(&self) -> Stats {
        match *self {}
    }

    pub fn count_ack(&self) -> u64 {
        match *self {}
    }
}

pub enum ReceiverAtRest {}

impl ReceiverAtRest {
    pub fn wake(&self, _: &Rules, _: &Negotiated) -> Receiver {
        match *self {}
    }

    pub fn acknowledge(&self, _: &mut Header) {
        match *self {}
    }
}
