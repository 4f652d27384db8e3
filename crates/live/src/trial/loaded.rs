//! What a run loads into the kernel for its flows, and removes again: congestion controls, and a rule for the timers.

use super::flows::Flow;
use super::forms::{CongestionControl, Onward, Proxy, Station};
use crate::namespace::leftovers::{Change, RecordedChange};
use crate::warn;
use airtcp_kernel::cc::{self, CcError, Counters, Registered, Request};
use airtcp_kernel::cgroup;
use airtcp_kernel::filter::FilterError;
use airtcp_kernel::rto::{self, Attached, RtoError, RtoRule};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fs, io, mem, process};

#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    #[error(transparent)]
    Controller(#[from] CcError),
    #[error(transparent)]
    Rto(#[from] RtoError),
    #[error(transparent)]
    Filter(#[from] FilterError),
    #[error("a host for the run: {0}")]
    Host(io::Error),
    #[error("a router for the run: {0}")]
    Router(io::Error),
    #[error("a cgroup for the run: {0}")]
    Cgroup(io::Error),
}

/// Congestion controls under names of this run's own, so that others may load the same ones with other parameters.
pub struct Controllers(Vec<(CongestionControl, Registered)>);

impl Controllers {
    /// Loads what the flows need, and makes them use it.
    ///
    /// # Errors
    /// What the kernel refuses. Nothing is left behind.
    pub fn load(flows: &mut [Flow]) -> Result<Controllers, CcError> {
        let mut loaded = Controllers(Vec::new());
        for flow in flows.iter_mut().filter(|flow| !flow.is_datagrams) {
            let form = Arc::make_mut(&mut flow.form);
            loaded.name(&mut form.congestion_control)?;
            if let Some(Station::Proxy(Proxy { onward: Onward::Kernel(control), .. })) = &mut form.station {
                loaded.name(control)?;
            }
        }
        Ok(loaded)
    }

    /// Sets the name of a controller, and loads it first if it is to be loaded.
    fn name(&mut self, wanted: &mut CongestionControl) -> Result<(), CcError> {
        if wanted.loaded {
            wanted.name = match self.find(wanted) {
                Some(known) => known.name().to_owned(),
                None => self.register(wanted)?,
            };
        }
        Ok(())
    }

    /// Counters of a controller.
    ///
    /// # Errors
    /// What the kernel refuses.
    pub fn counters(&self, wanted: &CongestionControl) -> Result<Option<Counters>, CcError> {
        self.find(wanted).map(|known| known.counters()).transpose()
    }

    fn find(&self, wanted: &CongestionControl) -> Option<&Registered> {
        self.0.iter().find(|(known, _)| known == wanted).map(|(_, registered)| registered)
    }

    fn register(&mut self, wanted: &CongestionControl) -> Result<String, CcError> {
        let name = format!("air{}_{}", process::id(), self.0.len());
        let controller = cc::find(&wanted.name)?;
        let params = wanted.parameters.clone();
        let registered = cc::register(&Request { controller, name: Some(name.clone()), params })?;
        self.0.push((wanted.clone(), registered));
        Ok(name)
    }
}

/// A rule for the timers of all connections that this process makes while the value lives. Meanwhile, the process is
/// in a cgroup of its own.
pub struct TimerRule {
    home: PathBuf,
    /// Both are `None` only during the drop.
    attached: Option<Attached>,
    record: Option<RecordedChange>,
}

impl TimerRule {
    /// # Errors
    /// What the kernel refuses. Nothing is left behind.
    pub fn impose(rule: &RtoRule) -> Result<TimerRule, LoadError> {
        let root = cgroup::mount().ok_or_else(|| {
            let text = "no cgroup2 is mounted; `mount -t cgroup2 none /sys/fs/cgroup` does it";
            LoadError::Cgroup(io::Error::new(io::ErrorKind::NotFound, text))
        })?;
        let home = home(&root).map_err(LoadError::Cgroup)?;
        let own = root.join(format!("airtcp-run-{}", process::id()));
        let record = RecordedChange::of(Change::Cgroup(own.clone())).map_err(LoadError::Cgroup)?;
        fs::create_dir(&own).map_err(LoadError::Cgroup)?;
        let attached = rto::attach(&own, rule)?;
        move_to(&own).map_err(LoadError::Cgroup)?;
        Ok(TimerRule { home, attached: Some(attached), record: Some(record) })
    }
}

impl Drop for TimerRule {
    fn drop(&mut self) {
        drop(self.attached.take());
        if let Err(error) = move_to(&self.home) {
            // Undoing the record would kill what is in the cgroup, which is this process. The next start does it.
            warn!("airtcpd: {}: {error}", self.home.display());
            mem::forget(self.record.take());
        }
    }
}

/// The cgroup that this process is in.
fn home(root: &Path) -> io::Result<PathBuf> {
    let text = fs::read_to_string("/proc/self/cgroup")?;
    let path = text.lines().find_map(|line| line.strip_prefix("0::/"));
    path.map(|path| root.join(path)).ok_or_else(|| io::ErrorKind::NotFound.into())
}

fn move_to(cgroup: &Path) -> io::Result<()> {
    fs::write(cgroup.join("cgroup.procs"), "0")
}
