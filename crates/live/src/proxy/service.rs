//! The proxy as a daemon.

use super::config::Config;
use super::counters::Counters;
use super::{Doors, Everything, Proxy, rights, serve};
use crate::daemon::{self, Stop, Told};
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
    type Rules = Option<Everything>;

    fn set_up(&self) -> anyhow::Result<(Doors, Option<Everything>)> {
        let Proxy { doors, rules } = Proxy::set_up(&self.config)?;
        Ok((doors, rules))
    }

    fn rights(&self) -> io::Result<Vec<Capability>> {
        rights::kept(&self.config)
    }

    fn take_no_more(rules: &mut Option<Everything>) {
        if let Some(rules) = rules {
            rules.take_no_more();
        }
    }

    fn told(&self) -> Arc<dyn Told> {
        Arc::clone(&self.counters) as Arc<dyn Told>
    }

    fn serve(&self, doors: Doors, stop: Stop) -> io::Result<()> {
        serve(&self.config, doors, stop, &self.counters)
    }
}
