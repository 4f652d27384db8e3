//! What the programs read and write, in the layout of `bpf/filter/intf.h` and `rules.h`.

use super::{FilterError, Parameters};
use airtcp_wire::Dur;
use libbpf_rs::{MapCore, MapFlags, MapHandle};
use serde::Serialize;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};

const ONLY: [u8; 4] = [0; 4];
/// Bytes of `struct key`, and offset of the counters in `struct flow`.
const KEY_LEN: usize = 36;
const COUNTERS_AT: usize = 8;

/// Counts over all flows since the filter was attached.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Totals {
    /// TCP packets that were looked at.
    pub packets: u64,
    /// Flows with data that was seen to be acknowledged. Only these are filtered.
    pub flows_understood: u64,
    pub acks_passed: u64,
    pub acks_held: u64,
    /// Retransmissions of acknowledged data.
    pub data_dropped: u64,
    /// Those that were answered with an ACK.
    pub data_answered: u64,
    /// Answers that could not be made.
    pub answers_failed: u64,
}

/// A flow that is understood, and what was done to its packets.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct FlowRecord {
    pub fixed_host: SocketAddr,
    pub mobile_host: SocketAddr,
    pub acks_passed: u32,
    pub acks_held: u32,
    pub data_dropped: u32,
    pub data_answered: u32,
}

pub(super) fn totals(map: &MapHandle) -> Result<Totals, FilterError> {
    let cpus = map.lookup_percpu(&ONLY, MapFlags::ANY).map_err(FilterError::kernel("read the counters"))?;
    let mut sums = [0u64; 7];
    for cpu in cpus.unwrap_or_default() {
        for (sum, word) in sums.iter_mut().zip(cpu.as_chunks().0) {
            *sum += u64::from_ne_bytes(*word);
        }
    }
    let [packets, flows_understood, acks_passed, acks_held, data_dropped, data_answered, answers_failed] =
        sums;
    let dropped = Totals { packets, flows_understood, acks_passed, acks_held, ..Totals::default() };
    Ok(Totals { data_dropped, data_answered, answers_failed, ..dropped })
}

/// Flows whose entries can be read. Flows come and go meanwhile.
pub(super) fn flows(map: &MapHandle) -> Vec<FlowRecord> {
    let known = |key: Vec<u8>| FlowRecord::read(&key, &map.lookup(&key, MapFlags::ANY).ok()??);
    map.keys().filter_map(known).collect()
}

impl FlowRecord {
    fn read(key: &[u8], flow: &[u8]) -> Option<FlowRecord> {
        let key: &[u8; KEY_LEN] = key.try_into().ok()?;
        let address = |at: usize| -> Option<IpAddr> {
            Some(Ipv6Addr::from(*key[at..].first_chunk::<16>()?).to_canonical())
        };
        let port = |at: usize| u16::from_be_bytes([key[at], key[at + 1]]);
        let count = |index: usize| {
            flow.get(COUNTERS_AT + 4 * index..)?.first_chunk().map(|bytes| u32::from_ne_bytes(*bytes))
        };
        Some(FlowRecord {
            fixed_host: SocketAddr::new(address(0)?, port(32)),
            mobile_host: SocketAddr::new(address(16)?, port(34)),
            acks_held: count(0)?,
            acks_passed: count(1)?,
            data_dropped: count(2)?,
            data_answered: count(3)?,
        })
    }
}

pub(super) fn set(map: &MapHandle, parameters: &Parameters) -> Result<(), FilterError> {
    let mut value = parameters.idle.0.to_ne_bytes().to_vec();
    value.extend(parameters.threshold.to_ne_bytes());
    value.extend([u8::from(parameters.ack_filter), u8::from(parameters.data_filter), 0, 0]);
    map.update(&ONLY, &value, MapFlags::ANY).map_err(FilterError::kernel("set the filter's parameters"))
}

pub(super) fn parameters(map: &MapHandle, flows: &MapHandle) -> Result<Parameters, FilterError> {
    let read =
        map.lookup(&ONLY, MapFlags::ANY).map_err(FilterError::kernel("read the filter's parameters"))?;
    let value = read.unwrap_or_default();
    let other =
        || FilterError::Parameters("this filter belongs to another version of airtcpd: detach it".to_owned());
    let (idle, rest) = value.split_first_chunk().ok_or_else(other)?;
    let (threshold, rest) = rest.split_first_chunk().ok_or_else(other)?;
    let [ack_filter, data_filter, ..] = *rest else { return Err(other()) };
    Ok(Parameters {
        threshold: u32::from_ne_bytes(*threshold),
        ack_filter: ack_filter != 0,
        data_filter: data_filter != 0,
        idle: Dur(u64::from_ne_bytes(*idle)),
        max_flows: flows.max_entries(),
    })
}
