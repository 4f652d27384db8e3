//! Stopping runs from another thread.

use pyo3::prelude::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

#[pyclass(frozen, module = "airtcp._engine")]
#[derive(Default)]
pub struct CancelToken(Arc<AtomicBool>);

impl CancelToken {
    /// What the engine looks at.
    pub fn flag(&self) -> Arc<AtomicBool> {
        self.0.clone()
    }
}

#[pymethods]
impl CancelToken {
    #[new]
    fn new() -> CancelToken {
        CancelToken::default()
    }

    fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    #[getter]
    fn cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
