//! Registers controllers with the kernel.

use super::hold::Hold;
use super::ops::Ops;
use super::{CcError, Controller, Loaded, Owner, probe, record, unpinned};
use crate::loading::listening;
use libbpf_rs::{ErrorKind, MapCore, MapHandle, MapType, Object, ObjectBuilder, OpenObject};
use std::collections::BTreeMap;
use std::ops::Deref;

/// Longest name of a congestion control, in bytes: the kernel's TCP_CA_NAME_MAX with its final zero is 16.
const NAME_MAX: usize = 15;

/// The map of the constant `may_pace`.
const PACING: &str = ".rodata.pacing";

/// What to load.
pub struct Request {
    pub controller: &'static Controller,
    /// Its name in the kernel; `None` for [`Controller::kernel_name`].
    pub name: Option<String>,
    /// Parameters that differ from their defaults.
    pub params: BTreeMap<String, f64>,
}

impl Request {
    /// Its name in the kernel.
    pub fn name(&self) -> &str {
        self.name.as_deref().unwrap_or(self.controller.kernel_name)
    }

    /// # Errors
    /// No kernel accepts the name or the parameters.
    pub fn check(&self) -> Result<(), CcError> {
        check_name(self.name())?;
        self.controller.values(&self.params).map(drop)
    }
}

/// A controller that any program can select until this value is dropped. Sockets that use it then keep it until
/// they close.
pub struct Registered {
    pub(super) loaded: Loaded,
    pub(super) hold: Hold,
}

impl Deref for Registered {
    type Target = Loaded;

    fn deref(&self) -> &Loaded {
        &self.loaded
    }
}

/// Registers a controller with the kernel.
///
/// # Errors
/// [`CcError`]; nothing is left behind.
pub fn register(request: &Request) -> Result<Registered, CcError> {
    let name = request.name();
    check_name(name)?;
    // If it cannot, and this name is taken, the kernel says so.
    let _ = release_unpinned();
    let values = request.controller.values(&request.params)?;
    let register = |may_pace| {
        listening(|| {
            let mut open = ObjectBuilder::default().open_memory(request.controller.object)?;
            prepare(&mut open, request.controller, name, |param| values.get(param));
            set_pacing(&mut open, may_pace);
            let map = Ops::of_kernel().fit(&mut open, &request.controller.hooks)?;
            attach(&mut open.load()?, map, request.controller, name)
        })
    };
    let registered = register(true).or_else(|refusal| register(false).map_err(|_| refusal));
    registered.map_err(|refusal| match refusal.source.kind() {
        ErrorKind::AlreadyExists => CcError::Exists { name: name.to_owned(), owner: Owner::of(name) },
        _ if needs_pacing(request.controller) && probe::lacks_pacing() => CcError::NoPacing(name.to_owned()),
        _ => CcError::refusal(format!("load `{name}`"), refusal),
    })
}

/// Unregisters what airtcpds have left that were killed before they had pinned it, where the kernel does not do that by itself
/// (before Linux 6.4). Returns the names.
///
/// # Errors
/// Missing rights; what the kernel refuses.
pub fn release_unpinned() -> Result<Vec<String>, CcError> {
    record::check_capabilities()?;
    unpinned::release().map_err(CcError::io("unregister what a killed process has left"))
}

fn check_name(name: &str) -> Result<(), CcError> {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let is_name = (1..=NAME_MAX).contains(&name.len()) && name.chars().all(is_allowed);
    if is_name { Ok(()) } else { Err(CcError::Name(name.to_owned())) }
}

/// Writes the name and the parameters into the object before it is loaded.
fn prepare(open: &mut OpenObject, controller: &Controller, name: &str, value: impl Fn(&str) -> f64) {
    for mut map in open.maps_mut() {
        let (is_params, is_ops) =
            (is_params(map.name().as_encoded_bytes()), map.map_type() == MapType::StructOps);
        let Some(memory) = map.initial_value_mut() else { continue };
        if is_params {
            for field in &controller.fields {
                field.write(value(&field.name), memory);
            }
        } else if is_ops {
            let place = &mut memory[controller.name_at..][..=NAME_MAX];
            place.fill(0);
            place[..name.len()].copy_from_slice(name.as_bytes());
        }
    }
}

fn needs_pacing(controller: &Controller) -> bool {
    let object = ObjectBuilder::default().open_memory(controller.object);
    object.is_ok_and(|object| !object.maps().any(|map| map.name() == PACING))
}

/// Tells a controller that can do without whether it may write the fields by which a socket paces.
fn set_pacing(open: &mut OpenObject, may_pace: bool) {
    for mut map in open.maps_mut().filter(|map| map.name() == PACING) {
        map.initial_value_mut().into_iter().for_each(|memory| memory.fill(u8::from(may_pace)));
    }
}

fn attach(
    object: &mut Object,
    ops: &str,
    controller: &'static Controller,
    name: &str,
) -> libbpf_rs::Result<Registered> {
    let (mut hold, mut counters, mut params) = (None, None, None);
    for mut map in object.maps_mut() {
        if map.name() == ops {
            hold = Some(Hold::take(&mut map, Ops::of_kernel().has_links, name)?);
        } else if map.name() == "counters" {
            counters = Some(MapHandle::try_from(&map)?);
        } else if is_params(map.name().as_encoded_bytes()) {
            params = Some(MapHandle::try_from(&map)?);
        }
    }
    let (hold, counters) = hold.zip(counters).expect("every controller has both");
    Ok(Registered { loaded: Loaded { controller, name: name.to_owned(), counters, params }, hold })
}

/// libbpf names the map of a section after the object and the section.
fn is_params(map: &[u8]) -> bool {
    map.ends_with(b".bss")
}
