//! The gateways of a run's TCP circuit: each serves on a thread of its own, in its host's namespace.

use super::forms::Circuit;
use crate::circuit::{
    ReceivingCounters, ReceivingGateway, ReceivingNode, SendingCounters, SendingGateway, SendingNode, Socket,
    serve,
};
use crate::daemon::{Stop, Stopper};
use crate::emulate::Clock;
use crate::namespace::Namespace;
use crate::proxy::Outgoing;
use crate::rights::keep_only;
use crate::stack::random;
use crate::warn;
use airtcp_proto::{Stream as Chance, Streams};
use airtcp_wire::circuit::{Key, PORTS};
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::thread::{self, JoinHandle};

/// Serves as long as this value lasts.
pub struct GatewayThread {
    stopper: Stopper,
    thread: Option<JoinHandle<()>>,
}

/// Both ends are this run's, and nobody else is on its path.
fn key() -> Key {
    Key::new([0; 16])
}

fn chance() -> io::Result<Chance> {
    Ok(Streams::new(u64::from_ne_bytes(random()?)).stream("circuit"))
}

/// Most circuits of a run.
pub const MOST: u64 = 1 + (*PORTS.end() - *PORTS.start()) as u64;

/// A flow's circuit: from a router's address to the receiver's host.
#[derive(Clone, Copy, Debug)]
pub struct Route {
    pub flow: usize,
    pub to: Ipv4Addr,
}

impl Route {
    fn gateway(&self) -> SocketAddr {
        SocketAddr::new(self.to.into(), PORTS.start() + self.flow as u16)
    }
}

/// Lets `outgoing` go through a circuit from this address.
///
/// # Errors
/// The kernel's.
pub fn send(
    namespace: &Namespace,
    outgoing: Outgoing,
    circuit: &Circuit,
    from: Ipv4Addr,
    route: Route,
) -> io::Result<GatewayThread> {
    let (config, tcp) = (circuit.config.clone(), circuit.tcp.as_ref().clone());
    let vmss = config.vmss.0 as usize;
    let socket = namespace.run(|| Socket::bind(SocketAddr::new(from.into(), 0)))??;
    let clock = Clock::start();
    let node = SendingNode::new(config, tcp, key(), chance()?, clock.now()).map_err(io::Error::other)?;
    let mut gateway = SendingGateway::new(node.for_data_tcps(), vmss, outgoing, socket, route.gateway());
    GatewayThread::begin(move |stop| serve(&mut gateway, &clock, stop, &SendingCounters::default()))
}

/// # Errors
/// The kernel's.
pub fn receive(namespace: &Namespace, circuit: &Circuit, route: Route) -> io::Result<GatewayThread> {
    let socket = namespace.run(|| Socket::bind(route.gateway()))??;
    let node = ReceivingNode::new(circuit.tcp.as_ref().clone(), key(), chance()?);
    let mut gateway = ReceivingGateway::new(node, socket);
    let clock = Clock::start();
    GatewayThread::begin(move |stop| serve(&mut gateway, &clock, stop, &ReceivingCounters::default()))
}

impl GatewayThread {
    fn begin(work: impl FnOnce(Stop) -> io::Result<()> + Send + 'static) -> io::Result<GatewayThread> {
        let (stop, stopper) = Stop::new()?;
        let serve = move || {
            if let Err(error) = keep_only(&[]).and_then(|()| work(stop)) {
                warn!("airtcpd: a gateway of the run: {error}");
            }
        };
        Ok(GatewayThread { stopper, thread: Some(thread::spawn(serve)) })
    }
}

impl Drop for GatewayThread {
    fn drop(&mut self) {
        self.stopper.stop();
        drop(self.thread.take().map(JoinHandle::join));
    }
}
