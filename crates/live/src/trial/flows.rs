//! The flows of a run, with their forms here.

use super::forms::{Form, Host, ProxySite, SchemeForm};
use super::trunks::Trunk;
use airtcp_proto::Chances;
use airtcp_proto::cc::Controllers;
use airtcp_proto::scheme::{Scheme, SchemeError};
use airtcp_sim::scenario::model::{Datagrams, Scenario, Traffic};
use airtcp_sim::traffic::Source;
use airtcp_wire::Time;
use std::sync::Arc;

/// One of the `count` flows of a scenario's flow.
pub struct Flow {
    /// Index of the scenario's flow, and index among the `count` like it.
    pub spec: usize,
    pub instance: u32,
    pub name: String,
    pub scheme: Arc<Scheme>,
    pub form: Arc<Form>,
    pub is_measured: bool,
    pub is_datagrams: bool,
    /// Nodes of the sender and the receiver.
    pub nodes: [u16; 2],
    /// Index of the run's trunk that carries it.
    pub trunk: Option<usize>,
    pub start: Time,
    /// As in the simulator: its random numbers come from a stream of the same name.
    pub source: Source,
}

impl Flow {
    /// Where its connections end and others go on, if they do.
    pub fn proxy_site(&self) -> Option<ProxySite> {
        self.form.station.as_ref()?.place()
    }
}

/// # Errors
/// A flow's own scheme does not resolve.
///
/// # Panics
/// If a scheme has no form here: see [`super::plan`].
pub fn flows(
    scenario: &Scenario,
    scheme: &Scheme,
    trunks: &[Trunk],
    host: &Host,
    seed: u64,
) -> Result<Vec<Flow>, SchemeError> {
    let streams = Chances::new(seed);
    let mut flows = Vec::new();
    for (index, spec) in scenario.flows.iter().enumerate() {
        let is_datagrams = matches!(spec.traffic, Traffic::Udp(_));
        let scheme = scenario.scheme_of(spec, scheme, &Controllers::default())?;
        let mut form = SchemeForm::on(host, &scheme).form.expect("schemes are planned before they run");
        if let Traffic::Udp(Datagrams { packet, .. }) = spec.traffic {
            form.settings.mtu_bytes = form.settings.mtu_bytes.max(packet.0 as u32);
        }
        let form = Arc::new(form);
        let trunk = trunks.iter().position(|trunk| trunk.flows.contains(&index));
        flows.extend((0..spec.count).map(|instance| {
            let start = spec.start_of(instance, &streams);
            let stream = format!("flow.{}.{instance}.traffic", spec.name);
            Flow {
                spec: index,
                instance,
                name: spec.name.clone(),
                scheme: scheme.clone(),
                form: form.clone(),
                is_measured: spec.measure,
                is_datagrams,
                nodes: spec.route(instance).ends(&scenario.links).map(|node| node as u16),
                trunk,
                start,
                source: Source::new(spec, start, scheme.config.segment_payload(), streams, &stream),
            }
        }));
    }
    Ok(flows)
}
