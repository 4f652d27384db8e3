//! Base-station machines: what each keeps to whatever passes, that TCP works through each, and packet timelines.

mod bench;
mod conformance;
mod delay_jitter;
mod eln;
mod snoop;
mod split;
mod transfers;
mod world;
