//! What keeps a controller registered: a link, or, before Linux 6.4, its map alone.

use super::pins::{LINK, OPS};
use crate::loading;
use libbpf_rs::{ErrorKind, Link, MapCore, MapHandle, MapMut, Result};
use std::io;
use std::path::Path;

const KEY: [u8; 4] = [0; 4];

/// Unregisters when it is dropped, unless it is pinned.
pub(super) enum Hold {
    Link(Link),
    Map(Registered),
}

/// A map that an update has registered. Deleting from it unregisters.
pub(super) struct Registered {
    map: MapHandle,
    is_pinned: bool,
}

impl Hold {
    /// Registers the controller of a loaded map.
    pub fn take(map: &mut MapMut<'_>, has_links: bool) -> Result<Hold> {
        let handle = MapHandle::try_from(&*map)?;
        let mut link = map.attach_struct_ops()?;
        if has_links {
            return Ok(Hold::Link(link));
        }
        // No link of the kernel's; it would unregister by a descriptor that closes with the object.
        link.disconnect();
        Ok(Hold::Map(Registered { map: handle, is_pinned: false }))
    }

    pub fn pin(&mut self, folder: &Path) -> Result<()> {
        match self {
            Hold::Link(link) => link.pin(folder.join(LINK)),
            Hold::Map(registered) => {
                registered.map.pin(folder.join(OPS))?;
                registered.is_pinned = true;
                Ok(())
            }
        }
    }
}

impl Drop for Registered {
    fn drop(&mut self) {
        if !self.is_pinned {
            let _ = self.map.delete(&KEY);
        }
    }
}

/// Unregisters what is pinned in a folder, if anything is.
pub(super) fn release(folder: &Path) -> io::Result<()> {
    let pin = folder.join(OPS);
    if pin.exists() {
        let unregistered = MapHandle::from_pinned_path(&pin).and_then(|map| map.delete(&KEY));
        unregistered.or_else(|error| match error.kind() {
            ErrorKind::NotFound => Ok(()),
            _ => Err(io::Error::other(error)),
        })?;
        loading::remove(&pin)?;
    }
    loading::remove(&folder.join(LINK)).map(drop)
}

#[cfg(test)]
mod tests {
    use super::super::ops::Ops;
    use super::super::{available, find};
    use super::*;
    use crate::loading::bpffs;
    use libbpf_rs::ObjectBuilder;
    use std::fs;

    /// As on a kernel without links.
    fn registered() -> Hold {
        let veno = find("veno").unwrap();
        let mut open = ObjectBuilder::default().open_memory(veno.object).unwrap();
        let map = Ops { has_links: false, ..Ops::of_kernel().clone() }.fit(&mut open, &veno.hooks).unwrap();
        let mut object = open.load().unwrap();
        let mut map = object.maps_mut().find(|found| found.name() == map).unwrap();
        Hold::take(&mut map, false).unwrap()
    }

    #[test]
    fn without_links_it_is_registered_until_it_is_dropped_or_its_pin_released() {
        if !nix::unistd::geteuid().is_root() || !bpffs::is_mounted() {
            return eprintln!("skipped: not root, or no BPF file system");
        }
        let is_there = || available().unwrap().iter().any(|(name, _)| name == "controller");
        let hold = registered();
        assert!(is_there());
        drop(hold);
        assert!(!is_there());
        let folder = Path::new(bpffs::PLACE).join(format!("airtcp-hold-{}", std::process::id()));
        fs::create_dir(&folder).unwrap();
        let mut hold = registered();
        hold.pin(&folder).unwrap();
        drop(hold);
        assert!(is_there());
        release(&folder).unwrap();
        release(&folder).unwrap();
        assert!(!is_there());
        fs::remove_dir(&folder).unwrap();
    }
}
