//! Python bindings of the lab, nothing else. `python/airtcp/_engine.pyi` documents them.

mod cancel;
mod capture;
mod catalogue;
mod control;
mod errors;
mod quantities;
mod record;
mod scenario;
mod values;

use pyo3::prelude::*;

#[pymodule]
mod _engine {
    #[pymodule_export]
    use super::cancel::CancelToken;
    #[pymodule_export]
    use super::capture::read_capture;
    #[pymodule_export]
    use super::catalogue::{profiles, schema, scheme_keys, schemes, version};
    #[pymodule_export]
    use super::control::{Ack, Loss, Window};
    #[pymodule_export]
    use super::errors::{Cancelled, CaptureError, ControllerError, ScenarioError};
    #[pymodule_export]
    use super::quantities::{rate_in_bps, size_in_bytes, time_in_seconds};
    #[pymodule_export]
    use super::record::Record;
    #[pymodule_export]
    use super::scenario::{Scenario, restore_scenario};
}
