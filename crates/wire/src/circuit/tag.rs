//! Keys, and the tags that prove who has them. SipHash-2-4 is a pseudorandom function (Aumasson & Bernstein 2012).

use super::TAG_LEN;
use super::handshake::Nonce;
use super::repair::Fingerprint;
use siphasher::{sip, sip128};
use std::fmt;
use std::hash::Hasher;
use std::str::FromStr;

/// The secret that both ends of a circuit share.
#[derive(Clone, PartialEq, Eq)]
pub struct Key([u8; 16]);

#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("a key is 32 hexadecimal digits, as `openssl rand -hex 16` writes them")]
pub struct KeyError;

impl FromStr for Key {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<Key, KeyError> {
        let digits = text.trim();
        if digits.len() != 32 || !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return Err(KeyError);
        }
        u128::from_str_radix(digits, 16).map(|key| Key(key.to_be_bytes())).map_err(|_| KeyError)
    }
}

/// Does not show the key.
impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key")
    }
}

impl Key {
    pub fn new(bytes: [u8; 16]) -> Key {
        Key(bytes)
    }

    /// The key of the session between the two ends that chose these nonces.
    pub fn session(&self, caller: &Nonce, answerer: &Nonce) -> SessionKey {
        SessionKey(self.derived(b"airtcp circuit 1", caller, answerer))
    }

    /// The key of that session's fingerprints. It is another one, because strangers may choose what is named with it.
    pub fn fingerprints(&self, caller: &Nonce, answerer: &Nonce) -> FingerprintKey {
        FingerprintKey(self.derived(b"airtcp circuit n", caller, answerer))
    }

    fn derived(&self, purpose: &[u8; 16], caller: &Nonce, answerer: &Nonce) -> sip::SipHasher24 {
        let mut hasher = sip128::SipHasher24::new_with_key(&self.0);
        for part in [purpose, caller, answerer] {
            hasher.write(part);
        }
        let key = sip128::Hasher128::finish128(&hasher).as_bytes();
        sip::SipHasher24::new_with_key(&key)
    }

    /// The tag over `parts`, one after the other.
    pub fn tag(&self, parts: &[&[u8]]) -> [u8; 8] {
        let mut hasher = sip::SipHasher24::new_with_key(&self.0);
        parts.iter().for_each(|part| hasher.write(part));
        hasher.finish().to_be_bytes()
    }
}

/// The key by which one session names data packets.
#[derive(Clone)]
pub struct FingerprintKey(sip::SipHasher24);

impl fmt::Debug for FingerprintKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FingerprintKey")
    }
}

impl FingerprintKey {
    pub fn name(&self, bytes: &[u8]) -> Fingerprint {
        let mut hasher = self.0;
        hasher.write(bytes);
        (hasher.finish() >> 32) as Fingerprint
    }
}

/// The key of one session. Packets of other sessions have wrong tags.
#[derive(Clone)]
pub struct SessionKey(sip::SipHasher24);

impl fmt::Debug for SessionKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SessionKey")
    }
}

impl SessionKey {
    /// The tag over the whole number of a packet and its bytes.
    pub fn tag(&self, number: u64, bytes: &[u8]) -> [u8; TAG_LEN] {
        let mut hasher = self.0;
        hasher.write(&number.to_be_bytes());
        hasher.write(bytes);
        ((hasher.finish() >> 32) as u32).to_be_bytes()
    }
}
