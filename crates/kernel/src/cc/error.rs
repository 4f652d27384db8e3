//! Why a controller could not be loaded, found or changed.

use airtcp_proto::cc::RegistryError;

#[derive(Debug, thiserror::Error)]
pub enum CcError {
    #[error("unknown congestion control `{name}`{}; airtcpd has: {known}", hint(.nearest))]
    UnknownController { name: String, nearest: Option<String>, known: String },
    #[error(transparent)]
    Params(#[from] RegistryError),
    #[error("`{0}` is no name for a congestion control: 1 to 15 letters, digits, `_` or `.`")]
    Name(String),
    #[error("the kernel has a congestion control `{0}` already")]
    Exists(String),
    #[error("{doing} needs root, or the capabilities {missing}")]
    Capability { doing: &'static str, missing: String },
    #[error("cannot {doing}: {source}{}", log_lines(.log))]
    Kernel { doing: String, source: libbpf_rs::Error, log: Vec<String> },
}

impl CcError {
    pub(super) fn libbpf(doing: &str, source: libbpf_rs::Error) -> CcError {
        CcError::Kernel { doing: doing.to_owned(), source, log: Vec::new() }
    }
}

fn hint(nearest: &Option<String>) -> String {
    nearest.as_ref().map(|name| format!(" (did you mean `{name}`?)")).unwrap_or_default()
}

fn log_lines(log: &[String]) -> String {
    log.iter().map(|line| format!("\n  {line}")).collect()
}
