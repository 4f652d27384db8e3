//! What eBPF keeps in the kernel.

use libbpf_rs::query::{LinkInfoIter, MapInfoIter, ProgInfoIter};
use std::collections::BTreeSet;
use std::thread::sleep;
use std::time::Duration;

/// Kind and number of each.
pub fn all() -> BTreeSet<(&'static str, u32)> {
    let programs = ProgInfoIter::default().map(|program| ("program", program.id));
    let maps = MapInfoIter::default().map(|map| ("map", map.id));
    let links = LinkInfoIter::default().map(|link| ("link", link.id));
    programs.chain(maps).chain(links).collect()
}

/// Waits until all that is new since `before` is gone. The kernel takes things back in its own time, and other processes may
/// use eBPF for a moment.
#[allow(clippy::disallowed_methods, reason = "the kernel works in its own time")]
pub fn assert_none_since(before: &BTreeSet<(&'static str, u32)>) {
    for _ in 0..100 {
        if all().is_subset(before) {
            return;
        }
        sleep(Duration::from_millis(100));
    }
    panic!("left behind: {:?}", all().difference(before).collect::<Vec<_>>());
}
