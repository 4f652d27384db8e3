//! Base-station machines: what each keeps to whatever passes, and that TCP works through each.

mod conformance;
mod delay_jitter;
mod transfers;
mod world;
