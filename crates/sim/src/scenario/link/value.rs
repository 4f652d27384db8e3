//! What the values of a link's keys have in common.

use crate::scenario::check::Check;
use crate::scenario::medium::Medium;
use airtcp_proto::path::lte::Ue;
use airtcp_proto::path::wifi::Snr;
use airtcp_wire::{Dur, Rate};

/// The value of a key, as it runs.
pub(crate) trait Value: Sized + Clone {
    /// The value as it is written.
    type Written;

    /// Checks and completes it. `None` if it is wrong, which has been reported.
    fn read(written: &Self::Written, around: &Around<'_>, check: &mut Check<'_>) -> Option<Self>;

    /// What the way back has if its key is absent and the way there has this.
    fn inherited(&self) -> Self {
        self.clone()
    }

    /// What is written in a file, to be read again as this. `forward` is the value of the way there, or this one if it is that.
    fn shown(&self, forward: &Self) -> Option<Self>
    where
        Self: Default + PartialEq,
    {
        [self, forward].iter().any(|value| **value != Self::default()).then(|| self.clone())
    }
}

/// A value that runs as it is written, whichever it is.
pub(crate) trait Plain: Clone {}

impl<T: Plain> Value for T {
    type Written = T;

    fn read(written: &T, _: &Around<'_>, _: &mut Check<'_>) -> Option<T> {
        Some(written.clone())
    }
}

/// What a value may depend on, beside what is written.
#[derive(Clone)]
pub struct Around<'a> {
    /// This direction's propagation delay, if it is given.
    pub delay: Option<Dur>,
    /// The link's propagation delay, there and back.
    pub round_trip: Dur,
    /// Of this direction, if its capacity has been read.
    pub mean_rate: Option<Rate>,
    /// The modulation and coding scheme of this direction, if it is given.
    pub mcs: Option<u32>,
    /// Its signal-to-noise ratio, if it is given and makes sense.
    pub snr: Option<Snr>,
    /// Its user in a cell, likewise.
    pub ue: Option<Ue>,
    pub media: &'a [Medium],
}
