//! What stands in for `shortcut` in a build without it: nothing is ahead, and each event is handled when it comes.

use crate::ahead::Arrival;
use crate::circuit::Circuit;
use crate::connected::Connected;
use crate::ends::Ends;
use crate::flow::SENDER;
use crate::parcel::Parcel;
use crate::stage::Stage;
use crate::station::Station;
use crate::timer::Timer;
use airtcp_wire::{Header, Time};

pub fn foresee(_: &mut Stage, _: &mut Ends, _: &[Station], _: &[Circuit]) {}

pub fn pass_station(_: &mut Stage, _: &mut Ends, _: &mut [Station], _: Time, _: &Arrival) -> Option<usize> {
    None
}

impl Stage {
    pub fn is_next_ahead(&self, _: Time) -> bool {
        false
    }

    pub fn is_next_arrival(&self, _: Time) -> bool {
        false
    }

    pub fn moves_on(&mut self, _: Timer, _: Time) -> bool {
        false
    }

    pub fn try_ahead(&mut self, _: Time, _: impl FnOnce(&mut Stage) -> bool) -> bool {
        false
    }
}

impl Connected<'_> {
    pub fn send_ahead(&mut self, header: &Header, offset: u64, _follows: bool) -> bool {
        let id = self.keep_data(header, offset);
        self.stage.network.send(self.flow, SENDER, id);
        false
    }

    pub fn receive(&mut self, _: Time, _: &Parcel, _follows: bool) -> bool {
        false
    }

    pub fn answer_ahead(&mut self, _: Time, _: Header) -> bool {
        false
    }
}
