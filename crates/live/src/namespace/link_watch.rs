//! The MTU of an interface, and news of it.

use super::link_mtu;
use nix::sys::socket::{
    AddressFamily, MsgFlags, NetlinkAddr, SockFlag, SockProtocol, SockType, bind, recv, socket,
};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

/// Readable when the MTU may have changed.
pub struct LinkWatch {
    interface: String,
    news: OwnedFd,
    mtu: u16,
}

impl LinkWatch {
    /// Watches an interface in the network namespace of the calling thread.
    ///
    /// # Errors
    /// There is no such interface; the kernel's.
    pub fn begin(interface: &str) -> io::Result<LinkWatch> {
        let flags = SockFlag::SOCK_NONBLOCK | SockFlag::SOCK_CLOEXEC;
        let news = socket(AddressFamily::Netlink, SockType::Raw, flags, SockProtocol::NetlinkRoute)?;
        bind(news.as_raw_fd(), &NetlinkAddr::new(0, libc::RTMGRP_LINK as u32))?;
        // Asked for last, so that no change is missed.
        let mtu = link_mtu(interface)?;
        Ok(LinkWatch { interface: interface.to_owned(), news, mtu })
    }

    /// In bytes.
    pub fn mtu(&self) -> u16 {
        self.mtu
    }

    /// Takes the news, and returns the MTU if it has changed. To be called in the namespace of the interface.
    pub fn poll(&mut self) -> Option<u16> {
        // Whose news it is does not matter, nor whether some was lost: the interface is asked.
        while !matches!(recv(self.news.as_raw_fd(), &mut [0; 1], MsgFlags::empty()), Err(error) if is_empty(error))
        {
        }
        // An interface that is gone for a while has no MTU.
        let mtu = link_mtu(&self.interface).unwrap_or(self.mtu);
        (std::mem::replace(&mut self.mtu, mtu) != mtu).then_some(mtu)
    }
}

fn is_empty(error: nix::errno::Errno) -> bool {
    !matches!(error, nix::errno::Errno::EINTR | nix::errno::Errno::ENOBUFS)
}

impl AsFd for LinkWatch {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.news.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::namespace::Namespace;
    use nix::poll::{PollFd, PollFlags, poll};
    use std::process::Command;

    #[test]
    fn a_change_is_news_once() {
        let Some(namespace) = Namespace::if_permitted() else { return };
        let change = || {
            let ip = |line: &str| Command::new("ip").args(line.split(' ')).status().unwrap().success();
            if !ip("link add v0 type veth peer name v1") {
                return eprintln!("skipped: no ip here (iproute2)");
            }
            let mut watch = LinkWatch::begin("v0").unwrap();
            assert_eq!((watch.mtu(), watch.poll()), (1500, None));
            for (line, news) in [
                ("link set v0 mtu 1300", Some(1300)),
                ("link set v1 mtu 1400", None),
                ("link set v0 mtu 1500", Some(1500)),
                ("link del v0", None),
            ] {
                assert!(ip(line));
                let _ = poll(&mut [PollFd::new(watch.as_fd(), PollFlags::POLLIN)], 10_000u16).unwrap();
                assert_eq!((watch.poll(), watch.poll()), (news, None), "{line}");
            }
        };
        namespace.run(change).unwrap();
    }
}
