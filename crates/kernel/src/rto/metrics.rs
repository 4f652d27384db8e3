//! The kernel's cache of what it has learnt about destinations (tcp_metrics), over generic netlink.

use netlink_sys::protocols::NETLINK_GENERIC;
use netlink_sys::{Socket, SocketAddr};
use std::io;

// linux/netlink.h, linux/genetlink.h, linux/tcp_metrics.h
const HEADER_LEN: usize = 16;
const GENERIC_HEADER_LEN: usize = 4;
const NLMSG_ERROR: u16 = 2;
const NLM_F_REQUEST: u16 = 1;
const NLM_F_ACK: u16 = 4;
const GENL_ID_CTRL: u16 = 16;
const CTRL_CMD_GETFAMILY: u8 = 3;
const CTRL_ATTR_FAMILY_ID: u16 = 1;
const CTRL_ATTR_FAMILY_NAME: u16 = 2;
const TCP_METRICS_CMD_DEL: u8 = 2;
const FAMILY: &[u8] = b"tcp_metrics\0";

/// Empties the cache of this network namespace.
///
/// # Errors
/// What the kernel refuses.
pub(super) fn flush() -> io::Result<()> {
    let mut socket = Socket::new(NETLINK_GENERIC)?;
    socket.bind_auto()?;
    socket.connect(&SocketAddr::new(0, 0))?;
    let mut name = attribute(CTRL_ATTR_FAMILY_NAME, FAMILY);
    name.resize(name.len().next_multiple_of(4), 0);
    let answer = ask(&socket, GENL_ID_CTRL, NLM_F_REQUEST, CTRL_CMD_GETFAMILY, &name)?;
    let family = family_id(&answer).ok_or_else(|| io::Error::other("the kernel has no tcp_metrics"))?;
    ask(&socket, family, NLM_F_REQUEST | NLM_F_ACK, TCP_METRICS_CMD_DEL, &[]).map(drop)
}

fn attribute(kind: u16, value: &[u8]) -> Vec<u8> {
    let len = (4 + value.len()) as u16;
    [&len.to_ne_bytes()[..], &kind.to_ne_bytes(), value].concat()
}

fn ask(socket: &Socket, kind: u16, flags: u16, command: u8, attributes: &[u8]) -> io::Result<Vec<u8>> {
    let len = (HEADER_LEN + GENERIC_HEADER_LEN + attributes.len()) as u32;
    let header = [&len.to_ne_bytes()[..], &kind.to_ne_bytes(), &flags.to_ne_bytes(), &[0; 8]].concat();
    socket.send(&[&header[..], &[command, 1, 0, 0], attributes].concat(), 0)?;
    let (answer, _) = socket.recv_from_full()?;
    let is_error = answer.get(4..6) == Some(&NLMSG_ERROR.to_ne_bytes()[..]);
    match answer.get(HEADER_LEN..).and_then(|body| body.first_chunk()).map(|code| i32::from_ne_bytes(*code)) {
        Some(code) if is_error && code != 0 => Err(io::Error::from_raw_os_error(-code)),
        _ => Ok(answer),
    }
}

fn family_id(answer: &[u8]) -> Option<u16> {
    let mut rest = answer.get(HEADER_LEN + GENERIC_HEADER_LEN..)?;
    loop {
        let (len, kind) =
            (u16::from_ne_bytes(*rest.first_chunk()?), u16::from_ne_bytes(*rest.get(2..)?.first_chunk()?));
        if kind == CTRL_ATTR_FAMILY_ID {
            return rest.get(4..)?.first_chunk().map(|id| u16::from_ne_bytes(*id));
        }
        rest = rest.get(usize::from(len).max(4).next_multiple_of(4)..)?;
    }
}
