//! An Ethernet interface, such as one end of a veth pair, through a packet socket.

use crate::offload::{DESCRIPTION_LEN, Offload, Pieces};
use crate::tun::PacketDevice;
use nix::errno::Errno;
use nix::sys::socket::{
    AddressFamily, ControlMessageOwned, GetSockOpt, MsgFlags, SockFlag, SockType, UnknownCmsg, bind, recvmsg,
    sendmsg, setsockopt, socket, sockopt,
};
use nix::sys::time::TimeSpec;
use std::cell::Cell;
use std::io::{self, IoSlice, IoSliceMut};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::time::{SystemTime, UNIX_EPOCH};

/// Bytes that may wait in the socket until the driver fetches them: 30 ms at 2 Gbit/s.
const RECEIVE_BUFFER_BYTES: usize = 8 << 20;
/// Longest frame in bytes, without and with the tag that the kernel has taken off.
const LONGEST: usize = (1 << 16) + 60;
const MAX_FRAME: usize = LONGEST + TAG_LEN;
const TAG_LEN: usize = 4;
/// Offset of the tag, behind the two addresses.
const TAG_AT: usize = 12;

/// Receives every frame that comes in by the interface, and none that the host itself sends there. Long segments are
/// cut into packets with checksums. All settings vanish with this value.
pub struct PacketSocket {
    socket: OwnedFd,
    /// The frame that is being handed out, its length, what is left of it, and when the kernel received it.
    frame: Box<[u8]>,
    len: usize,
    pieces: Pieces,
    arrived: Option<SystemTime>,
    control: Vec<u8>,
    missed: Cell<u64>,
}

impl PacketSocket {
    /// Opens the Ethernet interface with this index in this thread's network namespace.
    ///
    /// # Errors
    /// The kernel's: without CAP_NET_RAW, operation not permitted.
    pub fn open(index: u32) -> io::Result<PacketSocket> {
        let flags = SockFlag::SOCK_NONBLOCK | SockFlag::SOCK_CLOEXEC;
        // With protocol 0, it sees nothing until it is bound.
        let socket = socket(AddressFamily::Packet, SockType::Raw, flags, None)?;
        setsockopt(&socket, option::IgnoreOutgoing, &true)?;
        setsockopt(&socket, option::VnetHeader, &true)?;
        setsockopt(&socket, option::AuxiliaryData, &true)?;
        setsockopt(&socket, sockopt::ReceiveTimestampns, &true)?;
        setsockopt(&socket, sockopt::RcvBufForce, &RECEIVE_BUFFER_BYTES)
            .or_else(|_| setsockopt(&socket, sockopt::RcvBuf, &RECEIVE_BUFFER_BYTES))?;
        setsockopt(&socket, option::AddMembership, &option::promiscuous(index))?;
        bind(socket.as_raw_fd(), &option::address(index))?;
        Ok(PacketSocket {
            socket,
            frame: vec![0; MAX_FRAME].into(),
            len: 0,
            pieces: Pieces::none(),
            arrived: None,
            control: nix::cmsg_space!(libc::tpacket_auxdata, TimeSpec),
            missed: Cell::new(0),
        })
    }

    /// Receives the next frame as the kernel has it; `None` if none waits.
    ///
    /// # Errors
    /// The kernel's.
    pub fn recv_uncut(&mut self) -> io::Result<Option<Uncut<'_>>> {
        let Some(offload) = self.fetch()? else { return Ok(None) };
        let frame = &self.frame[..self.len];
        Ok(Some(Uncut { frame, pieces: Pieces::of(frame, offload) }))
    }

    /// Fetches the next frame, and returns what is left to do for it; `None` if none waits.
    fn fetch(&mut self) -> io::Result<Option<Offload>> {
        let mut description = [0; DESCRIPTION_LEN];
        let mut parts = [IoSliceMut::new(&mut description), IoSliceMut::new(&mut self.frame[..LONGEST])];
        let fd = self.socket.as_raw_fd();
        let message = loop {
            match recvmsg::<()>(fd, &mut parts, Some(&mut self.control), MsgFlags::empty()) {
                Ok(message) => break message,
                // The kernel has dropped a frame whose segmentation it cannot describe: before Linux 6.2, that of
                // UDP (UDP_SEGMENT).
                Err(Errno::EINVAL) => self.missed.set(self.missed.get() + 1),
                Err(Errno::EAGAIN | Errno::ENETDOWN) => return Ok(None),
                Err(error) => return Err(error.into()),
            }
        };
        let mut tag = None;
        self.arrived = None;
        for beside in message.cmsgs()? {
            match beside {
                ControlMessageOwned::ScmTimestampns(at) => self.arrived = Some(UNIX_EPOCH + at.into()),
                ControlMessageOwned::Unknown(beside) => tag = tag.or(vlan_tag(&beside)),
                _ => {}
            }
        }
        self.len = message.bytes.saturating_sub(DESCRIPTION_LEN);
        let offload = Offload::read(&description);
        Ok(Some(match tag.filter(|_| self.len >= TAG_AT) {
            Some(tag) => self.put_back(tag, offload),
            None => offload,
        }))
    }

    fn put_back(&mut self, tag: [u8; TAG_LEN], offload: Offload) -> Offload {
        self.frame.copy_within(TAG_AT..self.len, TAG_AT + TAG_LEN);
        self.frame[TAG_AT..TAG_AT + TAG_LEN].copy_from_slice(&tag);
        self.len += TAG_LEN;
        offload.shifted(TAG_LEN)
    }
}

/// A frame as the kernel has it: one packet, or several in one.
pub struct Uncut<'a> {
    pub frame: &'a [u8],
    /// `None` if they cannot be told.
    pieces: Option<Pieces>,
}

impl Uncut<'_> {
    /// How many packets it is.
    pub fn packets(&self) -> u16 {
        let whole = self.pieces.as_ref().and_then(|pieces| pieces.whole_within(self.frame.len(), usize::MAX));
        whole.map_or(1, |whole| whole.packets as u16)
    }

    /// Writes each of its packets to `room`, as a frame with checksums, and calls `see` with it.
    pub fn cut(self, room: &mut [u8], mut see: impl FnMut(&[u8])) {
        let mut pieces = self.pieces.unwrap_or_else(Pieces::none);
        while let Some(len) = pieces.next_into(self.frame, room) {
            see(&room[..len]);
        }
    }
}

/// The VLAN tag of a frame. The kernel takes it off, and reports it beside the frame.
fn vlan_tag(message: &UnknownCmsg) -> Option<[u8; TAG_LEN]> {
    let header = message.cmsg_header;
    if (header.cmsg_level, header.cmsg_type) != (libc::SOL_PACKET, libc::PACKET_AUXDATA) {
        return None;
    }
    // struct tpacket_auxdata: tp_status, tp_len, tp_snaplen, tp_mac, tp_net, tp_vlan_tci, tp_vlan_tpid.
    let data = message.data_bytes.first_chunk::<20>()?;
    let status = u32::from_ne_bytes([data[0], data[1], data[2], data[3]]);
    let [tci, tpid] = [16, 18].map(|at| u16::from_ne_bytes([data[at], data[at + 1]]).to_be_bytes());
    (status & libc::TP_STATUS_VLAN_VALID != 0).then_some([tpid[0], tpid[1], tci[0], tci[1]])
}

impl AsFd for PacketSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl PacketDevice for PacketSocket {
    fn recv(&mut self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        loop {
            if let Some(len) = self.pieces.next_into(&self.frame[..self.len], buffer) {
                return Ok(Some(len));
            }
            let Some(offload) = self.fetch()? else { return Ok(None) };
            match Pieces::of(&self.frame[..self.len], offload) {
                Some(pieces) => self.pieces = pieces,
                None => self.missed.set(self.missed.get() + 1),
            }
        }
    }

    fn arrived(&self) -> Option<SystemTime> {
        self.arrived
    }

    fn send(&mut self, packet: &[u8]) -> io::Result<()> {
        const NOTHING_LEFT_TO_DO: [u8; DESCRIPTION_LEN] = [0; DESCRIPTION_LEN];
        let parts = [IoSlice::new(&NOTHING_LEFT_TO_DO), IoSlice::new(packet)];
        sendmsg::<()>(self.socket.as_raw_fd(), &parts, &[], MsgFlags::empty(), None)?;
        Ok(())
    }

    fn missed(&self) -> u64 {
        let since_last_time =
            option::Statistics.get(&self.socket).map_or(0, |stats| u64::from(stats.tp_drops));
        self.missed.set(self.missed.get() + since_last_time);
        self.missed.get()
    }
}

/// Socket options that the library lacks.
#[allow(unsafe_code, reason = "setsockopt(2) with structures of the kernel's packet socket interface")]
mod option {
    use nix::sys::socket::{LinkAddr, SockaddrLike};
    use nix::{getsockopt_impl, setsockopt_impl, sockopt_impl};

    sockopt_impl!(
        /// Does not receive frames that this host sends.
        IgnoreOutgoing, SetOnly, libc::SOL_PACKET, libc::PACKET_IGNORE_OUTGOING, bool);
    sockopt_impl!(
        /// Puts a description of what is left to do in front of each frame.
        VnetHeader, SetOnly, libc::SOL_PACKET, libc::PACKET_VNET_HDR, bool);
    sockopt_impl!(
        /// Reports VLAN tags beside the frame.
        AuxiliaryData, SetOnly, libc::SOL_PACKET, libc::PACKET_AUXDATA, bool);
    sockopt_impl!(
        /// Joins a group that receives more frames.
        AddMembership, SetOnly, libc::SOL_PACKET, libc::PACKET_ADD_MEMBERSHIP, libc::packet_mreq);
    sockopt_impl!(
        /// Counts since the last call.
        Statistics, GetOnly, libc::SOL_PACKET, libc::PACKET_STATISTICS, libc::tpacket_stats);

    /// All frames, whatever their destination.
    pub fn promiscuous(index: u32) -> libc::packet_mreq {
        libc::packet_mreq {
            mr_ifindex: index as i32,
            mr_type: libc::PACKET_MR_PROMISC as u16,
            mr_alen: 0,
            mr_address: [0; 8],
        }
    }

    /// Frames of all protocols on an interface.
    pub fn address(index: u32) -> LinkAddr {
        let address = libc::sockaddr_ll {
            sll_family: libc::AF_PACKET as u16,
            sll_protocol: (libc::ETH_P_ALL as u16).to_be(),
            sll_ifindex: index as i32,
            sll_hatype: 0,
            sll_pkttype: 0,
            sll_halen: 0,
            sll_addr: [0; 8],
        };
        let len = size_of::<libc::sockaddr_ll>() as libc::socklen_t;
        // SAFETY: the pointer is to a whole address of the family that it names.
        unsafe { LinkAddr::from_raw((&raw const address).cast(), Some(len)) }.expect("it is of that family")
    }
}
