//! What comes without a packet to stations that are ahead.

use super::connected::{Connected, Text, plain_bytes};
use super::{Arrival, Entry, What};
use crate::ends::Ends;
use crate::flow::{Flow, SENDER, Transfer};
use crate::stage::Stage;
use crate::station::{Plain, Station};
use crate::topology::Side;
use airtcp_proto::middlebox::Origin;
use airtcp_proto::tcp::Reason;
use airtcp_wire::{Ecn, Time};

/// The node with these stations.
pub struct StationNode<'a> {
    pub stage: &'a mut Stage,
    pub ends: &'a mut Ends,
    pub stations: &'a mut [Station],
    pub node: u16,
}

impl StationNode<'_> {
    /// New data comes. Returns the station that it has come to, if that has put something out.
    pub fn pass_text(&mut self, entry: &Entry) -> Option<usize> {
        let &Entry { at, what: What::Plain(endpoint), ref header, offset } = entry else { return None };
        let transfer = self.ends.transfers.get_mut(endpoint >> 1);
        let flow = &mut self.ends.flows[transfer.flow as usize];
        let plain = Plain {
            header,
            bytes: plain_bytes(header),
            direction: flow.direction,
            ecn: transfer.ends[SENDER].new_data_ecn(),
            origin: Origin { order: 0, reason: Reason::New, offset },
        };
        let Seen { goes_on, put_out } = show(self.stations, flow, transfer, endpoint, at, &plain);
        if goes_on {
            let side = Side::out_of(self.node, flow.direction);
            let text = Text { header, offset, follows: false };
            let mut connected = Connected { stage: self.stage, transfer, flow, endpoint };
            if connected.send_to_receiver(at, side, &text) {
                connected.count_received(1, plain.bytes);
            }
        } else {
            self.ends.look_whether_over(self.stage, endpoint >> 1);
        }
        put_out
    }

    /// The same of a plain ACK.
    pub fn pass_ack(&mut self, arrival: &Arrival) -> Option<usize> {
        let (at, header) = (arrival.at, arrival.header());
        let What::Plain(endpoint) = arrival.what() else { return None };
        let transfer = self.ends.transfers.get_mut(endpoint >> 1);
        let flow = &mut self.ends.flows[transfer.flow as usize];
        let plain = Plain {
            header: &header,
            bytes: plain_bytes(&header),
            direction: flow.direction.opposite(),
            ecn: Ecn::NotEct,
            origin: Origin { order: 0, reason: Reason::Ack, offset: 0 },
        };
        let Seen { goes_on, put_out } = show(self.stations, flow, transfer, endpoint, at, &plain);
        if goes_on {
            let side = Side::out_of(self.node, plain.direction);
            Connected { stage: self.stage, transfer, flow, endpoint }.forward_ack(at, side, header);
        } else {
            transfer.under_way -= 1;
            self.ends.look_whether_over(self.stage, endpoint >> 1);
        }
        put_out
    }
}

/// What has become of it.
struct Seen {
    goes_on: bool,
    /// The station that has put something out.
    put_out: Option<usize>,
}

/// The station that serves the flow, if there is one, sees what belongs to it.
#[inline(always)]
fn show(
    stations: &mut [Station],
    flow: &Flow,
    transfer: &Transfer,
    endpoint: u32,
    now: Time,
    plain: &Plain<'_>,
) -> Seen {
    let Some(number) = flow.station_ahead else {
        return Seen { goes_on: true, put_out: None };
    };
    let index = usize::from(number);
    let goes_on = stations[index].handle_plain(now, transfer.number, endpoint >> 1, plain);
    Seen { goes_on, put_out: stations[index].has_put_out().then_some(index) }
}
