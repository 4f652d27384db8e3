//! What keeps a controller registered: a link, or, before Linux 6.4, its map alone.

use super::pins::{LINK, OPS};
use super::unpinned::{Unpinned, unregister};
use crate::loading;
use libbpf_rs::{Link, MapCore, MapHandle, MapMut, Result};
use std::io;
use std::path::Path;

/// Unregisters when it is dropped, unless it is pinned.
pub(super) enum Hold {
    Link(Link),
    Map(Registered),
}

/// A map that an update has registered. Deleting from it unregisters.
pub(super) struct Registered {
    map: MapHandle,
    /// `None` once it is pinned.
    unpinned: Option<Unpinned>,
}

impl Hold {
    /// Registers the controller of a loaded map, under its name.
    pub fn take(map: &mut MapMut<'_>, has_links: bool, name: &str) -> Result<Hold> {
        if has_links {
            return map.attach_struct_ops().map(Hold::Link);
        }
        let handle = MapHandle::try_from(&*map)?;
        let unpinned = Some(Unpinned::record(handle.info()?.info.id, name)?);
        // No link of the kernel's; it would unregister by a descriptor that closes with the object.
        map.attach_struct_ops()?.disconnect();
        Ok(Hold::Map(Registered { map: handle, unpinned }))
    }

    pub fn pin(&mut self, folder: &Path) -> Result<()> {
        match self {
            Hold::Link(link) => link.pin(folder.join(LINK)),
            Hold::Map(registered) => {
                registered.map.pin(folder.join(OPS))?;
                registered.unpinned = None;
                Ok(())
            }
        }
    }
}

impl Drop for Registered {
    fn drop(&mut self) {
        if self.unpinned.is_some() {
            let _ = unregister(&self.map);
        }
    }
}

/// Unregisters what is pinned in a folder, if anything is.
pub(super) fn release(folder: &Path) -> io::Result<()> {
    let pin = folder.join(OPS);
    if pin.exists() {
        unregister(&MapHandle::from_pinned_path(&pin).map_err(io::Error::other)?)?;
        loading::remove(&pin)?;
    }
    loading::remove(&folder.join(LINK)).map(drop)
}

#[cfg(test)]
mod tests {
    use super::super::ops::Ops;
    use super::super::{available, find, unpinned};
    use super::*;
    use crate::loading::bpffs;
    use libbpf_rs::ObjectBuilder;
    use std::process::{self, Command};
    use std::sync::Mutex;
    use std::{env, fs};

    /// As on a kernel without links.
    fn registered() -> Hold {
        let veno = find("veno").unwrap();
        let mut open = ObjectBuilder::default().open_memory(veno.object).unwrap();
        let map = Ops { has_links: false, ..Ops::of_kernel().clone() }.fit(&mut open, &veno.hooks).unwrap();
        let mut object = open.load().unwrap();
        let mut map = object.maps_mut().find(|found| found.name() == map).unwrap();
        Hold::take(&mut map, false, "controller").unwrap()
    }

    fn is_there() -> bool {
        available().unwrap().iter().any(|(name, _)| name == "controller")
    }

    /// Both register a controller of the same name.
    static NAME: Mutex<()> = Mutex::new(());

    #[test]
    fn without_links_it_is_registered_until_it_is_dropped_or_its_pin_released() {
        if !nix::unistd::geteuid().is_root() || !bpffs::is_mounted() {
            return eprintln!("skipped: not root, or no BPF file system");
        }
        let _name = NAME.lock();
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

    #[test]
    #[ignore = "killed while it has registered a controller: the next test's child"]
    fn is_killed() {
        let _hold = registered();
        process::abort();
    }

    #[test]
    fn what_a_killed_process_has_left_is_unregistered_by_the_next() {
        if !nix::unistd::geteuid().is_root() {
            return eprintln!("skipped: not root");
        }
        let _name = NAME.lock();
        let mut child = Command::new(env::current_exe().unwrap());
        child.args(["--exact", "cc::hold::tests::is_killed", "--ignored"]);
        assert!(!child.output().unwrap().status.success());
        assert!(is_there(), "nothing else unregisters it");
        assert_eq!(unpinned::release().unwrap(), ["controller"]);
        assert!(!is_there());
        assert!(unpinned::release().unwrap().is_empty());
        let _living = registered();
        assert!(unpinned::release().unwrap().is_empty() && is_there());
    }
}
