//! TCP connections within this thread's namespace.

use nix::sys::socket::sockopt::TcpCongestion;
use nix::sys::socket::{getsockopt, setsockopt};
use nix::{getsockopt_impl, setsockopt_impl, sockopt_impl};
use std::ffi::OsString;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread::sleep;
use std::time::Duration;

sockopt_impl!(TcpInfo, GetOnly, libc::IPPROTO_TCP, libc::TCP_INFO, libc::tcp_info);
sockopt_impl!(AttachFilter, SetOnly, libc::SOL_SOCKET, libc::SO_ATTACH_FILTER, libc::sock_fprog);
sockopt_impl!(MaxPacingRate, SetOnly, libc::SOL_SOCKET, libc::SO_MAX_PACING_RATE, u32);
sockopt_impl!(DetachFilter, SetOnly, libc::SOL_SOCKET, libc::SO_DETACH_FILTER, libc::c_int);

/// ssthresh before the first reduction.
const INFINITE: u32 = 0x7fff_ffff;

/// A connection over loopback: who opened it, and who accepted.
pub fn pair() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let opener = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    (opener, listener.accept().unwrap().0)
}

pub fn select(socket: &TcpStream, name: &str) -> nix::Result<()> {
    setsockopt(socket, TcpCongestion, &OsString::from(name))
}

pub fn selected(socket: &TcpStream) -> String {
    let name = getsockopt(socket, TcpCongestion).unwrap().into_string().unwrap();
    name.trim_end_matches('\0').to_owned()
}

/// As an application limits its rate.
pub fn pace(socket: &TcpStream, bytes_per_s: u32) {
    setsockopt(socket, MaxPacingRate, &bytes_per_s).unwrap();
}

/// Sends and receives so many times 10 kB, which the buffers hold.
pub fn transfer((opener, acceptor): &mut (TcpStream, TcpStream), times: usize) {
    for _ in 0..times {
        opener.write_all(&[1; 10_000]).unwrap();
        acceptor.read_exact(&mut [0; 10_000]).unwrap();
    }
}

/// Loses one segment among others of what the first of the two sends, on a link with this MTU, and answers the ssthresh
/// that its controller makes of it, in segments.
#[allow(clippy::disallowed_methods, reason = "the kernel works in its own time")]
pub fn lose_one((opener, acceptor): &mut (TcpStream, TcpStream), mtu: usize) -> u32 {
    opener.set_nodelay(true).unwrap();
    drop_single_bytes(acceptor);
    opener.write_all(&[1]).unwrap();
    opener.write_all(&vec![1; 8 * mtu]).unwrap();
    let reduced = (0..100).find_map(|_| {
        sleep(Duration::from_millis(1));
        Some(getsockopt(opener, TcpInfo).unwrap().tcpi_snd_ssthresh).filter(|&ssthresh| ssthresh != INFINITE)
    });
    setsockopt(acceptor, DetachFilter, &0).unwrap();
    acceptor.read_exact(&mut vec![0; 8 * mtu + 1]).unwrap();
    reduced.expect("the loss is noticed")
}

/// Of what comes in, segments with one byte are lost from now on.
fn drop_single_bytes(socket: &TcpStream) {
    let code = |code: u32| code as u16;
    let step = |code, jt, jf, k| libc::sock_filter { code, jt, jf, k };
    // 20 bytes of header, 12 of timestamps, 1 of data.
    let mut program = [
        step(code(libc::BPF_LD | libc::BPF_W | libc::BPF_LEN), 0, 0, 0),
        step(code(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K), 0, 1, 33),
        step(code(libc::BPF_RET | libc::BPF_K), 0, 0, 0),
        step(code(libc::BPF_RET | libc::BPF_K), 0, 0, u32::MAX),
    ];
    let program = libc::sock_fprog { len: 4, filter: program.as_mut_ptr() };
    setsockopt(socket, AttachFilter, &program).unwrap();
}
