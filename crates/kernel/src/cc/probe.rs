//! Whether this kernel takes congestion controls.

use super::hold::Hold;
use super::ops::{Ops, fit};
use crate::loading::{Refusal, listening};
use crate::skeleton::probe::ProbeSkelBuilder;
use libbpf_rs::skel::{OpenSkel, SkelBuilder};
use std::mem::MaybeUninit;

/// In the kernel.
const NAME: &str = "airtcp_probe";

/// Registers a simple congestion control, and unregisters it.
///
/// # Errors
/// What the kernel refuses.
pub fn congestion_controls() -> Result<(), Refusal> {
    register(false)
}

/// Returns whether this kernel takes congestion controls, but none that paces (before Linux 6.0).
#[must_use]
pub fn lacks_pacing() -> bool {
    register(true).is_err() && register(false).is_ok()
}

fn register(paces: bool) -> Result<(), Refusal> {
    let mut object = MaybeUninit::uninit();
    listening(|| {
        let mut open = ProbeSkelBuilder::default().open(&mut object)?;
        if let Some(constants) = open.maps.rodata_data.as_deref_mut() {
            constants.paces = paces;
        }
        fit(&mut open.maps.probe)?;
        Hold::take(&mut open.load()?.maps.probe, Ops::of_kernel().has_links, NAME).map(drop)
    })
}
