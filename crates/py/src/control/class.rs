//! A controller's class, as `airtcp.control` describes it.

use super::fault::Fault;
use super::heard::Heard;
use super::hooks::Adapter;
use super::window::Window;
use crate::cancel::Thread;
use crate::errors::ScenarioError;
use airtcp_proto::cc::registry::{Param, Values};
use airtcp_proto::cc::{Build, Composed, CongestionControl, Controllers, Given, WindowRules};
use airtcp_proto::scheme;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyMapping, PyType};
use std::sync::Arc;

/// One class. A class is described once and shared.
pub struct Class {
    pub kind: Py<PyType>,
    pub description: Description,
}

/// `airtcp.control.Description`.
#[derive(FromPyObject)]
pub struct Description {
    pub name: String,
    pub parameters: Vec<Parameter>,
    /// Hooks that it has; the engine handles the others.
    pub hooks: Vec<String>,
    /// Hooks that must run, if the controller is to do anything.
    pub required: Vec<String>,
    pub is_paced: bool,
    pub governs_recovery: bool,
}

/// `airtcp.control.Parameter`.
#[derive(FromPyObject)]
pub struct Parameter {
    pub name: String,
    pub default: f64,
    pub minimum: f64,
    pub maximum: f64,
    pub doc: String,
    pub is_whole: bool,
}

impl Parameter {
    fn param(&self) -> Param<'_> {
        let Parameter { name, doc, .. } = self;
        Param { name, default: self.default, min: self.minimum, max: self.maximum, doc }
    }
}

impl Class {
    fn of(kind: &Bound<'_, PyType>) -> PyResult<Arc<Class>> {
        if !kind.is_subclass_of::<Window>()? {
            let message = format!("{} is not a subclass of airtcp.CongestionControl", kind.repr()?);
            return Err(PyTypeError::new_err(message));
        }
        let description = kind.call_method0("_description")?.extract()?;
        Ok(Arc::new(Class { kind: kind.clone().unbind(), description }))
    }
}

impl PartialEq for Class {
    fn eq(&self, other: &Class) -> bool {
        self.kind.is(&other.kind)
    }
}

/// Returns `known` plus the classes in `value`: a class, or a scenario's values with classes in place of
/// schemes.
pub fn classes(known: &[Arc<Class>], value: &Bound<'_, PyAny>) -> PyResult<Vec<Arc<Class>>> {
    let mut found = known.to_vec();
    collect(value, &mut found)?;
    Ok(found)
}

fn collect(value: &Bound<'_, PyAny>, found: &mut Vec<Arc<Class>>) -> PyResult<()> {
    if let Ok(kind) = value.cast::<PyType>() {
        if !found.iter().any(|class| class.kind.is(kind)) {
            found.push(Class::of(kind)?);
        }
    } else if let Ok(mapping) = value.cast::<PyMapping>() {
        mapping.values()?.iter().try_for_each(|item| collect(&item, found))?;
    } else if super::is_list(value) {
        value.try_iter()?.try_for_each(|item| collect(&item?, found))?;
    }
    Ok(())
}

/// Returns the name of a scheme, given as text or as a class.
pub fn name(scheme: &Bound<'_, PyAny>) -> PyResult<String> {
    match scheme.cast::<PyType>() {
        Ok(kind) => kind.getattr("name")?.extract(),
        Err(_) => scheme.extract(),
    }
}

/// The classes in one run.
pub struct Run {
    /// The registry, extended by the classes.
    pub controllers: Controllers,
    /// Their first error, which ends the run.
    pub fault: Arc<Fault>,
    heard: Vec<(Arc<Class>, Arc<Heard>)>,
}

impl Run {
    pub fn new(py: Python<'_>, classes: &[Arc<Class>]) -> PyResult<Run> {
        let fault = Arc::new(Fault::new(Arc::new(Thread::current(py)?)));
        let heard: Vec<_> = classes.iter().map(|class| (class.clone(), Arc::<Heard>::default())).collect();
        let given = |(class, heard): &(Arc<Class>, Arc<Heard>)| -> Arc<dyn Given> {
            Arc::new(GivenClass { class: class.clone(), fault: fault.clone(), heard: heard.clone() })
        };
        let controllers = scheme::controllers(heard.iter().map(given).collect());
        let controllers = controllers.map_err(|error| ScenarioError::new_err(error.to_string()))?;
        Ok(Run { controllers, fault, heard })
    }

    /// Required hooks of the classes in use that have not run, each with the name of its class.
    pub fn unheard(&self) -> Vec<(String, String)> {
        let of_class = |(class, heard): &(Arc<Class>, Arc<Heard>)| {
            let Description { name, required, .. } = &class.description;
            heard.missing(required).map(|hook| (name.clone(), hook.to_owned())).collect::<Vec<_>>()
        };
        self.heard.iter().flat_map(of_class).collect()
    }
}

/// A class in one run.
struct GivenClass {
    class: Arc<Class>,
    fault: Arc<Fault>,
    heard: Arc<Heard>,
}

impl Given for GivenClass {
    fn name(&self) -> &str {
        &self.class.description.name
    }

    fn params(&self) -> Vec<Param<'_>> {
        self.class.description.parameters.iter().map(Parameter::param).collect()
    }

    /// cwnd is in bytes, and grows by any number of them, whatever the profile says of the native
    /// controllers.
    fn build(&self, build: &Build, values: &Values) -> Box<dyn CongestionControl> {
        let build = &Build { windows: WindowRules::Rfc, ..*build };
        let adapter =
            Adapter::new(self.class.clone(), self.fault.clone(), self.heard.clone(), values.clone());
        Box::new(Composed::new(build, adapter))
    }
}
