use crate::cgroup::CgroupError;
use crate::namespace::NamespaceError;
use std::io;

/// Why connections cannot be given another retransmission timer.
#[derive(Debug, thiserror::Error)]
pub enum RtoError {
    #[error("{0}")]
    Rule(String),
    #[error(transparent)]
    Cgroup(#[from] CgroupError),
    #[error(transparent)]
    Namespace(#[from] NamespaceError),
    #[error("this kernel has no TCP_RTO_MAX_MS ({0}): Linux 6.15 or newer is needed")]
    OldKernel(io::Error),
    #[error("the kernel refuses the program: {0}; `airtcpd doctor` says what is missing")]
    Program(#[from] libbpf_rs::Error),
    #[error("not permitted: CAP_BPF and CAP_NET_ADMIN are needed; run as root")]
    NotPermitted,
    #[error("{0}: {1}")]
    Io(String, io::Error),
    #[error("{0}")]
    Installed(String),
}

impl RtoError {
    /// What libbpf reports, with the cure where the cause is plain.
    pub(super) fn from_libbpf(error: libbpf_rs::Error) -> RtoError {
        match error.kind() {
            libbpf_rs::ErrorKind::PermissionDenied => RtoError::NotPermitted,
            _ => RtoError::Program(error),
        }
    }
}
