//! The rule for the retransmission timer of a cgroup's connections.

use super::RtoError;
use airtcp_wire::Dur;
use std::fmt;
use std::ops::RangeInclusive;

/// Values that the kernel accepts for TCP_RTO_MAX_MS.
pub const RTO_MAX: RangeInclusive<Dur> = Dur::from_secs(1)..=Dur::from_secs(120);
/// Values that the kernel accepts for RTO_MIN of one socket, if a jiffy is 4 ms.
pub const SOCKET_RTO_MIN: RangeInclusive<Dur> = Dur::from_millis(8)..=Dur::from_millis(200);
/// The sysctl of a network namespace that becomes RTO_MIN of each socket made there.
pub const RTO_MIN_SYSCTL: &str = "net.ipv4.tcp_rto_min_us";
const NO_CACHE_SYSCTL: &str = "net.ipv4.tcp_no_metrics_save";
const ORPHANS_SYSCTL: &str = "net.ipv4.tcp_orphan_retries";
/// The kernel's default for closed connections with data left, while their RTO is below RTO_MAX. Under a factor
/// it never is, and the kernel would drop the data at the second expiry.
const ORPHAN_RETRIES: &str = "8";

const FACTOR: RangeInclusive<f64> = 0.1..=1000.0;

/// A retransmission timer for the connections of a cgroup.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RtoRule {
    pub timer: Timer,
    /// No RTO is longer, whatever was measured and however often it has expired: 1 to 120 s.
    pub max: Dur,
    /// Whether the RTO doubles at each expiry (RFC 6298 §5.5). If not, see [`Timer`].
    pub backoff: bool,
    /// If present, only for sockets that have this SO_MARK when they connect or listen, and for those that they
    /// accept.
    pub mark: Option<u32>,
}

/// How the RTO is computed from the round trips. Under a factor, SRTT and RTTVAR are RFC 6298's, with one
/// sample per round trip; under a floor, they are the kernel's.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Timer {
    /// RTO = max(SRTT + factor·RTTVAR, min), recomputed once per round trip (paper 003 §II). `min` is 1 to 120
    /// s. Without back-off, each expiry comes one RTO after the previous one.
    Factor { factor: f64, min: Dur },
    /// RTO = SRTT + max(floor, 4·RTTVAR), the kernel's own. A floor of 8 to 200 ms is set for each socket; a
    /// longer one, up to 120 s, for the network namespace. Without back-off, the kernel repeats the RTO six
    /// times if fewer than four segments are outstanding; otherwise it doubles it up to `max` all the same. The
    /// kernel allows nothing nearer to paper 000's F3.
    Floor(Dur),
}

impl RtoRule {
    /// Paper 003's timer: at least 1 s (RFC 6298 §2.4), at most 120 s, with back-off.
    #[must_use]
    pub fn factor(factor: f64) -> RtoRule {
        let timer = Timer::Factor { factor, min: *RTO_MAX.start() };
        RtoRule { timer, max: *RTO_MAX.end(), backoff: true, mark: None }
    }

    /// Paper 000's F3 as far as the kernel allows: no RTO above 1 s, and no back-off where possible.
    #[must_use]
    pub fn floor(floor: Dur) -> RtoRule {
        RtoRule { timer: Timer::Floor(floor), max: *RTO_MAX.start(), backoff: false, mark: None }
    }

    /// Sysctls that the network namespace needs before sockets are made in it: names and values.
    #[must_use]
    pub fn sysctls(&self) -> Vec<(&'static str, String)> {
        let Some(floor) = self.namespace_floor() else { return vec![] };
        // The kernel computes a new connection's RTO from a cached RTT and that floor, past RTO_MAX. So nothing
        // may be cached.
        let mut sysctls =
            vec![(RTO_MIN_SYSCTL, (floor.0 / 1000).to_string()), (NO_CACHE_SYSCTL, "1".to_owned())];
        if let Timer::Factor { .. } = self.timer {
            sysctls.push((ORPHANS_SYSCTL, ORPHAN_RETRIES.to_owned()));
        }
        sysctls
    }

    /// RTO_MIN that the namespace must have, in whole milliseconds.
    pub(super) fn namespace_floor(&self) -> Option<Dur> {
        match self.timer {
            // RTO_MAX, which is never longer, then decides.
            Timer::Factor { .. } => Some(self.max),
            Timer::Floor(floor) if SOCKET_RTO_MIN.contains(&floor) => None,
            Timer::Floor(floor) => Some(floor),
        }
        .map(|floor| Dur::from_millis(floor.as_millis()))
    }

    /// # Errors
    /// What is not possible, and what is.
    pub fn check(&self) -> Result<(), RtoError> {
        within("max", self.max, &RTO_MAX)?;
        match self.timer {
            Timer::Factor { factor, min } => {
                if !FACTOR.contains(&factor) {
                    let (least, most) = FACTOR.into_inner();
                    return Err(RtoError::Rule(format!(
                        "factor {factor}: from {least} to {most} (paper 003 advises 10)"
                    )));
                }
                if min < *RTO_MAX.start() {
                    return Err(RtoError::Rule(format!(
                        "min {min}: the kernel accepts 1s to 120s as a connection's longest RTO, through which this goes; a \
                         floor on 4·RTTVAR may be shorter (--floor)"
                    )));
                }
                within("min", min, &(*RTO_MAX.start()..=self.max))
            }
            Timer::Floor(floor) => within("floor", floor, &(*SOCKET_RTO_MIN.start()..=self.max)),
        }
    }
}

impl fmt::Display for RtoRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.timer {
            Timer::Factor { factor, min } => {
                write!(f, "RTO = SRTT + {factor}·RTTVAR, from {min} to {}", self.max)?
            }
            Timer::Floor(floor) => write!(f, "RTO = SRTT + max({floor}, 4·RTTVAR), at most {}", self.max)?,
        }
        f.write_str(match (self.backoff, self.timer) {
            (true, _) => ", doubled at each expiry",
            (false, Timer::Factor { .. }) => ", not doubled at expiry",
            (false, Timer::Floor(_)) => {
                ", not doubled for the first six expiries with fewer than four segments outstanding"
            }
        })?;
        self.mark.map_or(Ok(()), |mark| write!(f, ", for sockets with the mark {mark:#x}"))
    }
}

fn within(what: &str, value: Dur, range: &RangeInclusive<Dur>) -> Result<(), RtoError> {
    let (least, most) = (range.start(), range.end());
    if range.contains(&value) {
        Ok(())
    } else {
        Err(RtoError::Rule(format!("{what} {value}: from {least} to {most}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(rule: RtoRule) -> String {
        rule.check().unwrap_err().to_string()
    }

    #[test]
    fn mistakes_are_named_with_what_is_allowed() {
        let ms = Dur::from_millis;
        assert!(refusal(RtoRule::factor(0.0)).contains("factor 0: from 0.1 to 1000"));
        assert!(refusal(RtoRule::factor(f64::NAN)).contains("factor NaN"));
        assert!(
            refusal(RtoRule { max: ms(900), ..RtoRule::factor(10.0) }).contains("max 900ms: from 1s to 120s")
        );
        let short = Timer::Factor { factor: 10.0, min: ms(200) };
        assert!(
            refusal(RtoRule { timer: short, ..RtoRule::factor(10.0) })
                .contains("min 200ms: the kernel accepts 1s")
        );
        let crossed = Timer::Factor { factor: 10.0, min: ms(5000) };
        assert!(
            refusal(RtoRule { timer: crossed, max: ms(3000), ..RtoRule::factor(10.0) })
                .contains("min 5s: from 1s to 3s")
        );
        assert!(refusal(RtoRule::floor(ms(4))).contains("floor 4ms: from 8ms to 1s"));
        RtoRule::factor(10.0).check().unwrap();
        RtoRule::floor(ms(50)).check().unwrap();
    }

    #[test]
    fn only_what_a_socket_cannot_be_given_is_the_namespaces() {
        let floors = |rule: RtoRule| rule.sysctls().first().cloned();
        assert_eq!(floors(RtoRule::factor(10.0)), Some((RTO_MIN_SYSCTL, "120000000".to_owned())));
        assert_eq!(
            floors(RtoRule::floor(Dur::from_millis(500))),
            Some((RTO_MIN_SYSCTL, "500000".to_owned()))
        );
        assert_eq!(floors(RtoRule::floor(Dur::from_millis(50))), None);
    }
}
