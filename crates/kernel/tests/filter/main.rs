//! Programs that see packets, in the kernel: packet control, packet by packet (BPF_PROG_TEST_RUN), and header-first dropping at a
//! router. The rules of both against the protocol machines'.

mod header_first;
mod packets;
mod router;
mod rules;
