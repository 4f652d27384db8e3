//! The controllers inside this binary.

use super::CcError;
use super::ops::{Hook, hooks, offset};
use super::params::{self, Field};
use airtcp_proto::cc::registry::{self, ControllerSpec, Param, Values};
use airtcp_wire::spelling;
use libbpf_rs::btf::Btf;
use libbpf_rs::btf::types::Struct;
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// Names in the kernel, and the compiled programs.
const OBJECTS: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/controllers.rs"));

/// A congestion control that this binary can give to the kernel.
pub struct Controller {
    /// Its name in the kernel unless another one is given: the scheme's name with `_` for `-`.
    pub kernel_name: &'static str,
    /// The Rust controller that it equals.
    pub spec: &'static ControllerSpec,
    /// Those of its parameters that the kernel's form has.
    pub params: Vec<Param<'static>>,
    /// How the program stores them, in the same order.
    pub(super) fields: Vec<Field>,
    pub(super) object: &'static [u8],
    /// Members of the program's `tcp_congestion_ops`.
    pub(super) hooks: Vec<Hook>,
    /// Offset of the name in the program's `tcp_congestion_ops`, in bytes.
    pub(super) name_at: usize,
}

/// All controllers, in alphabetical order.
pub fn controllers() -> &'static [Controller] {
    static CONTROLLERS: OnceLock<Vec<Controller>> = OnceLock::new();
    CONTROLLERS.get_or_init(|| OBJECTS.iter().map(|&(name, object)| Controller::new(name, object)).collect())
}

/// Finds a controller by the scheme's name or the kernel's.
///
/// # Errors
/// [`CcError::UnknownController`] with the nearest name.
pub fn find(name: &str) -> Result<&'static Controller, CcError> {
    let found =
        controllers().iter().find(|controller| name == controller.scheme() || name == controller.kernel_name);
    found.ok_or_else(|| {
        let known: Vec<_> = controllers().iter().map(Controller::scheme).collect();
        CcError::UnknownController {
            name: name.to_owned(),
            nearest: spelling::nearest(name, known.iter().copied()),
            known: known.join(", "),
        }
    })
}

impl Controller {
    fn new(kernel_name: &'static str, object: &'static [u8]) -> Controller {
        let spec = registry::find(&kernel_name.replace('_', "-")).expect("a controller of the registry");
        let btf = Btf::from_raw(kernel_name, object).ok().flatten().expect("an object with type information");
        let fields = match btf.type_by_name::<Struct>(&format!("{kernel_name}_params")) {
            Some(members) => params::fields(&members),
            None => Vec::new(),
        };
        let param = |field: &Field| {
            let known = spec.params.iter().find(|param| param.name == field.name);
            *known
                .unwrap_or_else(|| panic!("{kernel_name}: `{}` is no parameter of the registry", field.name))
        };
        Controller {
            kernel_name,
            spec,
            params: fields.iter().map(param).collect(),
            fields,
            object,
            hooks: hooks(&btf),
            name_at: name_offset(&btf),
        }
    }

    /// The scheme's name.
    pub fn scheme(&self) -> &'static str {
        self.spec.name
    }

    /// Content of the program's struct of parameters with those `given`, and defaults for the others.
    ///
    /// # Errors
    /// An unknown parameter, a value out of range, or two that are out of order.
    pub fn stored(&self, given: &BTreeMap<String, f64>) -> Result<Vec<u32>, CcError> {
        let values = self.values(given)?;
        Ok(self.fields.iter().map(|field| field.encode(values.get(&field.name))).collect())
    }

    /// Checks `given` and fills in the defaults.
    pub(super) fn values(&self, given: &BTreeMap<String, f64>) -> Result<Values, CcError> {
        Ok(registry::check(self.spec, &self.params, given)?)
    }
}

fn name_offset(btf: &Btf<'_>) -> usize {
    let ops = btf.type_by_name::<Struct>("tcp_congestion_ops").expect("a congestion control");
    let name = ops.iter().find(|member| member.name.is_some_and(|name| name == "name")).expect("a name");
    offset(name.attr)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_controller_is_one_of_the_registry_and_its_parameters_fit() {
        for controller in controllers() {
            assert!(controller.kernel_name.len() <= 15);
            for (param, field) in controller.params.iter().zip(&controller.fields) {
                for value in [param.min, param.default, param.max] {
                    let stored = field.decode(field.encode(value));
                    let place = format!("{} {} {value}", controller.kernel_name, param.name);
                    assert!((stored - value).abs() <= field.resolution() / 2.0, "{place}");
                    assert!((param.min..=param.max).contains(&stored), "{place}: {stored}");
                }
            }
        }
    }

    #[test]
    fn both_spellings_are_known_and_others_get_the_nearest() {
        for controller in controllers() {
            assert!(std::ptr::eq(find(controller.scheme()).unwrap(), controller));
            assert!(std::ptr::eq(find(controller.kernel_name).unwrap(), controller));
        }
        assert!(find("venno").err().unwrap().to_string().contains("did you mean `veno`?"));
    }
}
