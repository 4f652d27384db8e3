use crate::cgroup::CgroupError;
use crate::loading::{Refusal, missing_capabilities};
use crate::namespace::NamespaceError;
use libbpf_rs::ErrorKind;
use std::io;
use std::path::{Path, PathBuf};

/// Why connections cannot be given a custom retransmission timer.
#[derive(Debug, thiserror::Error)]
pub enum RtoError {
    #[error("{0}")]
    Rule(String),
    #[error(transparent)]
    Cgroup(#[from] CgroupError),
    #[error(transparent)]
    Namespace(#[from] NamespaceError),
    #[error(
        "a factor: this kernel cannot set a connection's longest RTO (TCP_RTO_MAX_MS, Linux 6.15), through which it goes. airtcp's \
         own stack has the same timer: `airtcpd proxy run --wireless IFACE --wireless-stack own --wireless-scheme rto-m:m=10+gbn`; \
         --floor works here"
    )]
    NoFactor,
    #[error("the kernel rejects the program (`airtcpd doctor` shows what is missing): {0}")]
    Program(Refusal),
    #[error(
        "cannot attach the program to {0}: {1}; one of somebody else's that excludes others is in the way, there or above \
         (`bpftool cgroup tree` shows those without `multi`): detach that first"
    )]
    Exclusive(PathBuf, libbpf_rs::Error),
    #[error("missing {0}: run as root or with these capabilities")]
    Capability(String),
    #[error(transparent)]
    Sysctl(io::Error),
    #[error("{0}: {1}")]
    Io(String, io::Error),
    #[error("{0}")]
    Installed(String),
}

impl RtoError {
    /// An error about a file. Names what this process lacks, if that is why.
    pub(super) fn io(what: impl Into<String>, error: io::Error) -> RtoError {
        match missing_capabilities().filter(|_| error.kind() == io::ErrorKind::PermissionDenied) {
            Some(missing) => RtoError::Capability(missing),
            None => RtoError::Io(what.into(), error),
        }
    }

    /// The error if a cgroup refuses a loaded program.
    pub(super) fn attaching(self, cgroup: &Path) -> RtoError {
        match self {
            RtoError::Program(refusal) if refusal.source.kind() == ErrorKind::PermissionDenied => {
                RtoError::Exclusive(cgroup.to_owned(), refusal.source)
            }
            other => other,
        }
    }
}

/// Names what this process lacks, if that is why.
impl From<Refusal> for RtoError {
    fn from(refusal: Refusal) -> RtoError {
        missing_capabilities().map_or(RtoError::Program(refusal), RtoError::Capability)
    }
}

impl From<libbpf_rs::Error> for RtoError {
    fn from(source: libbpf_rs::Error) -> RtoError {
        Refusal::from(source).into()
    }
}
