//! Congestion controls written in Python.
//!
//! A [`Class`] is what the user has written; each connection's sender has an object of it ([`hooks`]),
//! whose base is [`Window`]. The first error in a hook ends the run ([`fault`]).

mod class;
mod fault;
mod heard;
mod hooks;
mod signals;
mod window;

pub use class::{Class, Run, classes, name};
pub use signals::{Ack, Loss};
pub use window::Window;

use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};

fn is_list(value: &Bound<'_, PyAny>) -> bool {
    value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>()
}
