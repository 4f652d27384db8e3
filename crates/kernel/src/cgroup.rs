//! Cgroups of version 2.

use nix::sys::statfs::{CGROUP_SUPER_MAGIC, CGROUP2_SUPER_MAGIC, fstatfs};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// Why a cgroup cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum CgroupError {
    #[error("no cgroup {0}: {1}")]
    Open(PathBuf, io::Error),
    #[error("{0} is not a v2 cgroup but {1}; v2 cgroups are mounted at {2}")]
    NotVersion2(PathBuf, &'static str, String),
}

/// Opens the folder of a cgroup.
///
/// # Errors
/// It does not exist, or is not a cgroup of version 2.
pub fn open(path: &Path) -> Result<File, CgroupError> {
    let failed = |error| CgroupError::Open(path.to_owned(), error);
    let folder = File::open(path).map_err(failed)?;
    let kind = fstatfs(&folder).map_err(|errno| failed(errno.into()))?.filesystem_type();
    if kind == CGROUP2_SUPER_MAGIC {
        return Ok(folder);
    }
    let what = if kind == CGROUP_SUPER_MAGIC { "a v1 cgroup" } else { "a file or folder elsewhere" };
    let mounted = mount().map_or_else(|| "no place".to_owned(), |place| place.display().to_string());
    Err(CgroupError::NotVersion2(path.to_owned(), what, mounted))
}

/// Where cgroups of version 2 are mounted. If they are not in this mount namespace, as in those of `ip netns exec`, the
/// place is seen through a process that has them.
pub fn mount() -> Option<PathBuf> {
    let view = View::find()?;
    Some(view.reach(&view.place))
}

/// A process whose mount namespace has cgroups of version 2.
pub struct View {
    /// Where they are mounted there.
    pub place: PathBuf,
    /// `None` for this process itself.
    process: Option<PathBuf>,
}

impl View {
    /// This process, or else any that shows the whole hierarchy.
    #[must_use]
    pub fn find() -> Option<View> {
        let own = mounted(Path::new("/proc/self"), |_| true).map(|place| View { place, process: None });
        own.or_else(|| {
            let processes = fs::read_dir("/proc").ok()?.flatten().map(|entry| entry.path());
            let views = processes.filter_map(|process| {
                let place = mounted(&process, |root| root == "/")?;
                Some(View { place, process: Some(process) })
            });
            // A process of more rights does not let others in.
            views.into_iter().find(|view| view.reach(&view.place).is_dir())
        })
    }

    /// A path there as one that this process can use.
    #[must_use]
    pub fn reach(&self, path: &Path) -> PathBuf {
        match &self.process {
            None => path.to_owned(),
            Some(process) => process.join("root").join(path.strip_prefix("/").unwrap_or(path)),
        }
    }

    /// The mount namespace, if it is another one.
    ///
    /// # Errors
    /// The kernel's.
    pub fn mounts(&self) -> io::Result<Option<File>> {
        self.process.as_ref().map(|process| File::open(process.join("ns/mnt"))).transpose()
    }
}

/// Where a process sees cgroups of version 2 whose root is as `root` demands (proc_pid_mountinfo(5)).
fn mounted(process: &Path, root: impl Fn(&str) -> bool) -> Option<PathBuf> {
    let mounts = fs::read_to_string(process.join("mountinfo")).ok()?;
    mounts.lines().find_map(|line| {
        let (mount, system) = line.split_once(" - ")?;
        let mut fields = mount.split(' ').skip(3);
        let is_whole = root(fields.next()?);
        (is_whole && system.starts_with("cgroup2 ")).then(|| fields.next().map(PathBuf::from)).flatten()
    })
}
