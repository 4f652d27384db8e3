//! A controller in the kernel, whatever its origin: its counters and parameters.

use super::{CcError, Controller, Counters};
use libbpf_rs::{MapCore, MapFlags, MapHandle};
use std::collections::BTreeMap;

/// The only key of a controller's maps.
const KEY: [u8; 4] = [0; 4];

/// A controller in the kernel, to be read and changed.
pub struct Loaded {
    pub(super) controller: &'static Controller,
    pub(super) name: String,
    pub(super) counters: MapHandle,
    /// `None` if it has no parameters.
    pub(super) params: Option<MapHandle>,
}

impl Loaded {
    pub fn controller(&self) -> &'static Controller {
        self.controller
    }

    /// Its name in the kernel.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// # Errors
    /// The kernel refuses to read them.
    pub fn counters(&self) -> Result<Counters, CcError> {
        let failed = |source| CcError::refusal("read its counters", source);
        Ok(Counters::sum(
            &self.counters.lookup_percpu(&KEY, MapFlags::ANY).map_err(failed)?.unwrap_or_default(),
        ))
    }

    /// Changes a parameter, also for existing sockets.
    ///
    /// # Errors
    /// An unknown parameter, a value out of range, or out of order with another parameter's present value.
    /// Nothing changes then.
    pub fn set(&self, param: &str, value: f64) -> Result<(), CcError> {
        self.set_all(&BTreeMap::from([(param.to_owned(), value)]))
    }

    /// Changes several parameters, or none of them.
    ///
    /// # Errors
    /// As [`Loaded::set`].
    pub fn set_all(&self, changes: &BTreeMap<String, f64>) -> Result<(), CcError> {
        let now = self.params()?.into_iter().map(|(name, value)| (name.to_owned(), value));
        let values = self.controller.values(&now.chain(changes.clone()).collect())?;
        let Some(map) = &self.params else { return Ok(()) };
        let mut memory = memory(map)?;
        for field in &self.controller.fields {
            field.write(values.get(&field.name), &mut memory);
        }
        map.update(&KEY, &memory, MapFlags::ANY)
            .map_err(|source| CcError::refusal("change its parameters", source))
    }

    /// The present parameters, as exactly as the program stores them.
    ///
    /// # Errors
    /// The kernel refuses to read them.
    pub fn params(&self) -> Result<BTreeMap<&'static str, f64>, CcError> {
        let Some(map) = &self.params else { return Ok(BTreeMap::new()) };
        let memory = memory(map)?;
        let names = self.controller.params.iter().map(|param| param.name);
        Ok(names.zip(self.controller.fields.iter().map(|field| field.read(&memory))).collect())
    }

    /// Returns whether the maps are as this binary's programs have them. Another version's may not be.
    pub(super) fn is_of_this_version(&self) -> bool {
        let has_params = self.params.as_ref().map_or(0, |map| map.value_size() as usize);
        has_params == 4 * self.controller.fields.len()
            && self.counters.value_size() as usize == Counters::SIZE
    }
}

fn memory(params: &MapHandle) -> Result<Vec<u8>, CcError> {
    let found = params.lookup(&KEY, MapFlags::ANY);
    Ok(found.map_err(|source| CcError::refusal("read its parameters", source))?.unwrap_or_default())
}
