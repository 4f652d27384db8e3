//! Exceptions.

use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyValueError};

create_exception!(airtcp._engine, ScenarioError, PyValueError);
create_exception!(airtcp._engine, Cancelled, PyException);
create_exception!(airtcp._engine, CaptureError, PyValueError);
create_exception!(airtcp._engine, ControllerError, PyException);
