//! What a kernel lets a rule set.

use super::rule::{RTO_MAX, RTO_MIN_SYSCTL, RtoRule, SOCKET_RTO_MIN, Timer};
use super::{RtoError, sockopt};
use crate::namespace::sysctl;
use nix::sys::socket::{AddressFamily, SockFlag, SockType, setsockopt, socket};

const PROBE_MS: u32 = 1000;

/// A kernel's means. TCP_BPF_RTO_MIN, up to 200 ms, is in all of them from Linux 5.10 on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Means {
    /// TCP_RTO_MAX_MS (Linux 6.15).
    pub rto_max: bool,
    /// A namespace's RTO_MIN (Linux 6.11).
    pub namespace_rto_min: bool,
}

impl Means {
    /// This kernel's, by trying.
    #[must_use]
    pub fn of_kernel() -> Means {
        let socket = socket(AddressFamily::Inet, SockType::Stream, SockFlag::SOCK_CLOEXEC, None);
        let is_set = socket.and_then(|socket| setsockopt(&socket, sockopt::RtoMaxMs, &PROBE_MS));
        Means { rto_max: is_set.is_ok(), namespace_rto_min: sysctl::get(RTO_MIN_SYSCTL).is_ok() }
    }

    /// The rule as this kernel has it: without TCP_RTO_MAX_MS, timeouts always back off.
    ///
    /// # Errors
    /// What the kernel lacks, and what it can do instead.
    pub fn fit(self, rule: &RtoRule) -> Result<RtoRule, RtoError> {
        match rule.timer {
            _ if self.rto_max => return Ok(*rule),
            Timer::Factor { .. } => return Err(RtoError::NoFactor),
            Timer::Floor(floor) if !self.namespace_rto_min && !SOCKET_RTO_MIN.contains(&floor) => {
                return Err(RtoError::Rule(format!(
                    "floor {floor}: this kernel takes {} to {}; longer ones need Linux 6.11",
                    SOCKET_RTO_MIN.start(),
                    SOCKET_RTO_MIN.end()
                )));
            }
            Timer::Floor(_) => {}
        }
        match rule.max == *RTO_MAX.end() {
            true => Ok(RtoRule { backoff: true, ..*rule }),
            false => Err(RtoError::Rule(format!(
                "max {}: this kernel's longest RTO is {} and cannot be set (TCP_RTO_MAX_MS, Linux 6.15): add --max {1}",
                rule.max,
                RTO_MAX.end()
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use airtcp_wire::Dur;

    #[test]
    fn an_old_kernel_takes_a_floor_and_names_the_way_to_a_factor() {
        let old = Means { rto_max: false, namespace_rto_min: false };
        let refusal = |rule| old.fit(&rule).unwrap_err().to_string();
        assert!(refusal(RtoRule::factor(10.0)).contains("--wireless-scheme rto-m:m=10+gbn"));
        let floor = |ms, max| RtoRule { max, ..RtoRule::floor(Dur::from_millis(ms)) };
        let longest = *RTO_MAX.end();
        assert!(refusal(floor(50, Dur::from_secs(1))).contains("add --max 120s"));
        assert!(refusal(floor(500, longest)).contains("takes 8ms to 200ms"));
        assert_eq!(old.fit(&floor(50, longest)).unwrap(), RtoRule { backoff: true, ..floor(50, longest) });
        assert!(Means { namespace_rto_min: true, ..old }.fit(&floor(500, longest)).is_ok());
        let new = Means { rto_max: true, namespace_rto_min: true };
        for rule in [RtoRule::factor(10.0), floor(50, Dur::from_secs(1))] {
            assert_eq!(new.fit(&rule).unwrap(), rule);
        }
    }
}
