//! Ends a run whose Python controllers fail.

use crate::cancel::Thread;
use crate::errors::{Cancelled, ControllerError};
use airtcp_wire::Time;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

/// The first error of a run, and the run's thread in the interpreter.
pub struct Fault {
    raised: Mutex<Option<Raised>>,
    flag: Arc<AtomicBool>,
    pub thread: Arc<Thread>,
}

pub struct Raised {
    /// The controller's name, and the hook that failed.
    pub controller: String,
    pub hook: &'static str,
    pub now: Time,
    pub error: PyErr,
}

impl Raised {
    /// Returns the exception of a run that was stopped in this hook.
    pub fn into_cancelled(self) -> PyErr {
        Cancelled::new_err(format!("{} was running{}", self.place(), self.when()))
    }

    fn place(&self) -> String {
        format!("{}: {}", self.controller, self.hook)
    }

    fn when(&self) -> String {
        format!(" at {} s of simulated time", self.now.as_secs_f64())
    }

    /// Returns the run's exception; an interrupt is not reported as an error of the controller.
    pub fn into_error(self, py: Python<'_>) -> PyResult<PyErr> {
        let (place, when) = (self.place(), self.when());
        let error = self.error;
        if error.is_instance_of::<PyKeyboardInterrupt>(py) {
            return Ok(error);
        }
        let raised = (error.get_type(py), error.value(py), error.traceback(py));
        let lines = py.import("traceback")?.call_method1("format_exception", raised)?;
        let text: Vec<String> = lines.extract()?;
        let failure = format!("{place} failed{when}\n{}", text.concat());
        let raised = ControllerError::new_err(failure.trim_end().to_owned());
        raised.set_cause(py, Some(error));
        Ok(raised)
    }
}

impl Fault {
    pub fn new(thread: Arc<Thread>) -> Fault {
        Fault { raised: Mutex::new(None), flag: Arc::default(), thread }
    }

    /// Ends the run.
    pub fn flag(&self) -> Arc<AtomicBool> {
        self.flag.clone()
    }

    pub fn is_raised(&self) -> bool {
        self.flag.load(Ordering::Relaxed)
    }

    pub fn raise(&self, raised: Raised) {
        self.flag.store(true, Ordering::Relaxed);
        if let Ok(mut first) = self.raised.lock() {
            first.get_or_insert(raised);
        }
    }

    pub fn take(&self) -> Option<Raised> {
        self.raised.lock().ok()?.take()
    }
}
