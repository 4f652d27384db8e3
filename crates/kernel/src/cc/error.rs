//! Why a controller could not be loaded, found, changed or applied.

use super::{Owner, Unloaded, missing_in_kernel};
use crate::cgroup::CgroupError;
use crate::loading::bpffs::MountError;
use crate::loading::{Refusal, missing_capabilities};
use crate::namespace::NamespaceError;
use airtcp_proto::cc::RegistryError;
use airtcp_wire::spelling::hint;
use std::io;

#[derive(Debug, thiserror::Error)]
pub enum CcError {
    #[error("unknown congestion control `{name}`{}; airtcpd has: {known}", hint(.nearest))]
    UnknownController { name: String, nearest: Option<String>, known: String },
    #[error(transparent)]
    Params(#[from] RegistryError),
    #[error("`{0}` is not a valid congestion control name: use 1 to 15 letters, digits and `_`")]
    Name(String),
    #[error("the kernel already has a congestion control `{name}`, from {owner}; {}", cure(.owner, .name))]
    Exists { name: String, owner: Owner },
    #[error("airtcpd has not loaded `{name}`{}; loaded: {known}", hint(.nearest))]
    NotLoaded { name: String, nearest: Option<String>, known: String },
    #[error("`{0}` was loaded by another version of airtcpd, {1}: unload it, and load it again")]
    OtherVersion(String, String),
    #[error("missing {0}: run as root or with these capabilities")]
    Capability(String),
    #[error("this kernel does not support eBPF congestion controls: {0}")]
    Unsupported(&'static str),
    #[error(
        "`{0}` sets the rate at which a socket paces, which this kernel lets no eBPF program do (Linux 6.0 does). airtcp's own \
         stack has it: `airtcpd proxy run --wireless IFACE --wireless-stack own --wireless-scheme SCHEME`; `airtcpd doctor` shows \
         which controllers this kernel takes"
    )]
    NoPacing(String),
    #[error("cannot {doing}: {refusal}")]
    Kernel { doing: String, refusal: Refusal },
    #[error("cannot {doing}: {source}")]
    Io { doing: String, source: io::Error },
    #[error("`{0}` is not an IPv4 prefix such as 10.1.0.0/16, 10.1.2.3 or default{1}")]
    Prefix(String, &'static str),
    #[error("there is no route to exactly {0} in this namespace's main table: see `ip route`")]
    NoRoute(String),
    #[error("{target} already uses `{by}`: unload that first")]
    Applied { target: String, by: String },
    #[error(transparent)]
    Mount(#[from] MountError),
    #[error(transparent)]
    Cgroup(#[from] CgroupError),
    #[error(transparent)]
    Namespace(#[from] NamespaceError),
    #[error("`{}` stays loaded because {}; use --force to unload it anyway{}", .0.name, .0.left.join("; "), undone(.0))]
    Undo(Unloaded),
}

impl CcError {
    /// For `map_err`, with what was being done.
    pub(super) fn io(doing: impl Into<String>) -> impl FnOnce(io::Error) -> CcError {
        let doing = doing.into();
        |source| CcError::Io { doing, source }
    }

    /// The error for a refusal of the kernel. Names what the kernel or this process lacks, if that is why.
    pub(super) fn refusal(doing: impl Into<String>, refusal: impl Into<Refusal>) -> CcError {
        if let Some(missing) = missing_capabilities() {
            return CcError::Capability(missing);
        }
        match missing_in_kernel() {
            Some(missing) => CcError::Unsupported(missing),
            None => CcError::Kernel { doing: doing.into(), refusal: refusal.into() },
        }
    }
}

fn cure(owner: &Owner, name: &str) -> String {
    match owner {
        Owner::Airtcpd => {
            format!("`airtcpd cc set {name}` changes its parameters, `airtcpd cc unload {name}` removes it")
        }
        _ => "load this one under a different name with --as".to_owned(),
    }
}

fn undone(unloaded: &Unloaded) -> String {
    unloaded.undone.iter().map(|target| format!("\n  undone: {target}")).collect()
}
