//! Initial sequence numbers that nobody off the path can guess.

use airtcp_wire::packet::Endpoints;
use airtcp_wire::{Seq, Time};
use siphasher::sip::SipHasher24;
use std::fs::File;
use std::hash::{Hash, Hasher};
use std::io::{self, Read};

/// Where a connection's sequence numbers begin.
pub trait InitialNumbers {
    fn next(&mut self, now: Time, endpoints: &Endpoints) -> Seq;

    /// A keyed hash, for SYN cookies.
    fn hash(&self, endpoints: &Endpoints, words: [u64; 2]) -> u32;
}

/// RFC 6528 §3: a clock that ticks every 4 µs, and a keyed hash of the addresses and ports. Between the same two
/// ends, the numbers grow.
pub struct Secret(SipHasher24);

impl Secret {
    /// With a random key.
    ///
    /// # Errors
    /// There is no /dev/urandom.
    pub fn random() -> io::Result<Secret> {
        Ok(Secret(SipHasher24::new_with_key(&random()?)))
    }
}

/// Random bytes.
///
/// # Errors
/// There is no /dev/urandom.
pub fn random<const LEN: usize>() -> io::Result<[u8; LEN]> {
    let mut bytes = [0; LEN];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes)
}

impl InitialNumbers for Secret {
    fn next(&mut self, now: Time, endpoints: &Endpoints) -> Seq {
        let mut hasher = self.0;
        endpoints.hash(&mut hasher);
        Seq((now.0 / 4_000).wrapping_add(hasher.finish()) as u32)
    }

    fn hash(&self, endpoints: &Endpoints, words: [u64; 2]) -> u32 {
        let mut hasher = self.0;
        (endpoints, words).hash(&mut hasher);
        hasher.finish() as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use airtcp_wire::Dur;

    #[test]
    fn they_grow_between_the_same_ends_and_differ_between_others() {
        let mut secret = Secret::random().unwrap();
        let between =
            |port| Endpoints::new(([10, 0, 0, 1], port).into(), ([10, 0, 0, 2], 80).into()).unwrap();
        let later = Time::ZERO + Dur::from_millis(4);
        let first = secret.next(Time::ZERO, &between(1));
        assert_eq!(secret.next(later, &between(1)), Seq(first.0.wrapping_add(1_000)));
        assert_ne!(secret.next(Time::ZERO, &between(2)), first);
    }
}
