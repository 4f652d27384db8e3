//! Where controllers are pinned.

use std::path::{Path, PathBuf};

pub(super) const FOLDER: &str = "/sys/fs/bpf/airtcp/cc";
pub(super) const LINK: &str = "link";
/// In place of the link on a kernel that has none.
pub(super) const OPS: &str = "ops";
pub(super) const COUNTERS: &str = "counters";
pub(super) const PARAMS: &str = "params";

/// The folder of a controller's pins.
pub(super) fn folder(name: &str) -> PathBuf {
    Path::new(FOLDER).join(name)
}

pub(super) fn is_pinned(name: &str) -> bool {
    [LINK, OPS].iter().any(|pin| folder(name).join(pin).exists())
}
