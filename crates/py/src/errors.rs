//! Exceptions.

use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyValueError};

create_exception!(_engine, ScenarioError, PyValueError);
create_exception!(_engine, Cancelled, PyException);
