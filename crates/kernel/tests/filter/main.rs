//! Packet control in the kernel: packet by packet (BPF_PROG_TEST_RUN), and its rules against the protocol
//! machine's.

mod packets;
mod rules;
