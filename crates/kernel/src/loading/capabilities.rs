//! The capabilities that loading a program requires.

/// Bits of a capability set, from linux/capability.h.
const NEEDED: [(&str, u32); 3] = [("CAP_NET_ADMIN", 12), ("CAP_PERFMON", 38), ("CAP_BPF", 39)];

/// The capabilities that this process needs and lacks.
pub fn missing_capabilities() -> Option<String> {
    let status = std::fs::read_to_string("/proc/thread-self/status").ok()?;
    let effective = status.lines().find_map(|line| line.strip_prefix("CapEff:"))?;
    missing_of(u64::from_str_radix(effective.trim(), 16).ok()?)
}

/// CAP_SYS_ADMIN includes the two that Linux 5.8 split off it.
fn missing_of(effective: u64) -> Option<String> {
    let has = |bit: u32| effective >> bit & 1 == 1;
    let has_all = |bit: u32| has(bit) || (bit >= 38 && has(21));
    let missing: Vec<_> = NEEDED.iter().filter(|(_, bit)| !has_all(*bit)).map(|(name, _)| *name).collect();
    (!missing.is_empty()).then(|| missing.join(", "))
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
}
