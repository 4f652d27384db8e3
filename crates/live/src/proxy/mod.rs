//! A split connection (paper 003 §IV): a proxy at the base station ends TCP there, and opens a connection of its own to each
//! side. What the wireless link does to packets the wired side never sees.
//!
//! [`Listener`]s take connections, [`Rules`] bring them those that are on their way to others. [`serve`] makes a [`Relay`] of
//! each: two sockets, and a [`Way`] in each direction, in which the kernel moves the data (splice). A way moves nothing
//! while its receiver takes nothing, so that the sender's window closes; hands on an end (FIN) and goes on the other way; and a
//! connection that is lost is told to the other end as a RST.
//!
//! [`Rules`]: rules::Rules
//! [`Relay`]: relay::Relay
//! [`Way`]: way::Way

mod budget;
mod config;
mod connecting;
mod counters;
pub mod daemon;
mod desk;
mod listeners;
mod options;
mod pipe;
mod relay;
mod rights;
mod rules;
mod serve;
mod stop;
mod token;
mod way;

pub use config::{Config, Entrance, Limits, Side, Tuning};
pub use counters::{Counter, Counters};
pub use desk::{MetricsAddress, statuses};
pub use listeners::Listener;
pub use rights::allow_files;
pub use rules::{MARK, Rules};
pub use serve::serve;
pub use stop::{Stop, Stopper, Urgency};

use std::io;

/// A proxy that is set up, and serves nobody yet.
pub struct Proxy {
    pub listeners: Vec<Listener>,
    /// None unless it is transparent.
    pub rules: Option<Rules>,
}

impl Proxy {
    /// In the network namespace of the calling thread.
    ///
    /// # Errors
    /// The kernel's, with what it is about. Nothing is left behind.
    pub fn set_up(config: &Config) -> io::Result<Proxy> {
        options::check(config)?;
        let listeners = Listener::open(config)?;
        let rules = match &config.entrance {
            Entrance::Transparent { wireless, ports } => Some(Rules::install(wireless, ports, &listeners)?),
            Entrance::Fixed { .. } => None,
        };
        Ok(Proxy { listeners, rules })
    }
}

/// Sets a proxy up in the network namespace of the calling thread, and serves until it is told to stop. It takes the rights
/// of root (CAP_NET_ADMIN) and up to six open files a connection: see [`allow_files`].
///
/// # Errors
/// Those of [`Proxy::set_up`] and [`serve`].
pub fn run(config: &Config, stop: Stop, counters: &Counters) -> io::Result<()> {
    let Proxy { listeners, rules } = Proxy::set_up(config)?;
    let served = serve(config, listeners, stop, counters);
    drop(rules);
    served
}
