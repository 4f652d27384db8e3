//! Whatever a stranger sends into a live transfer, without knowing its numbers: both ends deliver every byte once, in order
//! and unchanged. One who knows them makes no end break its own bounds.

#![no_main]

#[path = "../../crates/proto/tests/common/mod.rs"]
mod common;

use common::siege::{Stranger, besiege};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    besiege(data, Stranger::OffPath);
    besiege(data, Stranger::OnPath);
});
