//! What loading a congestion control requires.

use super::CcError;
use libbpf_rs::btf::Btf;
use libbpf_rs::btf::types::Struct;
use std::path::Path;

const KERNEL_TYPES: &str = "/sys/kernel/btf/vmlinux";

/// Bits of a capability set, from linux/capability.h.
const NEEDED: [(&str, u32); 3] = [("CAP_NET_ADMIN", 12), ("CAP_PERFMON", 38), ("CAP_BPF", 39)];

/// The capabilities that this process needs and lacks.
pub fn missing_capabilities() -> Option<String> {
    let status = std::fs::read_to_string("/proc/thread-self/status").ok()?;
    let effective = status.lines().find_map(|line| line.strip_prefix("CapEff:"))?;
    missing_of(u64::from_str_radix(effective.trim(), 16).ok()?)
}

/// # Errors
/// [`CcError::Capability`].
pub fn check_capabilities() -> Result<(), CcError> {
    missing_capabilities().map_or(Ok(()), |missing| Err(CcError::Capability(missing)))
}

/// CAP_SYS_ADMIN includes the two that Linux 5.8 split off it.
fn missing_of(effective: u64) -> Option<String> {
    let has = |bit: u32| effective >> bit & 1 == 1;
    let has_all = |bit: u32| has(bit) || (bit >= 38 && has(21));
    let missing: Vec<_> = NEEDED.iter().filter(|(_, bit)| !has_all(*bit)).map(|(name, _)| *name).collect();
    (!missing.is_empty()).then(|| missing.join(", "))
}

/// What the kernel lacks.
pub fn missing_in_kernel() -> Option<&'static str> {
    missing_in(Path::new(KERNEL_TYPES))
}

fn missing_in(types: &Path) -> Option<&'static str> {
    let Ok(btf) = Btf::from_path(types) else {
        return Some("no type information in /sys/kernel/btf (CONFIG_DEBUG_INFO_BTF)");
    };
    match btf.type_by_name::<Struct<'_>>("bpf_struct_ops_tcp_congestion_ops") {
        Some(_) => None,
        None => Some("no struct_ops for TCP (Linux 5.6 or newer with CONFIG_BPF_SYSCALL and CONFIG_BPF_JIT)"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_capabilities_are_named() {
        assert_eq!(missing_of(0).unwrap(), "CAP_NET_ADMIN, CAP_PERFMON, CAP_BPF");
        assert_eq!(missing_of(1 << 12 | 1 << 21), None);
        assert_eq!(missing_of(1 << 38 | 1 << 39).unwrap(), "CAP_NET_ADMIN");
    }

    #[test]
    fn a_kernel_without_type_information_is_told() {
        assert!(missing_in(Path::new("/nowhere/vmlinux")).unwrap().contains("CONFIG_DEBUG_INFO_BTF"));
    }
}
