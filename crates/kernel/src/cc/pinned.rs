//! Controllers that outlive the process that loaded them: pinned in the BPF file system.

use super::apply::{self, Applied, Target};
use super::hold;
use super::pins::{COUNTERS, FOLDER, PARAMS, folder, is_pinned};
use super::record::{self, LoadedController};
use super::{CcError, Loaded, Registered, Request, Unloaded, find, register};
use crate::loading::{self, bpffs};
use airtcp_wire::spelling::nearest;
use libbpf_rs::MapHandle;
use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::ops::Deref;
use std::path::PathBuf;

/// A pinned controller.
pub struct Pinned {
    loaded: Loaded,
    record: LoadedController,
}

impl Deref for Pinned {
    type Target = Loaded;

    fn deref(&self) -> &Loaded {
        &self.loaded
    }
}

/// Loads and pins controllers, and applies them to the targets: all of it, or nothing.
///
/// # Errors
/// [`CcError`]; nothing is left behind.
pub fn load(requests: &[Request], targets: &[Target]) -> Result<Vec<Pinned>, CcError> {
    let _lock = record::lock()?;
    clean()?;
    let registered = requests.iter().map(register).collect::<Result<Vec<_>, _>>()?;
    let names: Vec<_> = registered.iter().map(|registered| registered.name().to_owned()).collect();
    let pin = |registered| pin_and_apply(registered, targets);
    registered.into_iter().map(pin).collect::<Result<_, _>>().inspect_err(|_| {
        for name in &names {
            // Report the first error.
            let _ = remove(name, true);
        }
    })
}

/// All controllers that airtcpd has pinned.
///
/// # Errors
/// They cannot be read, or are another version's.
pub fn pinned() -> Result<Vec<Pinned>, CcError> {
    pinned_names()?.iter().map(|name| open(name)).collect()
}

/// Their names in the kernel, in alphabetical order.
///
/// # Errors
/// The BPF file system cannot be read.
pub fn pinned_names() -> Result<Vec<String>, CcError> {
    let mut names = folders()?;
    names.retain(|name| is_pinned(name));
    names.sort();
    Ok(names)
}

/// Opens a controller by its name in the kernel or its scheme's.
///
/// # Errors
/// [`CcError::NotLoaded`].
pub fn open(name: &str) -> Result<Pinned, CcError> {
    let name = loaded_name(name)?;
    let record = LoadedController::read(&name)?;
    let loaded = maps(&name, &record)?;
    match loaded.is_of_this_version() {
        true => Ok(Pinned { loaded, record }),
        false => Err(CcError::OtherVersion(name, record.version)),
    }
}

/// Changes parameters of a loaded controller, also for existing sockets.
///
/// # Errors
/// It is not loaded, or as [`Loaded::set`]. Nothing is changed.
pub fn set(name: &str, changes: &BTreeMap<String, f64>) -> Result<(), CcError> {
    let _lock = record::lock()?;
    open(name)?.set_all(changes)
}

/// Undoes what a controller was applied to, and removes it from the kernel. Sockets that use it keep it until
/// they close.
///
/// # Errors
/// It is not loaded, or something cannot be undone. Then it stays, applied to that alone, unless `is_forced`.
pub fn unload(name: &str, is_forced: bool) -> Result<Unloaded, CcError> {
    let _lock = record::lock()?;
    remove(&loaded_name(name)?, is_forced)
}

impl Pinned {
    /// What it is applied to.
    pub fn applied(&self) -> &[Applied] {
        &self.record.applied
    }

    /// Folder of its pins.
    pub fn folder(&self) -> PathBuf {
        folder(&self.name)
    }
}

fn folders() -> Result<Vec<String>, CcError> {
    let entries = match fs::read_dir(FOLDER) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) if error.kind() == ErrorKind::PermissionDenied => {
            record::check_capabilities()?;
            return Err(CcError::io(format!("read {FOLDER}"))(error));
        }
        entries => entries.map_err(CcError::io(format!("read {FOLDER}")))?,
    };
    Ok(entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect())
}

/// Removes what an airtcpd has left that was killed while loading or unloading.
fn clean() -> Result<(), CcError> {
    for name in folders()?.iter().filter(|name| !is_pinned(name)) {
        remove(name, true)?;
    }
    Ok(())
}

fn loaded_name(name: &str) -> Result<String, CcError> {
    let kernel_name = find(name).map_or(name, |controller| controller.kernel_name);
    if let Some(name) = [name, kernel_name].into_iter().find(|name| is_pinned(name)) {
        return Ok(name.to_owned());
    }
    let known = pinned_names()?;
    Err(CcError::NotLoaded {
        name: name.to_owned(),
        nearest: nearest(kernel_name, known.iter().map(String::as_str)),
        known: if known.is_empty() { "nothing".to_owned() } else { known.join(", ") },
    })
}

fn maps(name: &str, record: &LoadedController) -> Result<Loaded, CcError> {
    let open = |pin: &str| {
        let found = MapHandle::from_pinned_path(folder(name).join(pin));
        found.map_err(|source| CcError::refusal(format!("open the {pin} of `{name}`"), source))
    };
    let controller = find(&record.scheme)?;
    let has_params = folder(name).join(PARAMS).exists();
    let params = has_params.then(|| open(PARAMS)).transpose()?;
    Ok(Loaded { controller, name: name.to_owned(), counters: open(COUNTERS)?, params })
}

fn pin_and_apply(mut registered: Registered, targets: &[Target]) -> Result<Pinned, CcError> {
    bpffs::mount()?;
    let name = registered.name().to_owned();
    // The kernel has accepted the name, so whatever is here belongs to a controller that is gone.
    remove(&name, true)?;
    let scheme = registered.controller().scheme().to_owned();
    let mut record =
        LoadedController { scheme, version: env!("CARGO_PKG_VERSION").to_owned(), applied: Vec::new() };
    record.write(&name)?;
    loading::folder::make(&folder(&name))
        .map_err(CcError::io(format!("make {}", folder(&name).display())))?;
    pin(&mut registered).map_err(|source| CcError::refusal(format!("pin `{name}`"), source))?;
    for target in targets {
        let applied = apply::plan(target)?;
        refuse_clashes(&applied)?;
        record.applied.extend(applied);
    }
    // Recorded first, and then done, so that what a crash leaves can be undone.
    record.write(&name)?;
    for applied in &record.applied {
        applied.apply(&name)?;
    }
    Ok(Pinned { loaded: registered.loaded, record })
}

/// Refuses what others have changed already: undoing both in any order would leave a mess.
fn refuse_clashes(wanted: &[Applied]) -> Result<(), CcError> {
    for by in pinned_names()? {
        for applied in LoadedController::read(&by)?.applied {
            if wanted.iter().any(|wanted| wanted.clashes(&applied)) {
                return Err(CcError::Applied { target: applied.to_string(), by });
            }
        }
    }
    Ok(())
}

fn pin(registered: &mut Registered) -> libbpf_rs::Result<()> {
    let folder = folder(&registered.loaded.name);
    registered.loaded.counters.pin(folder.join(COUNTERS))?;
    if let Some(params) = &mut registered.loaded.params {
        params.pin(folder.join(PARAMS))?;
    }
    registered.hold.pin(&folder)
}

/// Undoes the last first. Keeps what cannot be undone.
fn undo(applied: &mut Vec<Applied>, unloaded: &mut Unloaded) {
    for index in (0..applied.len()).rev() {
        let undone = applied[index].undo(&unloaded.name);
        match undone {
            Ok(true) => unloaded.undone.push(applied[index].to_string()),
            Ok(false) => {}
            Err(error) => {
                unloaded.left.push(format!("{} could not be undone: {error}", applied[index]));
                continue;
            }
        }
        applied.remove(index);
    }
}

/// Removes whatever exists of `name`.
fn remove(name: &str, is_forced: bool) -> Result<Unloaded, CcError> {
    let mut record = LoadedController::read(name)?;
    let counters = maps(name, &record).and_then(|loaded| loaded.counters());
    let sockets = counters.ok().map(|counters| counters.sockets());
    let mut unloaded = Unloaded { name: name.to_owned(), sockets, ..Unloaded::default() };
    undo(&mut record.applied, &mut unloaded);
    if !is_forced && !unloaded.left.is_empty() {
        record.write(name)?;
        return Err(CcError::Undo(unloaded));
    }
    let folder = folder(name);
    // First, because it reserves the name.
    hold::release(&folder).map_err(CcError::io(format!("unregister `{name}`")))?;
    let pins = fs::read_dir(&folder).into_iter().flatten().flatten().map(|pin| pin.path());
    for pin in pins {
        loading::remove(&pin).map_err(CcError::io(format!("remove {}", pin.display())))?;
    }
    let _ = fs::remove_dir(&folder);
    LoadedController::remove(name)?;
    unloaded.is_default = apply::default_name().is_ok_and(|default| default == name);
    Ok(unloaded)
}
