//! A mobile host, a base station and a server: three namespaces, with the emulator or nothing on the wireless link.

use airtcp_live::emulate::{Clock, Control, Emulator, Framing, drive};
use airtcp_live::namespace::{Namespace, Veth};
use airtcp_live::proxy::{Config, Counter, Counters, Entrance, Limits, Stop, Stopper, Tuning};
use airtcp_proto::scheme::Scheme;
use airtcp_sim::Scenario;
use airtcp_wire::{Dur, Time};
use nix::sys::socket::{setsockopt, sockopt};
use nix::sys::time::{TimeVal, TimeValLike};
use std::fs;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream};
use std::ops::ControlFlow;
use std::os::fd::{AsFd, AsRawFd};
use std::path::Path;
use std::process::{Command, Output};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

pub const MOBILE: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 1, 0, 2));
pub const SERVER: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 2, 0, 2));
pub const SERVER_V6: IpAddr = IpAddr::V6(Ipv6Addr::new(0xfd02, 0, 0, 0, 0, 0, 0, 2));

/// Nobody is there, and nobody says so.
pub const NOBODY: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 2, 0, 99));

/// Beyond the mobile host.
pub const PHONE: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 3, 0, 2));

/// The base station's interface towards the mobile host.
pub const WIRELESS: &str = "air0";

pub struct Rig {
    pub mobile: Namespace,
    pub base: Namespace,
    pub server: Namespace,
    path: Option<(Arc<AtomicBool>, JoinHandle<()>)>,
}

impl Rig {
    /// With a wireless link that is as this scenario says; without one it is a wire. `None`, with a message, where this cannot
    /// be.
    pub fn new(path: Option<&str>) -> Option<Rig> {
        if ["ip", "nft"].iter().any(|tool| Command::new(tool).arg("-V").output().is_err()) {
            eprintln!("skipped: no ip or nft here (iproute2, nftables)");
            return None;
        }
        let mut rig = Rig {
            mobile: Namespace::if_permitted()?,
            base: Namespace::if_permitted()?,
            server: Namespace::if_permitted()?,
            path: None,
        };
        rig.base.sysctl("net.ipv6.conf.default.dad_transmits", "0").unwrap();
        match path {
            Some(path) => rig.path = Some(rig.emulate(path)),
            None => rig.wire(WIRELESS, &rig.mobile, 1),
        }
        rig.wire("wd0", &rig.server, 2);
        for name in ["net.ipv4.conf.all.forwarding", "net.ipv6.conf.all.forwarding"] {
            rig.base.sysctl(name, "1").unwrap();
        }
        rig.base.run(|| ip("neigh add 10.2.0.99 lladdr 02:00:00:00:00:99 dev wd0")).unwrap();
        Some(rig)
    }

    fn wire(&self, name: &str, host: &Namespace, net: u8) {
        let other = format!("/proc/{}/fd/{}", std::process::id(), host.as_fd().as_raw_fd());
        let on_base = || {
            ip(&format!("link add {name} type veth peer name eth0 netns {other}"));
            ip(&format!("addr add 10.{net}.0.1/24 dev {name}"));
            ip(&format!("addr add fd0{net}::1/64 dev {name} nodad"));
            ip(&format!("link set {name} up"));
        };
        let on_host = || {
            ip(&format!("addr add 10.{net}.0.2/24 dev eth0"));
            ip(&format!("addr add fd0{net}::2/64 dev eth0 nodad"));
            ip("link set eth0 up");
            ip(&format!("route add default via 10.{net}.0.1"));
            ip(&format!("route add default via fd0{net}::1"));
        };
        self.base.run(on_base).unwrap();
        host.run(on_host).unwrap();
    }

    /// Another host behind the mobile one, over a link with this MTU in bytes. The host offers the MSS of Ethernet all the same, so
    /// that the other end learns the MTU only from the mobile host. It does not send longer packets itself: those that are not
    /// made of several segments a veth would drop silently.
    pub fn extend(&self, host: &Namespace, mtu: u32) {
        self.extend_from(&self.mobile, [1, 3], host, mtu);
    }

    /// The same with IPv6, behind the server as well. The mobile host must be reached over a wire.
    pub fn extend_by_both_families(&self, [behind_mobile, behind_server]: [&Namespace; 2]) {
        for (router, nets, host) in
            [(&self.mobile, [1, 3], behind_mobile), (&self.server, [2, 4], behind_server)]
        {
            self.extend_from(router, nets, host, 1500);
            let [inner, outer] = nets;
            router.run(|| ip(&format!("addr add fd0{outer}::1/64 dev far0 nodad"))).unwrap();
            let on_host = || {
                ip(&format!("addr add fd0{outer}::2/64 dev eth0 nodad"));
                ip(&format!("route add default via fd0{outer}::1 advmss 1440"));
            };
            host.run(on_host).unwrap();
            router.sysctl("net.ipv6.conf.all.forwarding", "1").unwrap();
            self.base.run(|| ip(&format!("route add fd0{outer}::/64 via fd0{inner}::2"))).unwrap();
        }
    }

    /// `router` is in the first of two networks, and the host comes into the second.
    fn extend_from(&self, router: &Namespace, [inner, outer]: [u8; 2], host: &Namespace, mtu: u32) {
        let other = format!("/proc/{}/fd/{}", std::process::id(), host.as_fd().as_raw_fd());
        let on_router = || {
            ip(&format!("link add far0 type veth peer name eth0 netns {other}"));
            ip(&format!("link set far0 up mtu {mtu}"));
            ip(&format!("addr add 10.{outer}.0.1/24 dev far0"));
        };
        let on_host = || {
            ip(&format!("addr add 10.{outer}.0.2/24 dev eth0"));
            ip(&format!("link set eth0 up mtu {mtu}"));
            ip(&format!("route add default via 10.{outer}.0.1 advmss 1460"));
        };
        router.run(on_router).unwrap();
        host.run(on_host).unwrap();
        router.sysctl("net.ipv4.conf.all.forwarding", "1").unwrap();
        self.base.run(|| ip(&format!("route add 10.{outer}.0.0/24 via 10.{inner}.0.2"))).unwrap();
    }

    fn emulate(&self, path: &str) -> (Arc<AtomicBool>, JoinHandle<()>) {
        let scenario = Scenario::load(path, "test.toml", Path::new(""), &[]).unwrap();
        let veth = |address| Veth { name: WIRELESS, address, prefix: 24, mtu: 1500 };
        let ends = [(&self.base, [10, 1, 0, 1]), (&self.mobile, [10, 1, 0, 2])];
        let mut devices = ends.map(|(host, at)| veth(at.into()).make_in(host).unwrap());
        self.mobile.run(|| ip("route add default dev air0")).unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        let theirs = Arc::clone(&stop);
        let driver =
            thread::spawn(move || {
                let mut emulator = Emulator::end_to_end(&scenario, 7).with_framing(Framing::Ethernet);
                let control =
                    Control { stop: &theirs, deadline: Time::NEVER, every: Dur::MAX, drain: Dur::ZERO };
                drive(&mut emulator, &mut devices, &Clock::start(), &control, |_, _, _| {
                    ControlFlow::Continue(())
                })
                .unwrap();
            });
        (stop, driver)
    }

    /// A transparent proxy at the base station.
    pub fn proxy(&self, limits: Limits) -> Running {
        let entrance = Entrance::Transparent { wireless: WIRELESS.to_owned(), ports: vec![] };
        Running::start(&self.base, &plain(entrance, limits))
    }

    /// A transparent proxy whose wireless side is our own machine.
    pub fn own(&self, scheme: &str, limits: Limits) -> Running {
        let entrance = Entrance::Transparent { wireless: WIRELESS.to_owned(), ports: vec![] };
        let config = Scheme::parse(scheme, "linux").unwrap().config;
        Running::start(&self.base, &Config { own: Some(Box::new(config)), ..plain(entrance, limits) })
    }

    /// A connection from one host to the other, through whatever is in between.
    pub fn connect(&self, from: &Namespace, to: &Namespace, address: IpAddr) -> (TcpStream, TcpStream) {
        let listener = listen(to, SocketAddr::new(address, 0));
        let client = connect(from, listener.local_addr().unwrap());
        (client, accept(&listener))
    }
}

impl Drop for Rig {
    fn drop(&mut self) {
        if let Some((stop, driver)) = self.path.take() {
            stop.store(true, Ordering::Relaxed);
            let _ = driver.join();
        }
    }
}

/// Whatever goes wrong, no test waits longer.
const PATIENCE: Duration = Duration::from_secs(20);

pub fn listen(host: &Namespace, at: SocketAddr) -> TcpListener {
    let listener = host.run(|| TcpListener::bind(at)).unwrap().unwrap();
    let patience = TimeVal::seconds(PATIENCE.as_secs() as i64);
    setsockopt(&listener, sockopt::ReceiveTimeout, &patience).unwrap();
    listener
}

pub fn accept(listener: &TcpListener) -> TcpStream {
    patient(listener.accept().unwrap().0)
}

pub fn connect(host: &Namespace, to: SocketAddr) -> TcpStream {
    patient(host.run(|| TcpStream::connect_timeout(&to, PATIENCE)).unwrap().unwrap())
}

fn patient(end: TcpStream) -> TcpStream {
    end.set_read_timeout(Some(PATIENCE)).unwrap();
    end.set_write_timeout(Some(PATIENCE)).unwrap();
    end
}

/// With nothing that is special to either side.
pub fn plain(entrance: Entrance, limits: Limits) -> Config {
    Config {
        entrance,
        wireless: Tuning::default(),
        wired: Tuning::default(),
        own: None,
        fast_open: false,
        limits,
    }
}

/// A proxy that serves in a thread.
pub struct Running {
    pub counters: Arc<Counters>,
    stopper: Stopper,
    thread: Option<JoinHandle<()>>,
}

impl Running {
    pub fn start(base: &Namespace, config: &Config) -> Running {
        let counters = Arc::new(Counters::default());
        let (stop, stopper) = Stop::new().unwrap();
        let (theirs, config) = (Arc::clone(&counters), config.clone());
        let start = || {
            let (ready, is_ready) = std::sync::mpsc::channel();
            let thread = thread::spawn(move || {
                let proxy = airtcp_live::proxy::Proxy::set_up(&config).unwrap();
                ready.send(()).unwrap();
                airtcp_live::proxy::serve(&config, proxy.doors, stop, &theirs).unwrap();
            });
            is_ready.recv().unwrap();
            thread
        };
        let thread = base.run(start).unwrap();
        Running { counters, stopper, thread: Some(thread) }
    }

    pub fn get(&self, counter: Counter) -> u64 {
        self.counters.get(counter)
    }

    /// What the proxy does it does soon.
    pub fn awaits(&self, counter: Counter, value: u64) {
        eventually(|| self.get(counter) == value, &format!("{counter:?} is {value}"));
    }

    pub fn stop(&self) {
        self.stopper.stop();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop();
        self.stop();
        let served = self.thread.take().unwrap().join();
        if !thread::panicking() {
            served.unwrap();
        }
    }
}

#[allow(clippy::disallowed_methods, reason = "the kernel works in its own time")]
pub fn eventually(is_so: impl Fn() -> bool, what: &str) {
    for _ in 0..1000 {
        if is_so() {
            return;
        }
        thread::sleep(Duration::from_millis(10));
    }
    panic!("not so: {what}");
}

/// Returns what it says.
pub fn ip(arguments: &str) -> String {
    let Output { status, stdout, stderr } =
        Command::new("ip").args(arguments.split_whitespace()).output().unwrap();
    assert!(status.success(), "ip {arguments}: {}", String::from_utf8_lossy(&stderr));
    String::from_utf8_lossy(&stdout).into_owned()
}

/// What daemons have on record, and their sockets.
pub fn records() -> Vec<String> {
    let files = fs::read_dir("/run/airtcp").into_iter().flatten().flatten();
    files.map(|file| file.file_name().into_string().unwrap()).filter(|name| name != "lock").collect()
}
