//! Packets that a link loses.

use super::value::{Around, Value};
use crate::scenario::check::Check;
use airtcp_proto::choice::Faults;
use airtcp_proto::path::Loss;

impl Value for Loss {
    type Written = Loss;

    fn read(written: &Loss, around: &Around<'_>, check: &mut Check<'_>) -> Option<Loss> {
        let mut loss = written.clone();
        around.mean_rate.into_iter().for_each(|rate| loss.at_rate(rate));
        let mut faults = Faults::default();
        loss.check(&mut faults);
        check.refuse_faults(faults);
        Some(loss)
    }

    /// As both directions share the medium, its bursts last as long on the way back.
    fn inherited(&self) -> Loss {
        Loss::inherited(self)
    }

    fn shown(&self, _: &Loss) -> Option<Loss> {
        Some(self.clone())
    }
}
