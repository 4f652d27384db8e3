//! The connections of a stack, by their addresses and by when they want to be called.

use super::flow::{FlowKey, StackFlow};
use airtcp_wire::Time;
use airtcp_wire::packet::Endpoints;
use slab::Slab;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Default)]
pub struct Flows {
    flows: Slab<(FlowKey, StackFlow)>,
    /// Flows so far.
    count: u64,
    /// From us to the peer.
    by_endpoints: BTreeMap<Endpoints, FlowKey>,
    timers: BTreeSet<(Time, FlowKey)>,
}

impl Flows {
    pub fn get(&self, key: FlowKey) -> Option<&StackFlow> {
        self.flows.get(key.place).filter(|(holder, _)| *holder == key).map(|(_, flow)| flow)
    }

    pub fn get_mut(&mut self, key: FlowKey) -> Option<&mut StackFlow> {
        self.flows.get_mut(key.place).filter(|(holder, _)| *holder == key).map(|(_, flow)| flow)
    }

    pub fn keys(&self) -> Vec<FlowKey> {
        self.flows.iter().map(|(_, (key, _))| *key).collect()
    }

    pub fn len(&self) -> usize {
        self.flows.len()
    }

    pub fn find(&self, endpoints: &Endpoints) -> Option<FlowKey> {
        self.by_endpoints.get(endpoints).copied()
    }

    /// Inserts a flow, in place of an older one between the same ends if there is one.
    pub fn insert(&mut self, flow: StackFlow) -> FlowKey {
        let endpoints = flow.endpoints;
        self.count += 1;
        let entry = self.flows.vacant_entry();
        let key = FlowKey { place: entry.key(), serial: self.count };
        entry.insert((key, flow));
        if let Some(older) = self.by_endpoints.insert(endpoints, key) {
            self.take(older);
        }
        key
    }

    pub fn remove(&mut self, key: FlowKey) {
        if let Some(flow) = self.take(key) {
            self.by_endpoints.remove(&flow.endpoints);
        }
    }

    fn take(&mut self, key: FlowKey) -> Option<StackFlow> {
        self.get(key)?;
        let (_, flow) = self.flows.remove(key.place);
        self.timers.remove(&(flow.timer, key));
        Some(flow)
    }

    /// Updates when a flow wants to be called. One that waits for the device wants nothing else: its timer would stay
    /// due, as what it has caused cannot leave.
    pub fn set_timer(&mut self, key: FlowKey) {
        let Some((_, flow)) = self.flows.get_mut(key.place).filter(|(holder, _)| *holder == key) else {
            return;
        };
        let timer = if flow.is_waiting { Time::NEVER } else { flow.poll_timeout() };
        if timer != flow.timer {
            self.timers.remove(&(flow.timer, key));
            flow.timer = timer;
            if timer != Time::NEVER {
                self.timers.insert((timer, key));
            }
        }
    }

    pub fn poll_timeout(&self) -> Time {
        self.timers.first().map_or(Time::NEVER, |&(timer, _)| timer)
    }

    /// Returns a flow that wants to be called by now.
    pub fn due(&self, now: Time) -> Option<FlowKey> {
        self.timers.first().filter(|&&(timer, _)| timer <= now).map(|&(_, key)| key)
    }
}

#[cfg(test)]
mod tests {
    use super::super::connections::Settings;
    use super::super::store::Tally;
    use super::super::stream::Room;
    use super::*;
    use airtcp_proto::tcp::{Connection, profile};
    use airtcp_wire::Seq;

    fn flow(port: u16) -> StackFlow {
        let endpoints = Endpoints::new(([10, 0, 0, 1], port).into(), ([10, 0, 0, 2], 80).into()).unwrap();
        let connection = Connection::connect(&profile::linux(), Seq(1), 1, Time::ZERO).unwrap();
        let settings = Settings {
            config: profile::linux(),
            room: Room::fixed(1),
            mtu: 1500,
            ports: vec![],
            half_open: 1,
            keepalive: None,
            fast_open: false,
        };
        StackFlow::new(connection, endpoints, &settings, &Tally::default())
    }

    #[test]
    fn an_old_key_does_not_reach_the_flow_that_has_its_place() {
        let mut flows = Flows::default();
        let old = flows.insert(flow(1));
        let new = flows.insert(flow(1));
        let stranger = flows.insert(flow(2));
        assert_eq!(old.place, stranger.place);
        flows.remove(old);
        flows.set_timer(old);
        assert!(flows.get(old).is_none() && flows.get_mut(old).is_none());
        for (port, key) in [(1, new), (2, stranger)] {
            assert!(flows.get(key).is_some());
            assert_eq!(flows.find(&flow(port).endpoints), Some(key));
        }
    }
}
