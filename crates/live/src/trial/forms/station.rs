//! What a router of this kernel runs for a scheme's machines.

use super::CongestionControl;
use airtcp_kernel::filter::Parameters;
use airtcp_proto::base_station::packet_control;
use airtcp_proto::circuit;
use airtcp_proto::tcp::TcpConfig;
use serde::{Serialize, Serializer};

/// What the router does with the connections' packets.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Station {
    /// On the interface to the fixed hosts.
    PacketControl(Parameters),
    Proxy(Proxy),
}

/// Ends connections, and continues them with others.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Proxy {
    pub place: ProxySite,
    pub onward: Onward,
    /// Most bytes that wait there, per connection and direction.
    pub buffer_bytes: u64,
    /// Circuit for its packets, if they use one.
    pub circuit: Option<Circuit>,
}

/// A TCP circuit from the proxy to the receiver's host.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Circuit {
    pub config: circuit::Config,
    /// Configuration of its control TCPs.
    #[serde(serialize_with = "by_name")]
    pub tcp: Box<TcpConfig>,
}

/// Where a proxy stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProxySite {
    /// Paper 003 §IV.
    BaseStation,
    /// Beside the sender's host: the path sees the proxy's TCP.
    Sender,
}

/// Who sends towards the mobile hosts.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Onward {
    Kernel(CongestionControl),
    #[serde(serialize_with = "by_name")]
    Own(Box<TcpConfig>),
}

fn by_name<S: Serializer>(config: &TcpConfig, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(&config.congestion_control)
}

/// # Errors
/// Why the machine has no form here.
pub fn packet_control(config: &packet_control::Config) -> Result<Station, String> {
    let packet_control::Config { threshold, ack_filter, data_filter, max_flows } = *config;
    let parameters = Parameters { threshold, ack_filter, data_filter, max_flows, ..Parameters::default() };
    parameters.check().map_err(|problem| format!("packet-control: {problem}"))?;
    Ok(Station::PacketControl(parameters))
}

impl Station {
    /// Returns whether one router can be both. Each connection has a circuit of its own.
    pub fn goes_with(&self, other: &Station) -> bool {
        let shared = |station: &Station| match station {
            Station::Proxy(proxy) => Station::Proxy(Proxy { circuit: None, ..proxy.clone() }),
            Station::PacketControl(_) => station.clone(),
        };
        shared(self) == shared(other) && self.circuit().is_some() == other.circuit().is_some()
    }

    /// The circuit that connections go through, if there is one.
    pub fn circuit(&self) -> Option<&Circuit> {
        match self {
            Station::PacketControl(_) => None,
            Station::Proxy(proxy) => proxy.circuit.as_ref(),
        }
    }

    /// The proxy's place, if this is a proxy.
    pub fn place(&self) -> Option<ProxySite> {
        match self {
            Station::PacketControl(_) => None,
            Station::Proxy(proxy) => Some(proxy.place),
        }
    }
}
