//! What is made and undone in network namespaces.
//!
//! The other end of a veth pair (`veth.rs`) is alone in a namespace without a name, so that the kernel removes both
//! when the last process ends, even if it was killed. Changes that do not vanish by themselves are recorded
//! under `/run/airtcp` before they are made, and each start undoes those of dead processes, in all network
//! namespaces that it can enter. Requests to rtnetlink are typed, answers stay bytes: only what is needed is
//! read, and a route that is replaced keeps the rest as it was. `cgroup.rs` finds the cgroups of the host also
//! where `ip netns exec` hides them.

pub mod detour;
pub mod divert;
mod ethtool;
pub mod forwarding;
pub mod leftovers;
mod link_mtu;
mod link_watch;
pub mod nft;
pub mod shell;
mod veth;

pub use airtcp_kernel::namespace::{Namespace, sysctl};
pub use link_mtu::link_mtu;
pub use link_watch::LinkWatch;
pub use veth::{Veth, add_ipv6};

use nix::errno::Errno;
use std::io;

/// Counts these errors as success.
fn allow(done: io::Result<()>, errors: &[Errno]) -> io::Result<()> {
    match done {
        Err(error) if errors.iter().any(|&allowed| error.raw_os_error() == Some(allowed as i32)) => Ok(()),
        done => done,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tun::PacketDevice;
    use std::net::{Ipv4Addr, UdpSocket};
    use std::thread;
    use std::time::Duration;

    #[test]
    #[allow(clippy::disallowed_methods, reason = "the kernel takes it away in its own time")]
    fn a_veth_routes_its_subnet_and_ends_with_its_value() {
        let Some(namespace) = Namespace::if_permitted() else { return };
        let bound = || namespace.run(|| UdpSocket::bind("10.9.0.1:0")).unwrap();
        let veth = Veth { name: "airtcp0", address: [10, 9, 0, 1].into(), prefix: 24, mtu: 1500 };
        let end = veth.make_in(&namespace).unwrap();
        bound().unwrap().send_to(b"x", "10.9.0.2:9").unwrap();
        assert!(UdpSocket::bind("10.9.0.1:0").is_err(), "the address is seen from another namespace");
        drop(end);
        let is_gone = || {
            thread::sleep(Duration::from_millis(10));
            bound().is_err()
        };
        assert!((0..500).any(|_| is_gone()), "it stays");
    }

    #[test]
    fn a_veth_loses_nothing_from_the_start() {
        let Some(namespace) = Namespace::if_permitted() else { return };
        for number in 0..50 {
            let name = format!("v{number}");
            let address = Ipv4Addr::new(10, 9, number, 1);
            let mut end = Veth { name: &name, address, prefix: 24, mtu: 1500 }.make_in(&namespace).unwrap();
            let socket = namespace.run(|| UdpSocket::bind((address, 9000))).unwrap().unwrap();
            socket.send_to(b"x", (Ipv4Addr::new(10, 9, number, 2), 9000)).unwrap();
            let mut frame = [0; 100];
            let len =
                (0..100_000).find_map(|_| end.recv(&mut frame).unwrap()).expect("what the host has sent");
            // Send it back. The checksum does not depend on the order of addresses and ports.
            let (source, destination) = frame[26..34].split_at_mut(4);
            source.swap_with_slice(destination);
            end.send(&frame[..len]).unwrap();
            socket.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
            assert_eq!(socket.recv(&mut [0; 10]).unwrap(), 1);
        }
    }
}
