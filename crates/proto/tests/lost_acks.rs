//! Lost ACKs are not reordering.

use crate::common::{Pair, Weather, ms};
use airtcp_proto::tcp::profile::rfc;
use airtcp_proto::tcp::{Reason, Recovery, TcpConfig};
use airtcp_wire::{Dur, Time};

const RTT: Dur = ms(100);

/// RFC 8985 §6.2 step 3: segments that one ACK reports are looked at in ascending order. Two blocks that are news at
/// once, because the ACKs between were lost, must not make RACK wait for reordered segments from then on (step 4).
#[test]
fn rack_does_not_take_two_new_blocks_in_one_ack_for_reordering() {
    let config =
        TcpConfig { recovery: Recovery::RackTlp, ack_every: 1, initial_window: 20, nagle: false, ..rfc() };
    let unit = u64::from(config.segment_payload());
    let mut pair = Pair::new(&config, &config, [1, 1], Weather::clear(RTT / 2), 1);
    let mut acks = 0;
    pair.lose = Box::new(move |by, transmit| {
        if by == 1 {
            // SYN-ACK, ACKs of segments 0 and 1, then those of 3, 4 and 6, of which only the one of 7 tells.
            acks += 1;
            return (4..=6).contains(&acks);
        }
        let segment = transmit.offset / unit;
        transmit.segment.len > 0 && transmit.reason == Reason::New && [2, 5, 45].contains(&segment)
    });
    pair.ends[0].write(80 * unit);
    pair.run(Time::ZERO + Dur::from_secs(5));
    assert_eq!(pair.ends[1].received(), 80 * unit);
    let sent: Vec<(u64, Reason)> = pair
        .data_sent(0, unit)
        .into_iter()
        .filter(|(_, segment, _)| *segment == 45)
        .map(|(at, _, reason)| (at, reason))
        .collect();
    let [(first, Reason::New), (again, Reason::FastRetransmit), ..] = sent[..] else { panic!("{sent:?}") };
    assert_eq!(again - first, RTT.as_millis(), "at once, without a reordering window");
}
