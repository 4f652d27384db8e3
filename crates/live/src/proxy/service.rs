//! The proxy as a daemon.

use super::config::Config;
use super::counters::Counters;
use super::{Doors, Interception, Proxy, rights, serve};
use crate::daemon::{self, Metrics, Stop};
use caps::Capability;
use std::io;
use std::sync::Arc;

pub struct Service {
    config: Config,
    counters: Arc<Counters>,
}

impl Service {
    pub fn new(config: Config) -> Service {
        Service { config, counters: Arc::default() }
    }
}

impl daemon::Service for Service {
    const NAME: &'static str = "proxy";
    type Doors = Doors;
    type Rules = Option<Interception>;

    fn set_up(&self) -> anyhow::Result<(Doors, Option<Interception>)> {
        let Proxy { doors, rules } = Proxy::set_up(&self.config)?;
        Ok((doors, rules))
    }

    fn rights(&self) -> io::Result<Vec<Capability>> {
        rights::kept(&self.config)
    }

    fn take_no_more(rules: &mut Option<Interception>) {
        if let Some(rules) = rules {
            rules.take_no_more();
        }
    }

    fn metrics(&self) -> Arc<dyn Metrics> {
        Arc::clone(&self.counters) as Arc<dyn Metrics>
    }

    fn serve(&self, doors: Doors, stop: Stop) -> io::Result<()> {
        serve(&self.config, doors, stop, &self.counters)
    }
}
