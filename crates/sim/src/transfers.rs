//! The connections, in places that are reused when a connection is over.

use crate::flow::{Flow, Phase, Totals, Transfer};
use airtcp_proto::tcp::Connection;
use airtcp_wire::{Seq, Time};
use std::collections::VecDeque;

pub struct Transfers {
    places: Vec<Transfer>,
    free: Vec<u32>,
    opened: u32,
    /// Connections whose end is [foreseen](Transfers::retire_later), in order of time.
    ending: VecDeque<(Time, u32)>,
}

impl Transfers {
    /// The first connection will have the number `first`.
    pub fn new(first: u32) -> Transfers {
        Transfers { places: Vec::new(), free: Vec::new(), opened: first, ending: VecDeque::new() }
    }

    /// The largest number of connections that were ever open at the same time.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    #[inline(always)]
    pub fn get(&self, id: u32) -> &Transfer {
        &self.places[id as usize]
    }

    #[inline(always)]
    pub fn get_mut(&mut self, id: u32) -> &mut Transfer {
        &mut self.places[id as usize]
    }

    /// Opens a connection of the flow with that index; the sender's end has its SYN ready.
    pub fn open(&mut self, index: usize, flow: &mut Flow, now: Time) -> u32 {
        flow.counts.transfers_started += 1;
        let ((sender_iss, sender_seed), (receiver_iss, receiver_seed)) =
            flow.chance.draw(&flow.shared.chances, |chance| {
                let mut draw = || (Seq(chance.u32()), chance.u64());
                (draw(), draw())
            });
        let mut ends = [
            Connection::connect_by(&flow.shared.rules, sender_iss, sender_seed, now),
            Connection::listen_by(&flow.shared.rules, receiver_iss, receiver_seed),
        ];
        let known = flow.past.as_ref().map_or([None; 2], |past| past.known_rtts);
        for (end, (srtt, rttvar)) in ends.iter_mut().zip(known).filter_map(|(end, known)| Some((end, known?)))
        {
            end.share_rtt(srtt, rttvar);
        }
        self.opened += 1;
        self.place(Transfer::new(index as u32, self.opened - 1, ends, now))
    }

    fn place(&mut self, transfer: Transfer) -> u32 {
        match self.free.pop() {
            Some(id) => {
                *self.get_mut(id) = transfer;
                id
            }
            None => {
                self.places.push(transfer);
                (self.places.len() - 1) as u32
            }
        }
    }

    #[inline(always)]
    pub fn retire_if_over(&mut self, id: u32, flows: &mut [Flow]) {
        let transfer = self.get_mut(id);
        if transfer.phase != Phase::Running && transfer.is_over() {
            self.retire(id, flows);
        }
    }

    /// Something has reached a connection that is ending, at an end that is [ahead](crate::ahead). It counts as under way
    /// until the run reaches that time.
    pub fn retire_later(&mut self, at: Time, id: u32) {
        let transfer = self.get_mut(id);
        if transfer.phase != Phase::Running {
            transfer.on_under_way();
            let place = self.ending.partition_point(|(when, _)| *when <= at);
            self.ending.insert(place, (at, id));
        }
    }

    /// Is the connection retired, or will it be at that time?
    #[inline]
    pub fn is_retired_by(&self, at: Time, id: u32) -> bool {
        let transfer = self.get(id);
        transfer.phase == Phase::Retired || (transfer.phase != Phase::Running && self.will_retire_by(at, id))
    }

    #[cold]
    fn will_retire_by(&self, at: Time, id: u32) -> bool {
        let ending = self.ending.iter().filter(|(when, place)| *when <= at && *place == id).count();
        ending > 0 && self.get(id).is_over_but_for(ending as u32)
    }

    /// Retires connections that end by `now`.
    #[inline(always)]
    pub fn catch_up(&mut self, now: Time, flows: &mut [Flow]) {
        while let Some(&(at, id)) = self.ending.front()
            && at <= now
        {
            self.ending.pop_front();
            self.get_mut(id).on_gone();
            self.retire_if_over(id, flows);
        }
    }

    #[cold]
    fn retire(&mut self, id: u32, flows: &mut [Flow]) {
        let transfer = self.get_mut(id);
        let totals = Totals::of(transfer);
        transfer.phase = Phase::Retired;
        let flow = &mut flows[transfer.flow as usize];
        let past = flow.past.get_or_insert_default();
        past.retired.add(&totals);
        if flow.shared.rules.config.temporal_sharing {
            past.known_rtts = transfer.ends.each_ref().map(Connection::known_rtt);
        }
        self.free.push(id);
    }

    /// Totals of each flow's connections, including those that have ended.
    pub fn totals(&self, flows: &[Flow]) -> Vec<Totals> {
        let retired = |flow: &Flow| flow.past.as_ref().map(|past| past.retired).unwrap_or_default();
        let mut totals: Vec<Totals> = flows.iter().map(retired).collect();
        for transfer in self.places.iter().filter(|transfer| transfer.phase != Phase::Retired) {
            totals[transfer.flow as usize].add(&Totals::of(transfer));
        }
        totals
    }

    /// Counts everything anew, because the warm-up is over.
    pub fn begin_measurement(&mut self, flows: &mut [Flow]) {
        self.places.iter_mut().for_each(|transfer| transfer.truth.begin_measurement());
        flows
            .iter_mut()
            .filter_map(|flow| flow.past.as_mut())
            .for_each(|past| past.retired = Totals::default());
        let totals = self.totals(flows);
        for (flow, baseline) in flows.iter_mut().zip(totals) {
            let past = flow.past.get_or_insert_default();
            past.baseline = baseline;
            past.completions.clear();
            past.packets_delivered = flow.counts.data_packets_delivered;
            flow.counts = Default::default();
            flow.rtt = Default::default();
        }
    }
}
