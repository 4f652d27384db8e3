//! Which of the kernel's congestion controls corresponds to each of ours.

use super::{Host, Lack};
use airtcp_kernel::cc;
use airtcp_proto::tcp::TcpConfig;
use serde::Serialize;
use std::collections::BTreeMap;

/// What TCP_CONGESTION is set to.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CongestionControl {
    /// Name in the kernel. A controller that is loaded for a run gets a name of its own.
    #[serde(rename = "congestion_control")]
    pub name: String,
    /// Whether it is loaded for the run, with these parameters.
    pub loaded: bool,
    pub parameters: BTreeMap<String, f64>,
}

/// Controllers that the kernel brings, by our name and the kernel's.
const KERNELS_OWN: &[(&str, &str)] =
    &[("reno", "reno"), ("cubic", "cubic"), ("bbr", "bbr"), ("westwood-plus", "westwood")];

impl CongestionControl {
    /// The one that every kernel has.
    pub(super) fn reno() -> CongestionControl {
        CongestionControl { name: "reno".to_owned(), loaded: false, parameters: BTreeMap::new() }
    }

    /// # Errors
    /// Why there is none.
    pub(super) fn of(config: &TcpConfig, host: &Host) -> Result<CongestionControl, Lack> {
        let (asked, parameters) = (config.congestion_control.as_str(), config.cc.clone());
        if let Some(&(_, name)) = KERNELS_OWN.iter().find(|(ours, _)| *ours == asked) {
            return kernels_own(name, &parameters, host);
        }
        let Ok(controller) = cc::find(asked) else {
            return Err(Lack::anywhere(format!("the kernel has no `{asked}`")));
        };
        let is_known = |name: &str| controller.params.iter().any(|param| param.name == name);
        match parameters.keys().find(|name| !is_known(name)) {
            Some(unknown) => {
                Err(Lack::anywhere(format!("`{asked}` has no parameter `{unknown}` in the kernel")))
            }
            None => {
                let name = controller.kernel_name.to_owned();
                Ok(CongestionControl { name, loaded: true, parameters })
            }
        }
    }
}

fn kernels_own(
    name: &str,
    parameters: &BTreeMap<String, f64>,
    host: &Host,
) -> Result<CongestionControl, Lack> {
    if let Some(parameter) = parameters.keys().next() {
        return Err(Lack::anywhere(format!("the kernel's `{name}` has no parameter `{parameter}`")));
    }
    if !host.congestion_controls.iter().any(|known| known == name) {
        return Err(Lack::here(format!(
            "`{name}` is not available; `modprobe tcp_{name}` loads it if the module exists"
        )));
    }
    Ok(CongestionControl { name: name.to_owned(), loaded: false, parameters: BTreeMap::new() })
}
