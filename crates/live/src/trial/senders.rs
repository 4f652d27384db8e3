//! What our own machine's senders do, in place of TCP_INFO.

use super::tcp_info::{RecoveryState, TcpInfo};
use crate::proxy::Watch;
use airtcp_proto::tcp::{SenderView, Stats};
use airtcp_wire::packet::Endpoints;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// By the port of the application's end, from which our own machine sends, too.
#[derive(Clone, Default)]
pub struct Senders(Arc<Mutex<BTreeMap<u16, Sender>>>);

#[derive(Clone, Copy)]
struct Sender {
    info: TcpInfo,
    fast_retransmits: u64,
}

/// tcp_states.h.
const ESTABLISHED: u8 = 1;

impl Senders {
    /// `None` for a sender that has not been seen yet.
    pub fn info(&self, port: u16) -> Option<TcpInfo> {
        self.all().get(&port).map(|sender| sender.info)
    }

    fn all(&self) -> MutexGuard<'_, BTreeMap<u16, Sender>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Watch for Senders {
    fn look(&mut self, endpoints: &Endpoints, view: &SenderView, stats: &Stats) {
        let port = endpoints.ports.source;
        let mut all = self.all();
        let state = state(all.get(&port), view, stats);
        all.insert(port, Sender { info: info(view, stats, state), fast_retransmits: stats.fast_retransmits });
    }
}

/// What began last lasts until nothing is outstanding.
fn state(before: Option<&Sender>, view: &SenderView, stats: &Stats) -> RecoveryState {
    let (timeouts, fast_retransmits, state) = before.map_or((0, 0, RecoveryState::Open), |before| {
        (before.info.timeouts, before.fast_retransmits, before.info.state)
    });
    match () {
        () if stats.timeouts as u16 != timeouts => RecoveryState::Loss,
        () if stats.fast_retransmits != fast_retransmits => RecoveryState::Recovery,
        () if view.una == view.nxt => RecoveryState::Open,
        () => state,
    }
}

fn info(view: &SenderView, stats: &Stats, state: RecoveryState) -> TcpInfo {
    let mss = view.mss.max(1);
    let segments = |bytes: u64| bytes.div_ceil(mss) as u32;
    TcpInfo {
        connection: ESTABLISHED,
        state,
        expiries: 0,
        rto: view.rto,
        srtt: view.srtt,
        mss: mss as u32,
        unacked: segments(view.in_flight),
        sacked: 0,
        lost: 0,
        resent: 0,
        cwnd: (view.cwnd / mss) as u32,
        ssthresh: u32::try_from(view.ssthresh / mss).ok(),
        timeouts: stats.timeouts as u16,
    }
}
