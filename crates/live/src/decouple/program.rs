//! A command whose connections alone are carried.

use crate::invoker::Invoker;
use crate::namespace::leftovers::{Change, RecordedChange};
use crate::stack::random;
use airtcp_kernel::cgroup::View;
use anyhow::Context;
use nix::sys::prctl;
use nix::sys::signal::Signal;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where nft looks for cgroups.
const ROOT: &str = "/sys/fs/cgroup";

/// A program and its arguments.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Program {
    pub path: String,
    pub arguments: Vec<String>,
}

/// The cgroup of the program's processes, which end when this value is dropped.
pub struct Group {
    /// Where nft finds it.
    path: PathBuf,
    view: View,
    _record: RecordedChange,
}

impl Group {
    /// # Errors
    /// There are no cgroups of version 2 below `/sys/fs/cgroup`; the kernel's.
    pub fn make() -> anyhow::Result<Group> {
        let view = View::find().filter(|view| view.place.starts_with(ROOT)).with_context(|| {
            format!(
                "no cgroups of version 2 are mounted at {ROOT}; inside `ip netns exec NAME`, which hides them, use \
                 `nsenter --net=/run/netns/NAME` instead"
            )
        })?;
        // A random name, because process ids are unique only within a PID namespace.
        let path = view.place.join(format!("airtcp-decouple-{:08x}", u32::from_ne_bytes(random()?)));
        let record = RecordedChange::of(Change::Cgroup(path.clone()))?;
        fs::create_dir(view.reach(&path)).with_context(|| path.display().to_string())?;
        Ok(Group { path, view, _record: record })
    }

    /// The mount namespace in which nft finds it, if it is not this one.
    ///
    /// # Errors
    /// The kernel's.
    pub fn mounts(&self) -> io::Result<Option<File>> {
        self.view.mounts()
    }

    /// The cgroup's name in nft.
    pub fn name(&self) -> String {
        self.path.strip_prefix(ROOT).unwrap_or(&self.path).display().to_string()
    }
}

impl Program {
    /// The command that runs the program in `group`, as the user who started sudo. It ends with the calling thread.
    ///
    /// # Errors
    /// The kernel's, or sudo's variables cannot be understood.
    #[allow(unsafe_code, reason = "what the child does before it runs the command")]
    pub fn command(&self, group: &Group) -> anyhow::Result<Command> {
        let invoker = Invoker::find()?;
        let processes = open(&group.view.reach(&group.path))?;
        let mut command = Command::new(&self.path);
        command.args(&self.arguments);
        command.envs(invoker.iter().flat_map(Invoker::environment));
        let settle = move || {
            (&processes).write_all(b"0")?;
            invoker.as_ref().map_or(Ok(()), Invoker::adopt).map_err(io::Error::other)?;
            // After the change of user, which would reset it.
            Ok(prctl::set_pdeathsig(Signal::SIGKILL)?)
        };
        // SAFETY: a single thread starts it (`daemon::run`), so that no lock is held that allocating would take.
        unsafe { command.pre_exec(settle) };
        Ok(command)
    }
}

fn open(group: &Path) -> io::Result<File> {
    File::options().write(true).open(group.join("cgroup.procs"))
}
