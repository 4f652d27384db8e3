//! The loop contract.
//!
//! A machine is a value that never waits, reads no clock, opens nothing and draws no ambient randomness.
//! Its driver — the simulator's heap of events, or one epoll loop on real packets — calls it so:
//!
//! 1. Something happened at `now`: the driver calls the `handle_*` that fits (`handle_segment`, `handle_packet`,
//!    `handle_timeout`). `now` never goes back.
//! 2. The driver drains every `poll_*` that yields output (`poll_transmit`, `poll_delivery`) until it answers `None`.
//! 3. The driver asks `poll_timeout` for the next instant at which the machine wants `handle_timeout`
//!    ([`Time::NEVER`](airtcp_wire::Time::NEVER): none), and remembers it. Calling `handle_timeout` too early is
//!    harmless; too late is what a busy machine would see.
//!
//! `on_*` are hooks that one machine calls on a part of itself (a congestion controller, a recovery policy).
//! Payload bytes never enter a machine: it speaks of stream offsets, and its driver keeps the bytes.
