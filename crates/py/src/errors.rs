//! Exceptions.

use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyValueError};

create_exception!(
    airtcp._engine,
    ScenarioError,
    PyValueError,
    "A scenario, scheme or override is wrong; the message gives place, cause and fix."
);
create_exception!(airtcp._engine, Cancelled, PyException, "The run was stopped by its `CancelToken`.");
create_exception!(
    airtcp._engine,
    CaptureError,
    PyValueError,
    "A packet capture cannot be read, or contains no TCP transfer; the message says why."
);
create_exception!(
    airtcp._engine,
    ControllerError,
    PyException,
    "A hook of a Python congestion control failed; the message names it, with the traceback.\n\n`__cause__` is the hook's exception."
);
