//! The start of a session: the sender says HELLO, and the receiver WELCOME.

use super::tag::Key;
use super::{CircuitError, Datagram, Kind, MAX_CONTROLS};

/// The version of the datagrams' layouts.
pub const VERSION: u8 = 3;

/// The version of a handshake that asks for repairs. It differs from [`VERSION`] in nothing else, so that an end which knows only that
/// one serves all who do not ask.
pub const REPAIRS_VERSION: u8 = 4;

/// Random bytes that are never used twice.
pub type Nonce = [u8; 16];

const LEN: usize = 32;
const NONCE_AT: usize = 8;
const TAG_AT: usize = 24;

/// What the receiver must know about the sender's circuit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Terms {
    /// Bytes of data that a header packet stands for.
    pub vmss: u16,
    /// Number of control TCPs.
    pub controls: u16,
    /// How many lost header packets in a row a compressed one may bridge. `None` if header packets are not compressed.
    pub guesses: Option<u8>,
    /// Is data counted? Then the window of a header packet says how many data packets were sent, and that of an ACK how
    /// many are missing.
    pub counts: bool,
    /// How many header packets before it each one repeats, 0 to 3. Zero unless data is counted.
    pub fec: u8,
    /// Does the sender repair data? False unless data is counted.
    pub repairs: bool,
}

impl Terms {
    fn is_allowed(&self) -> bool {
        (64..=65_000).contains(&self.vmss)
            && (1..=MAX_CONTROLS).contains(&self.controls)
            && self.guesses.is_none_or(|guesses| guesses <= 2)
            && self.fec <= if self.counts { 3 } else { 0 }
            && (self.counts || !self.repairs)
    }
}

/// The sender's request for a session. Data is counted, and repaired, only if the receiver agrees.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Hello {
    pub nonce: Nonce,
    pub terms: Terms,
}

impl Hello {
    pub fn encode(&self, key: &Key) -> Datagram {
        let Terms { vmss, controls, guesses, counts, fec, repairs } = self.terms;
        let mut hello = Datagram::new();
        hello.put(&[Kind::Hello.first_byte(0), version(repairs)]);
        hello.put(&vmss.to_be_bytes());
        hello.put(&[controls as u8, guesses.map_or(0, |guesses| guesses + 1), counts.into(), fec]);
        hello.put(&self.nonce);
        let tag = key.tag(&[hello.as_slice()]);
        hello.put(&tag);
        hello
    }

    /// # Errors
    /// The datagram is no HELLO, or its sender does not have the key.
    pub fn decode(datagram: &[u8], key: &Key) -> Result<Hello, CircuitError> {
        let (bytes, nonce) = decode(datagram, Kind::Hello, key, &[])?;
        let terms = Terms {
            vmss: u16::from_be_bytes([bytes[2], bytes[3]]),
            controls: bytes[4].into(),
            guesses: bytes[5].checked_sub(1),
            counts: bytes[6] == 1,
            fec: bytes[7],
            repairs: bytes[1] == REPAIRS_VERSION,
        };
        let is_good = terms.is_allowed() && bytes[6] <= 1;
        is_good.then_some(Hello { nonce, terms }).ok_or(CircuitError::Field)
    }
}

/// The receiver's answer to a HELLO. The tag covers the nonce of that HELLO.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Welcome {
    pub nonce: Nonce,
    /// Does the receiver count the data packets that arrive?
    pub counts: bool,
    /// Whether the receiver rebuilds data from repairs; `None` if the HELLO did not ask for that.
    pub rebuilds: Option<bool>,
}

impl Welcome {
    pub fn encode(&self, caller: &Nonce, key: &Key) -> Datagram {
        let mut welcome = Datagram::new();
        let Welcome { counts, rebuilds, .. } = *self;
        let (version, rebuilds) = (version(rebuilds.is_some()), rebuilds.unwrap_or_default());
        welcome.put(&[Kind::Welcome.first_byte(0), version, counts.into(), rebuilds.into(), 0, 0, 0, 0]);
        welcome.put(&self.nonce);
        let tag = key.tag(&[caller, welcome.as_slice()]);
        welcome.put(&tag);
        welcome
    }

    /// # Errors
    /// The datagram is no WELCOME, or does not answer a HELLO with this nonce.
    pub fn decode(datagram: &[u8], caller: &Nonce, key: &Key) -> Result<Welcome, CircuitError> {
        let (bytes, nonce) = decode(datagram, Kind::Welcome, key, caller)?;
        let rebuilds = (bytes[1] == REPAIRS_VERSION).then_some(bytes[3] == 1);
        let is_good = bytes[2] <= 1 && bytes[3] <= rebuilds.is_some().into() && bytes[4..8] == [0; 4];
        is_good.then_some(Welcome { nonce, counts: bytes[2] == 1, rebuilds }).ok_or(CircuitError::Field)
    }
}

fn version(has_repairs: bool) -> u8 {
    if has_repairs { REPAIRS_VERSION } else { VERSION }
}

/// Checks everything but the fields in front of the nonce.
fn decode<'a>(
    datagram: &'a [u8],
    kind: Kind,
    key: &Key,
    caller: &[u8],
) -> Result<(&'a [u8; LEN], Nonce), CircuitError> {
    let bytes: &[u8; LEN] = datagram.try_into().map_err(|_| CircuitError::Length(datagram.len()))?;
    if key.tag(&[caller, &bytes[..TAG_AT]]) != bytes[TAG_AT..] {
        return Err(CircuitError::Tag);
    }
    if ![VERSION, REPAIRS_VERSION].contains(&bytes[1]) {
        return Err(CircuitError::Version(bytes[1]));
    }
    if bytes[0] != kind.first_byte(0) {
        return Err(CircuitError::Field);
    }
    let mut nonce = Nonce::default();
    nonce.copy_from_slice(&bytes[NONCE_AT..TAG_AT]);
    Ok((bytes, nonce))
}
