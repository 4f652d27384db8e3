//! Stops runs from another thread, even inside a user's Python code.

use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyType;
use std::os::raw::c_long;
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
    /// The flag that the engine polls.
    pub fn flag(&self) -> Arc<AtomicBool> {
        self.flag.clone()
    }

    pub fn is_cancelled(&self) -> bool {
        self.flag.load(Ordering::Relaxed)
    }

    /// Lets `cancel` interrupt Python code on `thread`, too.
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

    /// Makes every run that holds this token end soon, with `Cancelled`.
    ///
    /// In a run whose Python congestion control is in a hook, KeyboardInterrupt is raised there. If the
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

    /// Whether it has been cancelled.
    #[getter]
    fn cancelled(&self) -> bool {
        self.is_cancelled()
    }
}

/// The thread of a run, as the interpreter identifies it. Its state changes only while the GIL is held.
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

    /// Marks the beginning of interruptible Python code.
    pub fn enter(&self, _py: Python<'_>) {
        self.is_in_hook.store(true, Ordering::Relaxed);
    }

    /// Marks its end. A pending interrupt must not hit what this thread does next, so it is raised here.
    pub fn leave(&self, py: Python<'_>) {
        self.is_in_hook.store(false, Ordering::Relaxed);
        if self.is_interrupted.swap(false, Ordering::Relaxed) {
            // Not withdrawn: then CPython 3.11 would look for it for ever, and hang once anybody traces.
            _ = py.eval(c"None", None, None);
        }
    }

    fn interrupt(&self, py: Python<'_>) {
        if self.is_in_hook.load(Ordering::Relaxed) {
            self.is_interrupted.store(true, Ordering::Relaxed);
            // Not `Cancelled`, which code that catches every `Exception` would swallow.
            interrupt(self.ident, &py.get_type::<PyKeyboardInterrupt>());
        }
    }
}

#[allow(unsafe_code, reason = "the only way to interrupt a Python thread; who has the type holds the GIL")]
fn interrupt(thread: c_long, with: &Bound<'_, PyType>) {
    // A missing thread is no error.
    unsafe { ffi::PyThreadState_SetAsyncExc(thread, with.as_ptr()) };
}
