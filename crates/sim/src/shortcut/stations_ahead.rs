//! What passes the stations that are ahead by value.

use crate::ahead::Arrival;
use crate::connected::Connected;
use crate::ends::Ends;
use crate::flow::{RECEIVER, SENDER};
use crate::packet::flow_id;
use crate::parcel::plain_bytes;
use crate::stage::Stage;
use crate::station::Station;
use airtcp_proto::middlebox::{Origin, SeenPacket};
use airtcp_proto::tcp::Reason;
use airtcp_wire::{Ecn, Time};

/// Takes new data or a plain ACK of a connection past the stations at `node`. Returns the station that has put something
/// out.
pub fn pass_station(
    stage: &mut Stage,
    ends: &mut Ends,
    stations: &mut [Station],
    node: u16,
    at: Time,
    arrival: &Arrival,
) -> Option<usize> {
    let (endpoint, header, data_at) = match *arrival {
        Arrival::Data { endpoint, header, offset } => (endpoint, header, Some(offset)),
        Arrival::Ack { endpoint, header } => (endpoint, header, None),
        Arrival::SackedAck { .. } | Arrival::HeaderAck { .. } | Arrival::Kept(_) => return None,
    };
    let transfer = ends.transfers.get_mut(endpoint >> 1);
    let flow = &mut ends.flows[transfer.flow as usize];
    let (route, direction, ecn, reason) = match data_at {
        Some(_) => (flow.routes[SENDER], flow.direction, transfer.ends[SENDER].new_data_ecn(), Reason::New),
        None => (flow.routes[RECEIVER], flow.direction.opposite(), Ecn::NotEct, Reason::Ack),
    };
    let bytes = plain_bytes(&header);
    let (mut goes_on, mut put_out) = (true, None);
    if let Some(number) = flow.station_ahead {
        let packet = SeenPacket {
            flow: flow_id(transfer.number, endpoint >> 1),
            direction,
            ecn,
            bytes,
            segment: (&header).into(),
            origin: Origin { order: 0, reason, offset: data_at.unwrap_or(0) },
        };
        let station = &mut stations[usize::from(number)];
        goes_on = station.show(at, &packet);
        put_out = (!station.out.is_empty()).then_some(usize::from(number));
    }
    if !goes_on {
        transfer.under_way -= 1;
        ends.retire_when_over(stage, endpoint >> 1);
        return put_out;
    }
    let side = stage.network.topology.way_out(route, node);
    let mut connected = Connected { stage, transfer, flow, endpoint };
    match data_at {
        Some(offset) => {
            let data = connected.new_data(&header, offset);
            connected.send_to_receiver(at, side, &data, false);
        }
        None => connected.forward_ack(at, side, bytes, header),
    }
    put_out
}
