//! The RFCs' rules as packet timelines. Each test names the clause that it proves.

mod acknowledging;
mod attacks;
mod copies;
mod corruption;
mod eln;
mod fast_open;
mod handshake;
mod loss_recovery;
mod path_mtu;
mod script;
mod spurious;
mod timer;
mod window;
