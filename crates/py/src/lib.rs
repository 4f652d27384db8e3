//! Python bindings of the lab, nothing else. `python/airtcp/_engine.pyi` documents them.

mod cancel;
mod catalogue;
mod errors;
mod record;
mod scenario;

use pyo3::prelude::*;

#[pymodule]
mod _engine {
    #[pymodule_export]
    use super::cancel::CancelToken;
    #[pymodule_export]
    use super::catalogue::{profiles, schema, scheme_keys, schemes, version};
    #[pymodule_export]
    use super::errors::{Cancelled, ScenarioError};
    #[pymodule_export]
    use super::record::Record;
    #[pymodule_export]
    use super::scenario::Scenario;
}
