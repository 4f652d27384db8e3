//! What loading a congestion control requires of the kernel.

use libbpf_rs::btf::Btf;
use libbpf_rs::btf::types::Struct;
use std::path::Path;

pub(super) const KERNEL_TYPES: &str = "/sys/kernel/btf/vmlinux";

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
    fn a_kernel_without_type_information_is_told() {
        assert!(missing_in(Path::new("/nowhere/vmlinux")).unwrap().contains("CONFIG_DEBUG_INFO_BTF"));
    }
}
