//! Delay that varies from packet to packet.

use super::value::{Around, Value};
use crate::scenario::check::Check;
use crate::scenario::files::Files;
use crate::scenario::one_of::OneOf;
use airtcp_proto::choice::Faults;
use airtcp_proto::path::jitter::{Distribution, Manner};
use airtcp_wire::Dur;
use serde::Serialize;
use std::path::Path;

/// Delay that varies from packet to packet, added to the propagation delay.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Jitter {
    #[serde(flatten)]
    pub distribution: Distribution,
    /// May a packet overtake the one before it? If not, it waits for it.
    pub overtaking: bool,
    /// When the variation starts.
    pub start: Dur,
}

impl Value for Option<Jitter> {
    type Written = OneOf<Distribution>;

    fn read(written: &OneOf<Distribution>, _: &Around<'_>, check: &mut Check<'_>) -> Option<Option<Jitter>> {
        let (mut distribution, Manner { overtaking, start }) = check.one_of(written)?;
        let mut faults = Faults::default();
        let mut text_of =
            |key: &'static str, path: &Path| check.inside(key, |check| check.file(path, Files::text));
        distribution.load(&mut text_of, &mut faults);
        check.refuse_faults(faults);
        Some(Some(Jitter { distribution, overtaking, start }))
    }
}
