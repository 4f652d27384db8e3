//! The proxy of a run. It serves on a thread of its own, in the router's namespace.

use super::application::port_of;
use super::books::Books;
use super::circuit::{self, GatewayThread, Route};
use super::forms::{Circuit, Onward, Proxy, ProxySite};
use super::senders::Senders;
use crate::namespace::Namespace;
use crate::proxy::{self, Config, Counters, Entrance, Limits, Outgoing, Stop, Stopper, Tuning, Watch};
use crate::rights::keep_only;
use crate::warn;
use airtcp_wire::Dur;
use airtcp_wire::human::Bytes;
use caps::Capability;
use std::io;
use std::sync::mpsc::{Sender, channel};
use std::thread::{self, JoinHandle};

/// To use others' addresses, to choose any congestion control, and to undo rules for packets.
const RIGHTS: &[Capability] = &[Capability::CAP_NET_RAW, Capability::CAP_NET_ADMIN];

/// A flow that a proxy serves, and the route of its circuit, if it has one.
#[derive(Clone, Copy, Debug)]
pub struct Served<'a> {
    pub flow: usize,
    pub circuit: Option<&'a Circuit>,
    pub route: Route,
}

/// Serves until this value is dropped.
pub struct Relays {
    // Dropped before the proxy whose packets they take.
    _circuits: Vec<GatewayThread>,
    stopper: Stopper,
    thread: Option<JoinHandle<()>>,
}

impl Relays {
    /// Our own machine's senders, if they take the place of the applications', report to `senders`.
    ///
    /// # Errors
    /// What the kernel refuses. Nothing is left behind.
    pub fn begin(
        namespace: &Namespace,
        wireless: &str,
        proxy: &Proxy,
        flows: &[Served<'_>],
        books: &Books,
        senders: &Senders,
    ) -> io::Result<Relays> {
        let ports: Vec<_> = flows.iter().map(|served| port_of(served.flow)).collect();
        let config = config(wireless, proxy, ports);
        let watch = (proxy.place == ProxySite::Sender).then(|| Box::new(senders.clone()) as Box<dyn Watch>);
        let (stop, stopper) = Stop::new()?;
        let (tell, told) = channel();
        // A thread starts in the namespace of the one that starts it.
        let decoupled: Vec<_> = flows.iter().filter(|served| served.circuit.is_some()).collect();
        let decoupled_ports: Vec<_> = decoupled.iter().map(|served| port_of(served.flow)).collect();
        let begun = move || serve(&config, stop, watch, &decoupled_ports, &tell);
        let thread = namespace.run(|| thread::spawn(begun))?;
        let mut relays = Relays { _circuits: Vec::new(), stopper, thread: Some(thread) };
        let outgoing = told.recv().map_err(|_| io::Error::other("the proxy did not start"))??;
        for (outgoing, Served { circuit, route, .. }) in outgoing.into_iter().zip(decoupled) {
            let Some(through) = circuit else { continue };
            let book = books.circuit(route.number);
            relays._circuits.push(circuit::send(namespace, outgoing, through, *route, &book)?);
        }
        Ok(relays)
    }
}

impl Drop for Relays {
    fn drop(&mut self) {
        // The run is over: the second request keeps it from draining.
        self.stopper.stop();
        self.stopper.stop();
        drop(self.thread.take().map(JoinHandle::join));
    }
}

/// Sets up, serves, and undoes the set-up, which must happen in the same namespace. Sends the devices of our own
/// stack's packets that circuits are to take.
fn serve(
    config: &Config,
    stop: Stop,
    watch: Option<Box<dyn Watch>>,
    decoupled: &[u16],
    tell: &Sender<io::Result<Vec<Outgoing>>>,
) {
    let made = proxy::Proxy::set_up(config).and_then(|mut made| {
        let outgoing = decoupled.iter().map(|&port| made.doors.through_circuit(Some(port)));
        let outgoing = outgoing.collect::<io::Result<Vec<_>>>()?;
        Ok((made, outgoing))
    });
    let (proxy::Proxy { mut doors, rules }, outgoing) = match made {
        Ok(made) => made,
        Err(error) => return drop(tell.send(Err(error))),
    };
    let _ = tell.send(Ok(outgoing));
    doors.watch = watch;
    let served = keep_only(RIGHTS).and_then(|()| proxy::serve(config, doors, stop, &Counters::default()));
    if let Err(error) = served {
        warn!("airtcpd: the run's proxy: {error}");
    }
    drop(rules);
}

fn config(wireless: &str, proxy: &Proxy, ports: Vec<u16>) -> Config {
    let buffer = Some(Bytes(proxy.buffer_bytes));
    let (own, wireless_side) = match &proxy.onward {
        Onward::Kernel(control) => {
            (None, Tuning { congestion_control: Some(control.name.clone()), ..Tuning::default() })
        }
        Onward::Own(config) => (Some(config.clone()), Tuning { buffer, ..Tuning::default() }),
    };
    Config {
        entrance: Entrance::Transparent { wireless: wireless.to_owned(), ports },
        wireless: wireless_side,
        wired: Tuning::default(),
        own,
        fast_open: false,
        limits: Limits {
            memory: Bytes(u64::MAX / 2),
            connect_timeout: Dur::from_secs(120),
            ..Limits::default()
        },
    }
}
