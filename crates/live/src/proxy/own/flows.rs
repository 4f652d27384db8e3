//! The connections of a stack, found by their addresses and by when they want to be called.

use super::flow::{Flow, FlowKey};
use airtcp_wire::Time;
use airtcp_wire::packet::Endpoints;
use slab::Slab;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Default)]
pub struct Flows {
    flows: Slab<Flow>,
    /// From us to the peer.
    by_endpoints: BTreeMap<Endpoints, FlowKey>,
    timers: BTreeSet<(Time, FlowKey)>,
}

impl Flows {
    pub fn get(&self, key: FlowKey) -> Option<&Flow> {
        self.flows.get(key.0)
    }

    pub fn get_mut(&mut self, key: FlowKey) -> Option<&mut Flow> {
        self.flows.get_mut(key.0)
    }

    pub fn find(&self, endpoints: &Endpoints) -> Option<FlowKey> {
        self.by_endpoints.get(endpoints).copied()
    }

    /// In the place of an older one between the same ends, if there is one.
    pub fn insert(&mut self, flow: Flow) -> FlowKey {
        let endpoints = flow.endpoints;
        let key = FlowKey(self.flows.insert(flow));
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

    fn take(&mut self, key: FlowKey) -> Option<Flow> {
        let flow = self.flows.try_remove(key.0)?;
        self.timers.remove(&(flow.timer, key));
        Some(flow)
    }

    /// Puts down when it wants to be called.
    pub fn set_timer(&mut self, key: FlowKey) {
        let Some(flow) = self.flows.get_mut(key.0) else { return };
        let timer = flow.stream.connection().poll_timeout();
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

    /// One that wants to be called now.
    pub fn due(&self, now: Time) -> Option<FlowKey> {
        self.timers.first().filter(|&&(timer, _)| timer <= now).map(|&(_, key)| key)
    }
}
