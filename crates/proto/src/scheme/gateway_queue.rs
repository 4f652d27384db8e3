//! The queue that a scheme may bring along: `bbr @ fq-codel`.

use crate::queue::{Discipline, congestion_warning, fq_codel, red};

/// Declares the queues: each with its name in a scheme, and its discipline with default keys.
macro_rules! gateway_queues {
    ($($(#[$doc:meta])* $Queue:ident = $name:literal: $discipline:expr,)*) => {
        /// The queue in front of the wireless link, instead of the path's own.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum GatewayQueue {
            $($(#[$doc])* $Queue,)*
        }

        impl GatewayQueue {
            pub const ALL: &[GatewayQueue] = &[$(GatewayQueue::$Queue),*];

            pub fn name(self) -> &'static str {
                match self {
                    $(GatewayQueue::$Queue => $name,)*
                }
            }

            /// The discipline, with its default keys.
            pub fn discipline(self) -> Discipline {
                match self {
                    $(GatewayQueue::$Queue => $discipline,)*
                }
            }
        }
    };
}

gateway_queues! {
    FqCodel = "fq-codel": Discipline::FqCodel(fq_codel::Config::default()),
    /// RED that marks.
    RedEcn = "red-ecn": Discipline::Red(red::Config { ecn: true, ..red::Config::default() }),
    CongestionWarning = "congestion-warning": Discipline::CongestionWarning(congestion_warning::Config::default()),
}
