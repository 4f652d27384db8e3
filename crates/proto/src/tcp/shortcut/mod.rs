//! Ways to the same result with less work. Each is used through one door, and states its one invariant there.

pub mod rest;
