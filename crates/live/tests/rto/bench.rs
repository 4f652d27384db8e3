//! Two namespaces, a wire between them that delays and drops as told, and a cgroup.

use airtcp_live::PacketDevice;
use airtcp_live::emulate::{PacketSocket, be_on_time};
use airtcp_live::namespace::{Namespace, Veth};
use airtcp_wire::Dur;
use nix::fcntl::{Flock, FlockArg};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::socket::{
    AddressFamily, Backlog, SockFlag, SockType, SockaddrIn, bind, listen as sys_listen, setsockopt, socket,
    sockopt,
};
use nix::{getsockopt_impl, sockopt_impl};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddrV4, TcpListener, TcpStream};
use std::os::fd::{AsFd, AsRawFd};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime};

sockopt_impl!(TcpInfo, GetOnly, libc::IPPROTO_TCP, libc::TCP_INFO, libc::tcp_info);
sockopt_impl!(TcpUserTimeout, GetOnly, libc::IPPROTO_TCP, libc::TCP_USER_TIMEOUT, u32);

pub const SERVER: IpAddr = IpAddr::V4(SERVER_HOST);
const SERVER_HOST: Ipv4Addr = Ipv4Addr::new(10, 77, 0, 2);
const CLIENT_HOST: Ipv4Addr = Ipv4Addr::new(10, 77, 0, 1);
const MTU: u16 = 1500;
const ETHERNET_LEN: usize = 14;
/// Of Ethernet, IP, and TCP with timestamps: longer frames carry data.
const HEADERS_LEN: usize = ETHERNET_LEN + 52;

/// What is the whole host's is one test's at a time: cgroups of this process, pins.
pub fn turn() -> Flock<File> {
    let file = File::create("/run/airtcp-test.lock").unwrap();
    Flock::lock(file, FlockArg::LockExclusive).unwrap()
}

/// Why nothing can be tested here.
pub fn skipped() -> bool {
    if !nix::unistd::geteuid().is_root() {
        eprintln!("skipped: not root");
        return true;
    }
    if !airtcp_kernel::rto::Means::of_kernel().rto_max {
        eprintln!("skipped: no TCP_RTO_MAX_MS (Linux 6.15)");
        return true;
    }
    false
}

/// A cgroup that this process can join. It leaves when this is dropped.
pub struct Cgroup {
    pub path: PathBuf,
    home: PathBuf,
}

impl Cgroup {
    pub fn new() -> Cgroup {
        let root = airtcp_kernel::cgroup::mount().unwrap();
        let own = fs::read_to_string("/proc/self/cgroup").unwrap();
        let own = own.lines().find_map(|line| line.strip_prefix("0::/")).unwrap();
        let path = root.join(format!("airtcp-rto-test-{}", std::process::id()));
        fs::create_dir(&path).unwrap();
        Cgroup { path, home: root.join(own) }
    }

    pub fn join(&self) {
        move_to(&self.path);
    }

    pub fn leave(&self) {
        move_to(&self.home);
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        self.leave();
        fs::remove_dir(&self.path).unwrap();
    }
}

fn move_to(cgroup: &Path) {
    fs::write(cgroup.join("cgroup.procs"), std::process::id().to_string()).unwrap();
}

/// A client and a server, joined by a [`Wire`].
pub struct Bench {
    pub client: Namespace,
    pub server: Namespace,
    pub wire: Wire,
}

impl Bench {
    pub fn new(sysctls: &[(&str, String)]) -> Bench {
        let (client, server) = (Namespace::new().unwrap(), Namespace::new().unwrap());
        for namespace in [&client, &server] {
            for (name, value) in sysctls {
                namespace.sysctl(name, value).unwrap();
            }
            // Tail-loss probes come between the timeouts, and bbr leaves ssthresh as it is, so that no stream is thin.
            namespace.sysctl("net.ipv4.tcp_early_retrans", "0").unwrap();
            namespace.sysctl("net.ipv4.tcp_congestion_control", "reno").unwrap();
        }
        let veth = |address| Veth { name: "air", address, prefix: 24, mtu: MTU };
        let ends = [(&client, CLIENT_HOST), (&server, SERVER_HOST)];
        let wire = Wire::new(ends.map(|(host, address)| veth(address).make_in(host).unwrap()));
        Bench { client, server, wire }
    }

    /// The client's end and the server's.
    pub fn connect(&self) -> (TcpStream, TcpStream) {
        let listener = self.server.run(|| TcpListener::bind((SERVER, 0))).unwrap().unwrap();
        let address = listener.local_addr().unwrap();
        let client = self.client.run(|| TcpStream::connect(address)).unwrap().unwrap();
        client.set_nodelay(true).unwrap();
        (client, listener.accept().unwrap().0)
    }

    /// The server's end of a connection to a listener with this mark.
    pub fn accepted_under(&self, mark: u32) -> TcpStream {
        let listen = || {
            let listener =
                socket(AddressFamily::Inet, SockType::Stream, SockFlag::SOCK_CLOEXEC, None).unwrap();
            setsockopt(&listener, sockopt::Mark, &mark).unwrap();
            bind(listener.as_raw_fd(), &SockaddrIn::from(SocketAddrV4::new(SERVER_HOST, 0))).unwrap();
            sys_listen(&listener, Backlog::new(1).unwrap()).unwrap();
            TcpListener::from(listener)
        };
        let listener = self.server.run(listen).unwrap();
        let address = listener.local_addr().unwrap();
        let client = self.client.run(|| TcpStream::connect(address)).unwrap().unwrap();
        let mut ends = (client, listener.accept().unwrap().0);
        ping(&mut ends);
        ends.1
    }

    /// Timeouts of the client's connections so far.
    pub fn timeouts(&self) -> u64 {
        let text = self.client.run(|| fs::read_to_string("/proc/thread-self/net/netstat").unwrap()).unwrap();
        let mut lines = text.lines().filter(|line| line.starts_with("TcpExt:")).map(str::split_whitespace);
        let (names, values) = (lines.next().unwrap(), lines.next().unwrap());
        let counters: BTreeMap<_, _> = names.zip(values).collect();
        counters["TCPTimeouts"].parse().unwrap()
    }
}

/// A byte there and back.
pub fn ping((client, server): &mut (TcpStream, TcpStream)) {
    let mut byte = [1];
    client.write_all(&byte).unwrap();
    server.read_exact(&mut byte).unwrap();
    server.write_all(&byte).unwrap();
    client.read_exact(&mut byte).unwrap();
}

pub fn info(socket: &TcpStream) -> libc::tcp_info {
    nix::sys::socket::getsockopt(&socket.as_fd(), TcpInfo).unwrap()
}

pub fn rto(socket: &TcpStream) -> Dur {
    Dur::from_micros(info(socket).tcpi_rto.into())
}

/// ms; 0: as long as the kernel likes.
pub fn user_timeout(socket: &TcpStream) -> u32 {
    nix::sys::socket::getsockopt(&socket.as_fd(), TcpUserTimeout).unwrap()
}

/// Carries packets between two devices, each way in order.
pub struct Wire {
    told: Arc<Told>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Told {
    /// From the client to the server; nothing the other way.
    delay_ms: AtomicU64,
    is_out: AtomicBool,
    spared: AtomicU64,
    is_over: AtomicBool,
    lost_at: Mutex<Vec<SystemTime>>,
}

impl Wire {
    fn new(mut devices: [PacketSocket; 2]) -> Wire {
        let told = Arc::new(Told::default());
        let theirs = Arc::clone(&told);
        Wire { told, thread: Some(std::thread::spawn(move || carry(&mut devices, &theirs))) }
    }

    pub fn set_delay_ms(&self, delay: u64) {
        self.told.delay_ms.store(delay, Ordering::Relaxed);
    }

    /// In an outage that many packets with data, and as many answers, come through all the same.
    pub fn spare(&self, packets: u64) {
        self.told.spared.store(packets, Ordering::SeqCst);
    }

    /// Loses everything for `time`. Returns the gaps between the client's packets with data, in ms.
    pub fn outage(&self, time: Dur, work: impl FnOnce()) -> Vec<u64> {
        self.told.lost_at.lock().unwrap().clear();
        self.told.is_out.store(true, Ordering::SeqCst);
        work();
        std::thread::sleep(Duration::from_nanos(time.0));
        self.told.is_out.store(false, Ordering::SeqCst);
        let lost_at = self.told.lost_at.lock().unwrap();
        let gap = |pair: &[SystemTime]| pair[1].duration_since(pair[0]).unwrap().as_millis() as u64;
        lost_at.windows(2).map(gap).collect()
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        self.told.is_over.store(true, Ordering::Relaxed);
        self.thread.take().map(JoinHandle::join);
    }
}

fn carry(devices: &mut [PacketSocket; 2], told: &Told) {
    be_on_time();
    let mut held = Vec::<(Instant, Vec<u8>)>::new();
    let mut buffer = vec![0; ETHERNET_LEN + usize::from(MTU)];
    let mut answers = 0;
    while !told.is_over.load(Ordering::Relaxed) {
        let mut waiting = devices.each_ref().map(|device| PollFd::new(device.as_fd(), PollFlags::POLLIN));
        poll(&mut waiting, PollTimeout::from(1u8)).unwrap();
        let now = Instant::now();
        // Asked after a packet was received, so that none from within the outage comes through.
        let is_out = || told.is_out.load(Ordering::SeqCst);
        while let Some(len) = devices[0].recv(&mut buffer).unwrap() {
            let is_spared = is_out() && len > HEADERS_LEN && one_of(&told.spared);
            answers += u64::from(is_spared);
            if !is_out() || is_spared {
                let delay = Duration::from_millis(told.delay_ms.load(Ordering::Relaxed));
                held.push((now + delay, buffer[..len].to_vec()));
            } else if len > HEADERS_LEN {
                // However late this thread has come for it.
                told.lost_at.lock().unwrap().push(devices[0].arrived().unwrap());
            }
        }
        while let Some(len) = devices[1].recv(&mut buffer).unwrap() {
            let is_spared = answers > 0;
            answers -= u64::from(is_spared);
            if !is_out() || is_spared {
                devices[0].send(&buffer[..len]).unwrap();
            }
        }
        for (_, packet) in held.extract_if(.., |(due, _)| *due <= now) {
            devices[1].send(&packet).unwrap();
        }
    }
}

/// Takes one, if there is any.
fn one_of(left: &AtomicU64) -> bool {
    left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)).is_ok()
}
