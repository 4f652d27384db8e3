//! Two hosts with the emulator between them.

use airtcp_live::emulate::{Clock, Control, Counts, Emulator, Framing, Timekeeping, be_on_time, drive};
use airtcp_live::namespace::{Namespace, Veth};
use airtcp_sim::Scenario;
use airtcp_sim::record::LinkRecord;
use airtcp_wire::{Dur, Time};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

pub const SEED: u64 = 5;
const NEAR_HOST: Ipv4Addr = Ipv4Addr::new(10, 7, 0, 1);
const FAR_HOST: Ipv4Addr = Ipv4Addr::new(10, 7, 0, 2);
const MTU: u16 = 1500;

pub struct Rig {
    pub near: Namespace,
    pub far: Namespace,
}

/// What the emulator says that it did.
pub struct Told {
    pub counts: Vec<Counts>,
    pub links: Vec<LinkRecord>,
    pub kept: Timekeeping,
}

pub fn scenario(text: &str) -> Scenario {
    Scenario::load(text, "test.toml", Path::new(""), &[]).unwrap_or_else(|error| panic!("{error}"))
}

/// Where the far host listens, and where the near one does.
pub const FAR: SocketAddr = SocketAddr::new(IpAddr::V4(FAR_HOST), 9000);
pub const NEAR: SocketAddr = SocketAddr::new(IpAddr::V4(NEAR_HOST), 9000);

/// `None`, with a message, where this process may not make namespaces.
pub fn namespaces<const N: usize>() -> Option<[Namespace; N]> {
    let all: Option<Vec<Namespace>> = (0..N).map(|_| Namespace::if_permitted()).collect();
    Some(all?.try_into().unwrap())
}

/// Runs `work` while the scenario's path lies between two hosts.
pub fn over<T>(text: &str, work: impl FnOnce(&Rig) -> T) -> Option<(T, Told)> {
    let [near, far] = namespaces()?;
    let rig = Rig { near, far };
    let veth = |address| Veth { name: "air0", address, prefix: 24, mtu: MTU };
    let mut devices =
        [(&rig.near, NEAR_HOST), (&rig.far, FAR_HOST)].map(|(host, at)| veth(at).make_in(host).unwrap());
    let mut emulator = Emulator::end_to_end(&scenario(text), SEED).with_framing(Framing::Ethernet);
    let stop = AtomicBool::new(false);
    let path = || {
        be_on_time();
        let clock = Clock::start();
        let control = Control { stop: &stop, drain: Dur::ZERO, deadline: Time::NEVER, every: Dur::MAX };
        let kept = drive(&mut emulator, &mut devices, &clock, &control, |_, _, _| ControlFlow::Continue(()));
        (kept.unwrap(), clock.now())
    };
    let (answer, (kept, end)) = thread::scope(|scope| {
        let path = scope.spawn(path);
        let answer = work(&rig);
        stop.store(true, Ordering::Relaxed);
        (answer, path.join().unwrap())
    });
    let links = emulator.link_records(end);
    Some((answer, Told { counts: emulator.counts().to_vec(), links, kept }))
}
