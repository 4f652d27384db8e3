//! Makes some of the traffic use a controller without its programs asking for it: a cgroup's, a route's, a
//! namespace's.

mod cgroup;
mod default;
mod route;

pub use cgroup::InCgroup;
pub use default::AsDefault;
pub(super) use default::default_name;
pub use route::{OnRoute, Prefix};

use super::CcError;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::PathBuf;

/// The traffic that is to use a controller.
#[derive(Clone, Debug, PartialEq)]
pub enum Target {
    /// Connections that the processes of a v2 cgroup, or of one below it, open or accept from now on, unless
    /// their route has a locked controller.
    Cgroup(PathBuf),
    /// New connections over the route to exactly this prefix in this namespace's main table.
    Route(Prefix),
    /// New sockets of this namespace to which nothing else applies.
    Default,
}

/// What was done for a target, and what undoing it requires.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "to", rename_all = "lowercase")]
pub enum Applied {
    Cgroup(InCgroup),
    Route(OnRoute),
    Default(AsDefault),
}

/// What is to be done for a target. Does nothing yet.
///
/// # Errors
/// There is no such target.
pub(super) fn plan(target: &Target) -> Result<Vec<Applied>, CcError> {
    match target {
        Target::Cgroup(path) => Ok(vec![Applied::Cgroup(InCgroup::plan(path)?)]),
        Target::Route(prefix) => Ok(OnRoute::plan(prefix)?.into_iter().map(Applied::Route).collect()),
        Target::Default => Ok(vec![Applied::Default(AsDefault::plan()?)]),
    }
}

impl Applied {
    /// Returns whether both change the same thing.
    pub(super) fn clashes(&self, other: &Applied) -> bool {
        match (self, other) {
            (Applied::Cgroup(one), Applied::Cgroup(other)) => one.id == other.id,
            (Applied::Route(one), Applied::Route(other)) => one.is_same_route(other),
            (Applied::Default(one), Applied::Default(other)) => one.namespace == other.namespace,
            _ => false,
        }
    }

    pub(super) fn apply(&self, name: &str) -> Result<(), CcError> {
        match self {
            Applied::Cgroup(applied) => applied.apply(name),
            Applied::Route(applied) => applied.apply(name),
            Applied::Default(applied) => applied.apply(name),
        }
    }

    /// Returns whether there was something to undo: not if somebody else has changed it since, or it is gone.
    pub(super) fn undo(&self, name: &str) -> Result<bool, CcError> {
        match self {
            Applied::Cgroup(applied) => applied.undo(name),
            Applied::Route(applied) => applied.undo(name),
            Applied::Default(applied) => applied.undo(name),
        }
    }
}

impl fmt::Display for Applied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Applied::Cgroup(InCgroup { path, .. }) => write!(f, "cgroup {}", path.display()),
            Applied::Route(OnRoute { prefix, .. }) => write!(f, "route {prefix}"),
            Applied::Default(AsDefault { .. }) => f.write_str("the namespace's default"),
        }
    }
}
