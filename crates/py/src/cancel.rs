//! Stopping runs from another thread, also where they are in the middle of a user's Python.

use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::ffi;
use pyo3::prelude::*;
use std::os::raw::c_long;
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, Weak};

/// Stops runs from another thread.
#[pyclass(frozen, module = "airtcp._engine")]
#[derive(Default)]
pub struct CancelToken {
    flag: Arc<AtomicBool>,
    threads: Mutex<Vec<Weak<Thread>>>,
}

impl CancelToken {
    /// What the engine looks at.
    pub fn flag(&self) -> Arc<AtomicBool> {
        self.flag.clone()
    }

    pub fn is_cancelled(&self) -> bool {
        self.flag.load(Ordering::Relaxed)
    }

    /// What `thread` does in Python ends with the runs.
    pub fn watch(&self, thread: &Arc<Thread>) {
        if let Ok(mut threads) = self.threads.lock() {
            threads.retain(|thread| thread.strong_count() > 0);
            threads.push(Arc::downgrade(thread));
        }
    }
}

#[pymethods]
impl CancelToken {
    #[new]
    fn new() -> CancelToken {
        CancelToken::default()
    }

    /// Every run that holds this token ends soon, with `Cancelled`.
    ///
    /// Where one is in a hook of a congestion control in Python, KeyboardInterrupt is raised there. If the
    /// hook catches that, call this again.
    fn cancel(&self, py: Python<'_>) {
        self.flag.store(true, Ordering::Relaxed);
        let threads: Vec<_> = self
            .threads
            .lock()
            .map(|threads| threads.iter().filter_map(Weak::upgrade).collect())
            .unwrap_or_default();
        threads.iter().for_each(|thread| thread.interrupt(py));
    }

    /// Has it been cancelled?
    #[getter]
    fn cancelled(&self) -> bool {
        self.is_cancelled()
    }
}

/// The thread of a run, as the interpreter knows it. What it says changes only while the GIL is held.
pub struct Thread {
    ident: c_long,
    is_in_hook: AtomicBool,
    is_interrupted: AtomicBool,
}

impl Thread {
    pub fn current(py: Python<'_>) -> PyResult<Thread> {
        let ident = py.import("threading")?.call_method0("get_ident")?.extract()?;
        Ok(Thread { ident, is_in_hook: AtomicBool::new(false), is_interrupted: AtomicBool::new(false) })
    }

    /// Python code begins that may be interrupted.
    pub fn enter(&self, _py: Python<'_>) {
        self.is_in_hook.store(true, Ordering::Relaxed);
    }

    /// It is over. An interrupt that it has not noticed must not hit what this thread does next.
    pub fn leave(&self, _py: Python<'_>) {
        self.is_in_hook.store(false, Ordering::Relaxed);
        if self.is_interrupted.swap(false, Ordering::Relaxed) {
            set_async_exception(self.ident, ptr::null_mut());
        }
    }

    fn interrupt(&self, py: Python<'_>) {
        if self.is_in_hook.load(Ordering::Relaxed) {
            self.is_interrupted.store(true, Ordering::Relaxed);
            // Not Cancelled: what catches every Exception must not swallow it.
            set_async_exception(self.ident, py.get_type::<PyKeyboardInterrupt>().as_ptr());
        }
    }
}

#[allow(unsafe_code, reason = "the only way to interrupt a Python thread; both callers hold the GIL")]
fn set_async_exception(thread: c_long, exception: *mut ffi::PyObject) {
    // A thread that is not there is no error.
    unsafe { ffi::PyThreadState_SetAsyncExc(thread, exception) };
}
