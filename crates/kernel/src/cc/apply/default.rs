//! A namespace's default: its sysctl.

use crate::cc::CcError;
use crate::namespace::NamespaceId;
use serde::{Deserialize, Serialize};
use std::fs;

const SYSCTL: &str = "/proc/sys/net/ipv4/tcp_congestion_control";

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AsDefault {
    pub(super) namespace: NamespaceId,
    /// The default before.
    pub previous: String,
}

impl AsDefault {
    pub(super) fn plan() -> Result<AsDefault, CcError> {
        Ok(AsDefault { namespace: NamespaceId::current()?, previous: default_name()? })
    }

    pub(super) fn apply(&self, name: &str) -> Result<(), CcError> {
        write(name)
    }

    pub(super) fn undo(&self, name: &str) -> Result<bool, CcError> {
        let undone = self.namespace.within(|| {
            let is_ours = default_name()? == name;
            if is_ours {
                write(&self.previous)?;
            }
            Ok(is_ours)
        });
        undone.map(Option::unwrap_or_default)
    }
}

/// What sockets of the calling thread's namespace use if they do not ask for another.
pub(in crate::cc) fn default_name() -> Result<String, CcError> {
    let text = fs::read_to_string(SYSCTL).map_err(CcError::io(format!("read {SYSCTL}")))?;
    Ok(text.trim_end().to_owned())
}

fn write(name: &str) -> Result<(), CcError> {
    fs::write(SYSCTL, name).map_err(CcError::io(format!("set {SYSCTL} to {name}")))
}
