//! A cgroup's connections: a sockops program selects the controller for each.

use crate::cc::CcError;
use crate::cc::pins::folder;
use crate::cgroup;
use crate::loading::{self, listening};
use crate::skeleton::apply::ApplySkelBuilder;
use libbpf_rs::skel::{OpenSkel, SkelBuilder};
use serde::{Deserialize, Serialize};
use std::mem::MaybeUninit;
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InCgroup {
    pub path: PathBuf,
    /// The cgroup's number, which is unique.
    pub id: u64,
}

impl InCgroup {
    pub(super) fn plan(path: &Path) -> Result<InCgroup, CcError> {
        let doing = || CcError::io(format!("open the cgroup {}", path.display()));
        let id = cgroup::open(path)?.metadata().map_err(doing())?.ino();
        Ok(InCgroup { path: path.canonicalize().map_err(doing())?, id })
    }

    pub(super) fn apply(&self, name: &str) -> Result<(), CcError> {
        let cgroup = cgroup::open(&self.path)?;
        listening(|| {
            let mut object = MaybeUninit::uninit();
            let mut open = ApplySkelBuilder::default().open(&mut object)?;
            let constants = open.maps.rodata_data.as_deref_mut().expect("the program has constants");
            for (to, from) in constants.name.iter_mut().zip(name.bytes()) {
                *to = from as _;
            }
            let skeleton = open.load()?;
            skeleton.progs.apply.attach_cgroup(cgroup.as_raw_fd())?.pin(self.pin(name))
        })
        .map_err(|refusal| CcError::refusal(format!("apply `{name}` to {}", self.path.display()), refusal))
    }

    /// The kernel detaches a program when its pin is gone.
    pub(super) fn undo(&self, name: &str) -> Result<bool, CcError> {
        loading::remove(&self.pin(name)).map_err(CcError::io("remove its pin"))
    }

    fn pin(&self, name: &str) -> PathBuf {
        folder(name).join(format!("cgroup_{}", self.id))
    }
}
