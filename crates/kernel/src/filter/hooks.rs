//! The hooks of the two programs on an interface: tcx, or, on a kernel that has none, filters of the clsact
//! qdisc.

use super::FilterError;
use super::clsact::Clsact;
use crate::loading::{Refusal, listening};
use libbpf_rs::{AsRawLibbpf, Link, ProgramMut, libbpf_sys};
use std::io;
use std::mem::size_of;
use std::ptr::NonNull;

/// Which hooks to take.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Hooks {
    /// tcx (Linux 6.6), else clsact.
    #[default]
    Newest,
    Clsact,
}

/// Programs on their hooks. Dropping this removes them.
pub enum Hold {
    Tcx([Link; 2]),
    Clsact(Clsact),
}

impl Hold {
    /// Attaches behind the existing programs of others: `data` where packets come in by the interface with this
    /// index, `acks` where they go out.
    pub fn take(
        hooks: Hooks,
        index: u32,
        data: &ProgramMut<'_>,
        acks: &ProgramMut<'_>,
    ) -> Result<Hold, FilterError> {
        if hooks == Hooks::Clsact {
            return Clsact::attach(index, data, acks).map(Hold::Clsact);
        }
        match attach_tcx(data, index) {
            Ok(data) => Ok(Hold::Tcx([data, attach_tcx(acks, index).map_err(FilterError::from)?])),
            // An older kernel does not know this kind of link.
            Err(refusal) if refusal.source.kind() == libbpf_rs::ErrorKind::InvalidInput => {
                Clsact::attach(index, data, acks).map(Hold::Clsact)
            }
            Err(refused) => Err(refused.into()),
        }
    }
}

/// Attaches a program where packets come in by the interface with this index, or go out, behind those of others.
#[allow(unsafe_code, reason = "libbpf-rs has no tcx")]
pub fn attach_tcx(program: &ProgramMut<'_>, index: u32) -> Result<Link, Refusal> {
    let options =
        libbpf_sys::bpf_tcx_opts { sz: size_of::<libbpf_sys::bpf_tcx_opts>() as u64, ..Default::default() };
    listening(|| {
        // SAFETY: the program is loaded, and the options live until the call returns.
        let link = unsafe {
            libbpf_sys::bpf_program__attach_tcx(
                program.as_libbpf_object().as_ptr(),
                index.cast_signed(),
                &raw const options,
            )
        };
        let link = NonNull::new(link).ok_or_else(|| libbpf_rs::Error::from(io::Error::last_os_error()))?;
        // SAFETY: libbpf has made it for us, and nobody else has it.
        Ok(unsafe { Link::from_ptr(link) })
    })
}
