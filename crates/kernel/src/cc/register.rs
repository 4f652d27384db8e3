//! Giving a controller to the kernel.

use super::libbpf::listening;
use super::{CcError, Controller, Counters};
use libbpf_rs::{ErrorKind, Link, MapCore, MapFlags, MapHandle, MapType, Object, ObjectBuilder, OpenObject};
use std::collections::BTreeMap;

/// Longest name of a congestion control, in bytes: the kernel's TCP_CA_NAME_MAX with its final zero is 16.
const NAME_MAX: usize = 15;

/// The only one of a controller's maps.
const KEY: [u8; 4] = [0; 4];

/// What to load.
pub struct Request {
    pub controller: &'static Controller,
    /// What the kernel is to call it; `None`: [`Controller::kernel_name`].
    pub name: Option<String>,
    /// Parameters that differ from their defaults.
    pub params: BTreeMap<String, f64>,
}

/// A controller that any program can select until this is dropped. Sockets that use it then keep it until they close.
pub struct Registered {
    pub(super) controller: &'static Controller,
    pub(super) name: String,
    pub(super) link: Link,
    pub(super) counters: MapHandle,
    /// `None`: it has no parameters.
    pub(super) params: Option<MapHandle>,
}

/// Gives a controller to the kernel.
///
/// # Errors
/// [`CcError`]; nothing is left behind.
pub fn register(request: &Request) -> Result<Registered, CcError> {
    let name = request.name.as_deref().unwrap_or(request.controller.kernel_name);
    check_name(name)?;
    let values = request.controller.values(&request.params)?;
    listening(|| {
        let mut open = ObjectBuilder::default().open_memory(request.controller.object)?;
        prepare(&mut open, request.controller, name, |param| values.get(param));
        attach(&mut open.load()?, request.controller, name)
    })
    .map_err(|(source, log)| refusal(name, source, log))
}

impl Registered {
    pub fn controller(&self) -> &'static Controller {
        self.controller
    }

    /// What the kernel calls it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// # Errors
    /// If the kernel refuses to read them.
    pub fn counters(&self) -> Result<Counters, CcError> {
        Counters::read(&self.counters)
    }

    /// Changes a parameter for sockets that there are, too.
    ///
    /// # Errors
    /// An unknown parameter or a value out of range.
    pub fn set(&self, param: &str, value: f64) -> Result<(), CcError> {
        self.controller.values(&BTreeMap::from([(param.to_owned(), value)]))?;
        let Some(map) = &self.params else { return Ok(()) };
        let mut memory = self.memory(map)?;
        for field in self.controller.fields.iter().filter(|field| field.name == param) {
            field.write(value, &mut memory);
        }
        map.update(&KEY, &memory, MapFlags::ANY)
            .map_err(|source| CcError::libbpf("change its parameters", source))
    }

    /// The parameters as they are now, as exactly as the program stores them.
    ///
    /// # Errors
    /// If the kernel refuses to read them.
    pub fn params(&self) -> Result<BTreeMap<&'static str, f64>, CcError> {
        let Some(map) = &self.params else { return Ok(BTreeMap::new()) };
        let memory = self.memory(map)?;
        let names = self.controller.params.iter().map(|param| param.name);
        Ok(names.zip(self.controller.fields.iter().map(|field| field.read(&memory))).collect())
    }

    fn memory(&self, params: &MapHandle) -> Result<Vec<u8>, CcError> {
        let found = params.lookup(&KEY, MapFlags::ANY);
        Ok(found.map_err(|source| CcError::libbpf("read its parameters", source))?.unwrap_or_default())
    }
}

fn check_name(name: &str) -> Result<(), CcError> {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
    let is_name = (1..=NAME_MAX).contains(&name.len()) && name.chars().all(is_allowed);
    if is_name { Ok(()) } else { Err(CcError::Name(name.to_owned())) }
}

/// Writes the name and the parameters into what will be loaded.
fn prepare(open: &mut OpenObject, controller: &Controller, name: &str, value: impl Fn(&str) -> f64) {
    for mut map in open.maps_mut() {
        let is_params = map.name().to_string_lossy().ends_with(".bss");
        let is_ops = map.map_type() == MapType::StructOps;
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

fn attach(object: &mut Object, controller: &'static Controller, name: &str) -> libbpf_rs::Result<Registered> {
    let (mut link, mut counters, mut params) = (None, None, None);
    for mut map in object.maps_mut() {
        if map.map_type() == MapType::StructOps {
            link = Some(map.attach_struct_ops()?);
        } else if map.name() == "counters" {
            counters = Some(MapHandle::try_from(&map)?);
        } else if map.name().to_string_lossy().ends_with(".bss") {
            params = Some(MapHandle::try_from(&map)?);
        }
    }
    let (link, counters) = link.zip(counters).expect("every controller has both");
    Ok(Registered { controller, name: name.to_owned(), link, counters, params })
}

fn refusal(name: &str, source: libbpf_rs::Error, log: Vec<String>) -> CcError {
    match source.kind() {
        ErrorKind::AlreadyExists => CcError::Exists(name.to_owned()),
        ErrorKind::PermissionDenied => CcError::Capability {
            doing: "loading a congestion control",
            missing: "CAP_BPF, CAP_PERFMON, CAP_NET_ADMIN".to_owned(),
        },
        _ => CcError::Kernel { doing: format!("load `{name}`"), source, log },
    }
}
