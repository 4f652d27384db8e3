//! The control TCPs' window, told by a gateway's thread to that of the data TCPs.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// A window in packets of the data TCPs. Both ends have a clone.
#[derive(Clone, Default, Debug)]
pub struct ToldWindow(Arc<AtomicU32>);

impl ToldWindow {
    pub fn tell(&self, packets: u32) {
        self.0.store(packets, Ordering::Relaxed);
    }

    /// The last one told; `None` while there is no circuit, or nobody tells.
    pub fn heard(&self) -> Option<u32> {
        Some(self.0.load(Ordering::Relaxed)).filter(|packets| *packets > 0)
    }
}
