//! A connection with what it acts on: how its packets are delivered and answered.

use crate::flow::{Flow, RECEIVER, SENDER, Transfer, note_delivered};
use crate::packet::STATIONS_OWN;
use crate::parcel::Parcel;
use crate::stage::Stage;
use crate::timer::{Clock, Timer};
use airtcp_proto::tcp::Reply;
use airtcp_wire::{Header, SackBlocks, Time};

/// A connection with what it acts on.
pub struct Connected<'a> {
    pub stage: &'a mut Stage,
    pub transfer: &'a mut Transfer,
    pub flow: &'a mut Flow,
    /// The number of its sending end.
    pub endpoint: u32,
}

impl Connected<'_> {
    /// A copy for functions that are not inlined: `self` can then stay in registers.
    #[inline(always)]
    pub fn reborrow(&mut self) -> Connected<'_> {
        let Connected { stage, transfer, flow, endpoint } = self;
        Connected { stage, transfer, flow, endpoint: *endpoint }
    }

    /// The sender's new data, as it leaves.
    #[inline(always)]
    pub fn new_data(&self, header: &Header, offset: u64) -> Parcel {
        Parcel::new(*header, offset, self.transfer.ends[SENDER].new_data_ecn())
    }

    /// Lets the receiver take data if it expects them, and answers if an ACK is due. `follows` says whether it has just
    /// got the segment before them in the same burst. Returns whether it has taken them; if not, nothing has changed.
    #[inline(always)]
    pub fn take(&mut self, now: Time, data: &Parcel, follows: bool, clock: Clock) -> bool {
        let receiver = &mut self.transfer.ends[RECEIVER];
        let sack = &mut self.stage.network.sack;
        let Some(reply) = receiver.receive_text(now, &data.header, data.ecn, follows, sack) else {
            return false;
        };
        self.count_delivered(data);
        match reply {
            Reply::Now(ack) => self.answer(now, ack),
            Reply::By(deadline) => {
                self.stage.schedule.set_by(clock, Timer::Endpoint(self.endpoint ^ 1), deadline);
            }
        }
        true
    }

    /// Counts data that have reached the receiver, and are no longer under way.
    #[inline(always)]
    pub fn count_delivered(&mut self, data: &Parcel) {
        self.transfer.on_gone();
        self.flow.counts.on_delivered(data.bytes);
        if self.transfer.truth.is_undecided() && data.order != STATIONS_OWN {
            note_delivered(&mut self.transfer.truth, self.flow, data.range(), data.order);
        }
    }

    /// Sends an ACK from the receiver, with the SACK blocks that the network holds for it.
    #[inline(always)]
    pub fn answer(&mut self, now: Time, ack: Header) {
        self.transfer.on_under_way();
        if self.flow.runs_ahead && self.answer_ahead(now, ack) {
            return;
        }
        let id = self.keep_ack(ack, self.stage.network.sack);
        self.stage.network.send(self.flow, RECEIVER, id);
    }

    /// Puts new data into the slab.
    pub fn keep_data(&mut self, header: &Header, offset: u64) -> u32 {
        let packets = &mut self.stage.network.packets;
        let id = packets.insert_new_data(header, self.transfer.ends[SENDER].new_data_ecn(), offset);
        packets.get_mut(id).address(self.endpoint, self.flow, self.transfer.numbers());
        id
    }

    /// Puts an ACK into the slab.
    // Not inlined: where most ACKs stay out of the slab, this would be in the way.
    #[inline(never)]
    pub fn keep_ack(&mut self, ack: Header, sack: SackBlocks) -> u32 {
        let packets = &mut self.stage.network.packets;
        let id = packets.insert_ack(ack, &sack);
        packets.get_mut(id).address(self.endpoint ^ 1, self.flow, self.transfer.numbers());
        id
    }
}
