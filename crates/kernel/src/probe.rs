//! What this kernel can do.

use crate::skeleton::probe::ProbeSkelBuilder;
use libbpf_rs::skel::{OpenSkel, SkelBuilder};
use std::mem::MaybeUninit;

/// Registers a congestion control made of the kernel's own Reno, and unregisters it.
///
/// # Errors
/// What the kernel refuses.
pub fn congestion_controls() -> Result<(), libbpf_rs::Error> {
    let mut object = MaybeUninit::uninit();
    let mut skeleton = ProbeSkelBuilder::default().open(&mut object)?.load()?;
    skeleton.maps.probe.attach_struct_ops().map(drop)
}
