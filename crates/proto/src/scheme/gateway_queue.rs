//! The queue that a scheme may bring along: `bbr @ fq-codel`.

use crate::queue::{Discipline, congestion_warning, fq_codel, red};

/// The queue in front of the wireless link, instead of the path's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GatewayQueue {
    FqCodel,
    /// RED that marks.
    RedEcn,
    CongestionWarning,
}

impl GatewayQueue {
    pub const ALL: [GatewayQueue; 3] =
        [GatewayQueue::FqCodel, GatewayQueue::RedEcn, GatewayQueue::CongestionWarning];

    pub fn name(self) -> &'static str {
        match self {
            GatewayQueue::FqCodel => "fq-codel",
            GatewayQueue::RedEcn => "red-ecn",
            GatewayQueue::CongestionWarning => "congestion-warning",
        }
    }

    /// The discipline, with its default keys.
    pub fn discipline(self) -> Discipline {
        match self {
            GatewayQueue::FqCodel => Discipline::FqCodel(fq_codel::Config::default()),
            GatewayQueue::RedEcn => Discipline::Red(red::Config { ecn: true, ..red::Config::default() }),
            GatewayQueue::CongestionWarning => {
                Discipline::CongestionWarning(congestion_warning::Config::default())
            }
        }
    }
}
