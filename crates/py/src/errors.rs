//! Exceptions.

use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyValueError};

create_exception!(
    airtcp._engine,
    ScenarioError,
    PyValueError,
    "A scenario, scheme or override is wrong: says where, what is allowed, what was probably meant."
);
create_exception!(airtcp._engine, Cancelled, PyException, "The run was stopped by its `CancelToken`.");
create_exception!(
    airtcp._engine,
    CaptureError,
    PyValueError,
    "A packet capture cannot be read, or no TCP transfer is in it: says why."
);
create_exception!(
    airtcp._engine,
    ControllerError,
    PyException,
    "A hook of a congestion control in Python failed: says which, and where, with the traceback. Its `__cause__` is the hook's exception."
);
