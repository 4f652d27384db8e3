//! What passes the stations that are ahead without being a packet in the slab.

use super::Entry;
use super::connected::{Connected, Text, plain_bytes};
use crate::ends::Ends;
use crate::flow::{RECEIVER, SENDER};
use crate::packet::flow_id;
use crate::stage::Stage;
use crate::station::Station;
use airtcp_proto::middlebox::{Origin, SeenPacket};
use airtcp_proto::tcp::Reason;
use airtcp_wire::Ecn;

/// Takes new data or a plain ACK of the connection with this sending end past the stations at `node`. Returns the
/// station that has put something out.
pub fn pass_station(
    stage: &mut Stage,
    ends: &mut Ends,
    stations: &mut [Station],
    node: u16,
    endpoint: u32,
    entry: &Entry,
) -> Option<usize> {
    let &Entry { at, ref header, offset, .. } = entry;
    let transfer = ends.transfers.get_mut(endpoint >> 1);
    let flow = &mut ends.flows[transfer.flow as usize];
    let is_data = header.len > 0;
    let (route, direction, ecn, reason) = match is_data {
        true => (flow.routes[SENDER], flow.direction, transfer.ends[SENDER].new_data_ecn(), Reason::New),
        false => (flow.routes[RECEIVER], flow.direction.opposite(), Ecn::NotEct, Reason::Ack),
    };
    let bytes = plain_bytes(header);
    let (mut goes_on, mut put_out) = (true, None);
    if let Some(number) = flow.station_ahead {
        let packet = SeenPacket {
            flow: flow_id(transfer.number, endpoint >> 1),
            direction,
            ecn,
            bytes,
            segment: header.into(),
            origin: Origin { order: 0, reason, offset },
        };
        let station = &mut stations[usize::from(number)];
        goes_on = station.show(at, &packet);
        put_out = (!station.out.is_empty()).then_some(usize::from(number));
    }
    if !goes_on {
        // Data counts as under way only from here on.
        transfer.under_way -= u32::from(!is_data);
        ends.look_whether_over(stage, endpoint >> 1);
        return put_out;
    }
    let side = stage.network.topology.way_out(route, node);
    let mut connected = Connected { stage, transfer, flow, endpoint };
    if !is_data {
        connected.forward_ack(at, side, bytes, *header);
    } else if connected.send_to_receiver(at, side, bytes, &Text { header, offset, follows: false }) {
        connected.count_received(1, bytes);
    }
    put_out
}
