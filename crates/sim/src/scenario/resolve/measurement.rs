use crate::scenario::check::Check;
use crate::scenario::measurement::Measurement;

/// Checks that the measurement could be one of some scenario.
pub(super) fn measurement(written: &Measurement, check: &mut Check<'_>) {
    check.inside("measurement", |check| {
        if let Some([low, high]) = written.loss {
            check.refuse_if(
                !(0.0 <= low && low <= high && high <= 1.0),
                "loss",
                "must be two shares from 0 to 1, the lower one first",
            );
        }
    });
}
