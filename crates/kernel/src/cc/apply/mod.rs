//! Letting some of the traffic use a controller without its programs asking: a cgroup's, a route's, a namespace's.

mod cgroup;
mod default;
mod route;
mod route_message;

pub use cgroup::InCgroup;
pub use default::AsDefault;
pub(super) use default::default_name;
pub use route::{OnRoute, Prefix};

use super::CcError;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::PathBuf;

/// What traffic.
#[derive(Clone, Debug, PartialEq)]
pub enum Target {
    /// Connections that the processes of a cgroup of version 2, or of those below it, open or accept from now on, unless
    /// their route has a locked one.
    Cgroup(PathBuf),
    /// Connections from now on over the route to exactly this prefix in this namespace's main table.
    Route(Prefix),
    /// Sockets of this namespace from now on that nothing else is said of.
    Default,
}

/// What was done for a target, with what it takes to undo it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "to", rename_all = "lowercase")]
pub enum Applied {
    Cgroup(InCgroup),
    Route(OnRoute),
    Default(AsDefault),
}

/// What is to be done for a target; nothing is yet.
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
    /// Do both change the same thing?
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
