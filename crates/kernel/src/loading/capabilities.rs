//! The capabilities that loading a program requires.

/// Bits of a capability set, from linux/capability.h.
const NEEDED: [(&str, u32); 3] = [("CAP_NET_ADMIN", 12), ("CAP_PERFMON", 38), ("CAP_BPF", 39)];
/// Linux 5.8 split two off it.
const ALL: (&str, u32) = ("CAP_SYS_ADMIN", 21);
const NEWEST: &str = "/proc/sys/kernel/cap_last_cap";

/// The capabilities that this process needs and lacks.
pub fn missing_capabilities() -> Option<String> {
    let status = std::fs::read_to_string("/proc/thread-self/status").ok()?;
    let effective = status.lines().find_map(|line| line.strip_prefix("CapEff:"))?;
    let newest = std::fs::read_to_string(NEWEST).ok()?.trim().parse().ok()?;
    missing_of(u64::from_str_radix(effective.trim(), 16).ok()?, newest)
}

/// `newest` is the highest bit that the kernel knows.
fn missing_of(effective: u64, newest: u32) -> Option<String> {
    let has = |bit: u32| effective >> bit & 1 == 1;
    let has_all = |bit: u32| has(bit) || (bit >= 38 && has(ALL.1));
    let known = |(name, bit): &(&'static str, u32)| if *bit > newest { ALL.0 } else { *name };
    let mut missing: Vec<_> = NEEDED.iter().filter(|(_, bit)| !has_all(*bit)).map(known).collect();
    missing.dedup();
    (!missing.is_empty()).then(|| missing.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_capabilities_are_named() {
        assert_eq!(missing_of(0, 40).unwrap(), "CAP_NET_ADMIN, CAP_PERFMON, CAP_BPF");
        assert_eq!(missing_of(1 << 12 | 1 << 21, 40), None);
        assert_eq!(missing_of(1 << 38 | 1 << 39, 40).unwrap(), "CAP_NET_ADMIN");
    }

    #[test]
    fn before_linux_5_8_there_is_one_for_all() {
        assert_eq!(missing_of(1 << 12, 37).unwrap(), "CAP_SYS_ADMIN");
        assert_eq!(missing_of(1 << 12 | 1 << 21, 37), None);
    }
}
