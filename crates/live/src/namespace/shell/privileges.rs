//! The rights that this process keeps.

use crate::invoker::Invoker;
use crate::rights::be_nobody;
use caps::{CapSet, Capability};
use nix::sys::prctl;

/// Drops the rights that this process no longer needs. From then on it runs as the user who started sudo, or as
/// nobody, with the few capabilities that emulating and undoing take.
///
/// # Errors
/// The kernel's.
pub fn give_up(invoker: Option<&Invoker>, nat: bool) -> anyhow::Result<()> {
    // The emulator's thread asks for a real-time priority.
    let mut kept = vec![Capability::CAP_SYS_NICE];
    if nat {
        // To reset sysctls, and to remove the record of them.
        kept.extend([Capability::CAP_NET_ADMIN, Capability::CAP_DAC_OVERRIDE]);
    }
    prctl::set_keepcaps(true)?;
    match invoker {
        Some(invoker) => invoker.adopt()?,
        None => {
            be_nobody()?;
            // To end the command, whatever user it has become.
            kept.push(Capability::CAP_KILL);
        }
    }
    prctl::set_keepcaps(false)?;
    let permitted = caps::read(None, CapSet::Permitted)?;
    caps::clear(None, CapSet::Effective)?;
    for capability in permitted {
        if kept.contains(&capability) {
            caps::raise(None, CapSet::Effective, capability)?;
        } else {
            caps::drop(None, CapSet::Permitted, capability)?;
        }
    }
    Ok(())
}
