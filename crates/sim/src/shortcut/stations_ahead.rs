//! What passes the stations that are ahead by value.

use crate::ahead::Arrival;
use crate::connected::Connected;
use crate::ends::Ends;
use crate::flow::{RECEIVER, SENDER};
use crate::packet::flow_id;
use crate::parcel::Parcel;
use crate::stage::Stage;
use crate::station::Station;
use airtcp_proto::marks::{self, Mark};
use airtcp_proto::middlebox::{Origin, SeenPacket};
use airtcp_proto::tcp::Reason;
use airtcp_wire::{Ecn, Time};

/// Takes new data or a plain ACK of a connection past the stations that are ahead. Returns the station that has put something
/// out.
pub fn pass_station(
    stage: &mut Stage,
    ends: &mut Ends,
    stations: &mut [Station],
    at: Time,
    arrival: &Arrival,
) -> Option<usize> {
    let (endpoint, header, data_at) = match arrival {
        &Arrival::Data { endpoint, ref header, offset } => (endpoint, header, Some(offset)),
        &Arrival::Ack { endpoint, ref header } => (endpoint, header, None),
        Arrival::SackedAck { .. } | Arrival::HeaderAck { .. } | Arrival::Kept(_) => return None,
    };
    let transfer = ends.transfers.get_mut(endpoint >> 1);
    let flow = &mut ends.flows[transfer.flow as usize];
    let (side, direction, ecn, reason) = match data_at {
        Some(_) => {
            (flow.ways_ahead[SENDER], flow.direction, transfer.ends[SENDER].new_data_ecn(), Reason::New)
        }
        None => (flow.ways_ahead[RECEIVER], flow.direction.opposite(), Ecn::NotEct, Reason::Ack),
    };
    let parcel = Parcel::new(*header, data_at.unwrap_or(0), ecn);
    let (mut goes_on, mut put_out) = (true, None);
    if let Some(number) = flow.station_ahead {
        let packet = SeenPacket {
            flow: flow_id(transfer.number, endpoint >> 1),
            direction,
            ecn,
            bytes: parcel.bytes,
            segment: header.into(),
            origin: Origin { order: 0, reason, offset: parcel.offset },
        };
        marks::hit(Mark::StationAhead);
        let station = &mut stations[usize::from(number)];
        goes_on = station.show(at, &packet);
        put_out = (!station.out.is_empty()).then_some(usize::from(number));
    }
    if !goes_on {
        transfer.on_gone();
        ends.retire_when_over(stage, endpoint >> 1);
        return put_out;
    }
    let mut connected = Connected { stage, transfer, flow, endpoint };
    match data_at {
        Some(_) => _ = connected.send_to_receiver(at, side, &parcel, false),
        None => connected.forward_ack(at, side, &parcel),
    }
    put_out
}
