//! What a base-station machine is on a router of this kernel.

use airtcp_kernel::filter::Parameters;
use airtcp_proto::base_station::{BaseStation, packet_control};
use serde::Serialize;

/// What stands at the base station, on a router's interface to the fixed hosts.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Station {
    PacketControl(Parameters),
}

impl Station {
    /// # Errors
    /// Why the machine has no form here.
    pub fn of(machine: &BaseStation) -> Result<Station, String> {
        match machine {
            BaseStation::PacketControl(config) => packet_control(config),
            other => {
                let name = other.spec().name;
                Err(format!("the base-station machine `{name}` runs in the simulator alone"))
            }
        }
    }
}

fn packet_control(config: &packet_control::Config) -> Result<Station, String> {
    let packet_control::Config { threshold, ack_filter, data_filter, max_flows } = *config;
    let parameters = Parameters { threshold, ack_filter, data_filter, max_flows, ..Parameters::default() };
    parameters.check().map_err(|problem| format!("packet-control: {problem}"))?;
    Ok(Station::PacketControl(parameters))
}
