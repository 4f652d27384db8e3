//! Congestion controls from outside this crate, beside those of the registry.
//!
//! A name missing from the registry may refer to a `Given`, supplied by the caller that parses the scheme
//! (`scheme::controllers`, `Scheme::parse_with`, `RunOptions::controllers`); the stack's configuration carries
//! it to where connections are created. `crates/py/src/control` makes one of each class that a user has written
//! in Python (`python/airtcp/control.py` is the base class): `Composed`, as for the native ones, around an
//! `Avoidance` that calls the hooks. A run holds the GIL only in hooks. After the first error, which is kept
//! (`fault.rs`), no hook is called, and the run ends at its next check.

use super::registry::{self, ControllerSpec, Param, RegistryError, Values};
use super::{Build, CongestionControl, unlimited};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// A congestion control from outside. [`crate::scheme::controllers`] checks its name.
pub trait Given: Send + Sync {
    fn name(&self) -> &str;

    fn params(&self) -> Vec<Param<'_>>;

    /// Called once for each sending end of each connection, after the handshake.
    fn build(&self, build: &Build, values: &Values) -> Box<dyn CongestionControl>;
}

/// The controllers of the registry, and those from outside.
#[derive(Clone, Default)]
pub struct Controllers(Arc<[Arc<dyn Given>]>);

impl Controllers {
    pub(crate) fn new(given: Vec<Arc<dyn Given>>) -> Controllers {
        Controllers(given.into())
    }

    /// Names of the controllers from outside.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|given| given.name())
    }

    /// Looks a controller up.
    ///
    /// # Errors
    /// [`RegistryError::UnknownController`] with the nearest name.
    pub fn find(&self, name: &str) -> Result<Controller, RegistryError> {
        if let Some(given) = self.0.iter().find(|given| given.name() == name) {
            return Ok(Controller::Given(given.clone()));
        }
        registry::find(name).map(Controller::Native).map_err(|error| match error {
            RegistryError::UnknownController { name, .. } => registry::unknown(&name, self.names()),
            other => other,
        })
    }

    /// The controller that a connection's configuration names, which may be [`unlimited`], too.
    pub(crate) fn find_or_unlimited(&self, name: &str) -> Result<Controller, RegistryError> {
        if name == unlimited::SPEC.name { Ok(Controller::Native(&unlimited::SPEC)) } else { self.find(name) }
    }
}

/// Two are equal if they hold the same objects.
impl PartialEq for Controllers {
    fn eq(&self, other: &Controllers) -> bool {
        self.0.len() == other.0.len()
            && self.0.iter().zip(&*other.0).all(|(one, other)| Arc::ptr_eq(one, other))
    }
}

impl fmt::Debug for Controllers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.names()).finish()
    }
}

/// A controller of the registry or from outside.
#[derive(Clone)]
pub enum Controller {
    Native(&'static ControllerSpec),
    Given(Arc<dyn Given>),
}

impl Controller {
    pub fn name(&self) -> &str {
        match self {
            Controller::Native(spec) => spec.name,
            Controller::Given(given) => given.name(),
        }
    }

    pub fn params(&self) -> Cow<'_, [Param<'_>]> {
        match self {
            Controller::Native(spec) => Cow::Borrowed(spec.params),
            Controller::Given(given) => Cow::Owned(given.params()),
        }
    }

    /// Keys of the stack that the controller needs, with their values.
    pub fn changes(&self) -> &'static [(&'static str, &'static str)] {
        match self {
            Controller::Native(spec) => spec.changes,
            Controller::Given(_) => &[],
        }
    }

    /// Checks `given` against the parameters and fills in the defaults.
    ///
    /// # Errors
    /// [`RegistryError`] for an unknown name or a value out of range.
    pub fn values(&self, given: &BTreeMap<String, f64>) -> Result<Values, RegistryError> {
        match self {
            Controller::Native(spec) => registry::values(spec, given),
            Controller::Given(controller) => {
                let owned = |name: &str| Cow::Owned(name.to_owned());
                registry::checked(controller.name(), &controller.params(), given, owned)
            }
        }
    }

    pub fn build(&self, build: &Build, values: &Values) -> Box<dyn CongestionControl> {
        match self {
            Controller::Native(spec) => (spec.build)(build, values),
            Controller::Given(given) => given.build(build, values),
        }
    }
}
