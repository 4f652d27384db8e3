//! The loop contract.
//!
//! A machine is a value that never waits, reads no clock, opens nothing and draws no ambient randomness. Its driver (the simulator's event
//! loop, or an epoll loop on real packets) calls it as follows:
//!
//! 1. When something happens at `now`, the driver calls the `handle_*` for it (`handle_segment`, `handle_packet`, `handle_timeout`). `now`
//!    never goes back.
//! 2. The driver drains every `poll_*` that yields output (`poll_transmit`, `poll_delivery`) until it returns `None`.
//! 3. The driver asks `poll_timeout` for the next time at which the machine wants `handle_timeout`
//!    ([`Time::NEVER`](airtcp_wire::Time::NEVER) for none), and remembers it. To call `handle_timeout` too early is harmless; to call it too
//!    late is what happens on a busy host.
//!
//! `on_*` are hooks that a machine calls on a part of itself (a congestion controller, a recovery policy). Payload bytes never enter a
//! machine: it deals in stream offsets, and its driver keeps the bytes.
