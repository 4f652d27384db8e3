//! Adapts one connection's Python controller: calls its hooks, and leaves to the engine what the class
//! lacks.

use super::class::{Class, Parameter};
use super::fault::{Fault, Raised};
use super::heard::Heard;
use super::signals::{Ack, Loss};
use super::window::Window;
use airtcp_proto::cc::registry::Values;
use airtcp_proto::cc::slow_start::SlowStart;
use airtcp_proto::cc::{self, Avoidance, Cause, Congestion, Sent};
use airtcp_wire::{Rate, Time};
use pyo3::call::PyCallArgs;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A [`Sent`] of one octet is mostly a FIN.
const FIN: u64 = 1;

/// The object is created with the first data sent; an end that only receives has none.
#[derive(Clone)]
pub struct Adapter {
    class: Arc<Class>,
    fault: Arc<Fault>,
    heard: Arc<Heard>,
    values: Values,
    object: Option<Arc<Object>>,
}

struct Object {
    base: Py<Window>,
    /// Bound methods by [`Hook`]; none for hooks that the engine handles.
    hooks: [Option<Py<PyAny>>; HOOKS.len()],
    /// In bit/s; zero if not paced.
    pacing_rate: AtomicU64,
}

#[derive(Clone, Copy)]
pub enum Hook {
    Ack,
    Loss,
    Ecn,
    Timeout,
    EveryAck,
    SlowStart,
    Sent,
    RecoveryExit,
    Spurious,
    Restart,
}

/// Names of the hooks, in the order of [`Hook`].
pub const HOOKS: [&str; 10] = [
    "on_ack",
    "on_loss",
    "on_ecn",
    "on_timeout",
    "on_every_ack",
    "on_slow_start",
    "on_sent",
    "on_recovery_exit",
    "on_spurious",
    "on_restart",
];

impl Object {
    fn new(base: Bound<'_, Window>, class: &Class) -> PyResult<Object> {
        let mut hooks = [const { None }; HOOKS.len()];
        for (place, name) in hooks.iter_mut().zip(HOOKS) {
            if class.description.hooks.iter().any(|hook| hook == name) {
                *place = Some(base.getattr(name)?.unbind());
            }
        }
        Ok(Object { base: base.unbind(), hooks, pacing_rate: AtomicU64::new(0) })
    }

    fn hook(&self, hook: Hook) -> Option<&Py<PyAny>> {
        self.hooks[hook as usize].as_ref()
    }

    /// Applies a hook's changes to the sender; `event` is what the hook answers, if anything.
    fn end(&self, py: Python<'_>, window: &mut cc::Window, event: Option<&Congestion>) {
        let base = self.base.borrow(py);
        base.end(window, event);
        self.pacing_rate.store(base.pacing_rate().map_or(0, |rate| rate.0), Ordering::Relaxed);
    }
}

impl Adapter {
    pub fn new(class: Arc<Class>, fault: Arc<Fault>, heard: Arc<Heard>, values: Values) -> Adapter {
        Adapter { class, fault, heard, values, object: None }
    }

    /// Does `work` with the interpreter; an error ends the run.
    fn attach<T>(
        &self,
        hook: &'static str,
        now: Time,
        work: impl FnOnce(Python<'_>) -> PyResult<T>,
    ) -> Option<T> {
        if self.fault.is_raised() {
            return None;
        }
        // The interpreter may be shutting down, and the run with it.
        let result = Python::try_attach(|py| {
            self.fault.thread.enter(py);
            let result = work(py);
            self.fault.thread.leave(py);
            result
        })?;
        result
            .map_err(|error| {
                let controller = self.class.description.name.clone();
                self.fault.raise(Raised { controller, hook, now, error });
            })
            .ok()
    }

    /// Calls a hook with the arguments that `arguments` makes.
    fn call<A>(&self, now: Time, window: &mut cc::Window, hook: Hook, arguments: A)
    where
        A: for<'py> PyCallArgs<'py>,
    {
        self.call_to(None, now, window, hook, arguments);
    }

    /// As `call`; `event` is what the hook answers.
    fn call_to<A>(
        &self,
        event: Option<&Congestion>,
        now: Time,
        window: &mut cc::Window,
        hook: Hook,
        arguments: A,
    ) where
        A: for<'py> PyCallArgs<'py>,
    {
        let Some(object) = &self.object else { return };
        let Some(method) = object.hook(hook) else { return };
        let name = HOOKS[hook as usize];
        self.attach(name, now, |py| {
            object.base.borrow_mut(py).begin(now, window);
            let answer = method.bind(py).call1(arguments)?;
            if !answer.is_none() {
                let message = format!(
                    "{name} returned {}: hooks must return nothing and set self.cwnd instead",
                    answer.repr()?
                );
                return Err(PyTypeError::new_err(message));
            }
            object.end(py, window, event);
            self.heard.note(hook);
            Ok(())
        });
    }

    fn create(&mut self, now: Time, window: &mut cc::Window) {
        let object = self.attach("__init__", now, |py| {
            let kind = self.class.kind.bind(py);
            let object = kind.call_method1("__new__", (kind,))?;
            let base = object.cast::<Window>()?.clone();
            for parameter in &self.class.description.parameters {
                set(&object, parameter, self.values.get(&parameter.name))?;
            }
            base.borrow_mut().begin(now, window);
            object.call_method0("__init__")?;
            let object = Object::new(base, &self.class)?;
            object.end(py, window, None);
            self.heard.begin();
            Ok(Arc::new(object))
        });
        self.object = object;
    }
}

fn set(object: &Bound<'_, PyAny>, parameter: &Parameter, value: f64) -> PyResult<()> {
    let name = &parameter.name;
    match parameter.is_whole {
        true if value.fract() != 0.0 => {
            Err(PyValueError::new_err(format!("{name} = {value}: must be a whole number")))
        }
        true => object.setattr(name, value as i64),
        false => object.setattr(name, value),
    }
}

impl Avoidance for Adapter {
    fn observe(&mut self, ack: &cc::Ack, window: &mut cc::Window) {
        self.call(ack.now, window, Hook::EveryAck, (Ack::new(ack, ack.acked),));
    }

    fn slow_start(
        &mut self,
        ack: &cc::Ack,
        acked: u64,
        window: &mut cc::Window,
        slow_start: &mut SlowStart,
    ) -> u64 {
        match self.object.as_ref().and_then(|object| object.hook(Hook::SlowStart)) {
            None => slow_start.increase(acked, window, self.slow_start_gain()),
            Some(_) => {
                self.call(ack.now, window, Hook::SlowStart, (Ack::new(ack, acked),));
                0
            }
        }
    }

    fn increase(&mut self, ack: &cc::Ack, acked: u64, window: &mut cc::Window) {
        self.call(ack.now, window, Hook::Ack, (Ack::new(ack, acked),));
    }

    /// Returns nothing: `answer` calls the hooks.
    fn reduce(&mut self, _event: &Congestion, _window: &cc::Window) -> Option<u64> {
        None
    }

    fn answer(&mut self, event: &Congestion, window: &mut cc::Window) -> bool {
        let before = (window.cwnd, window.ssthresh);
        let hook = match event.cause {
            Cause::Loss => Hook::Loss,
            Cause::Ecn => Hook::Ecn,
            Cause::Timeout => Hook::Timeout,
        };
        self.call_to(Some(event), event.now, window, hook, (Loss(*event),));
        (window.cwnd, window.ssthresh) != before
    }

    /// Returns the window that `on_timeout` has set. A repeated timeout does not call it.
    fn loss_window(&self, event: &Congestion, window: &cc::Window) -> u64 {
        if event.is_repeated_timeout || self.object.is_none() { window.mss() } else { window.cwnd }
    }

    fn hears_sends(&self) -> bool {
        true
    }

    fn sent(&mut self, sent: &Sent, window: &mut cc::Window) {
        if self.object.is_none() && sent.bytes > FIN {
            self.create(sent.now, window);
        }
        self.call(sent.now, window, Hook::Sent, (sent.bytes, sent.in_flight));
    }

    fn restart(&mut self, now: Time, window: &mut cc::Window) {
        self.call(now, window, Hook::Restart, ());
    }

    fn recovered(&mut self, now: Time, window: &mut cc::Window) {
        self.call(now, window, Hook::RecoveryExit, ());
    }

    fn restored(&mut self, now: Time, window: &mut cc::Window) {
        self.call(now, window, Hook::Spurious, ());
    }

    fn pacing_rate(&self) -> Option<Rate> {
        let rate = self.object.as_ref().map_or(0, |object| object.pacing_rate.load(Ordering::Relaxed));
        self.class.description.is_paced.then_some(Rate(rate))
    }

    fn reads_rate(&self) -> bool {
        true
    }

    fn governs_recovery(&self) -> bool {
        self.class.description.governs_recovery
    }
}
