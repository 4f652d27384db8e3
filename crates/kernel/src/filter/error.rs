//! Why packets cannot be filtered.

use crate::loading::bpffs::MountError;
use crate::loading::{Refusal, missing_capabilities};
use crate::namespace::NamespaceError;
use std::io;

#[derive(Debug, thiserror::Error)]
pub enum FilterError {
    #[error("{0}")]
    Parameters(String),
    #[error("no interface `{0}` in this network namespace: see `ip link`")]
    NoInterface(String),
    #[error("{0} carries neither Ethernet frames nor plain IP packets")]
    Unsupported(String),
    #[error(
        "packet control is already attached to {0}: `airtcpd filter set {0}` changes it, `airtcpd filter detach {0}` removes it"
    )]
    Attached(String),
    #[error("no packet control is attached to {0}; `airtcpd filter list` shows where it is")]
    NotAttached(String),
    #[error(
        "this kernel has neither tcx hooks (Linux 6.6) nor the clsact qdisc (CONFIG_NET_SCH_INGRESS, CONFIG_NET_CLS_BPF): {0}"
    )]
    OldKernel(io::Error),
    #[error("this kernel has no tcx hooks: Linux 6.6 has them")]
    NoTcx,
    #[error(
        "{interface}: the queue is {queue}, and must be a FIFO: pfifo, bfifo, or tbf with nothing inside. For example: tc qdisc replace dev {interface} root tbf rate 10mbit burst 10kb limit 75kb"
    )]
    NoFifo { interface: String, queue: String },
    #[error("the kernel rejects the program (`airtcpd doctor` shows what is missing): {0}")]
    Program(Refusal),
    #[error("missing {0}: run as root or with these capabilities")]
    Capability(String),
    #[error("cannot {doing}: {source}")]
    Kernel { doing: String, source: libbpf_rs::Error },
    #[error("{0}: {1}")]
    Io(String, io::Error),
    #[error(transparent)]
    Mount(#[from] MountError),
    #[error(transparent)]
    Namespace(#[from] NamespaceError),
}

impl FilterError {
    /// For `map_err`, with what was being done.
    pub(crate) fn io(what: impl Into<String>) -> impl FnOnce(io::Error) -> FilterError {
        let what = what.into();
        |error| match missing_capabilities().filter(|_| error.kind() == io::ErrorKind::PermissionDenied) {
            Some(missing) => FilterError::Capability(missing),
            None => FilterError::Io(what, error),
        }
    }

    /// For `map_err` of the BPF library's errors.
    pub(crate) fn kernel(doing: impl Into<String>) -> impl FnOnce(libbpf_rs::Error) -> FilterError {
        let doing = doing.into();
        |source| match missing_capabilities() {
            Some(missing) => FilterError::Capability(missing),
            None => FilterError::Kernel { doing, source },
        }
    }
}

/// Names what this process lacks, if that is why.
impl From<Refusal> for FilterError {
    fn from(refusal: Refusal) -> FilterError {
        missing_capabilities().map_or(FilterError::Program(refusal), FilterError::Capability)
    }
}
