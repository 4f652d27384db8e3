//! The user behind sudo, whose rights a command gets that this process starts.

use anyhow::Context;
use nix::unistd::{Gid, Uid, User, geteuid, initgroups, setgroups, setresgid, setresuid};
use std::env;
use std::ffi::CString;
use std::path::PathBuf;

/// The user who started this process through sudo.
#[derive(Clone, Debug)]
pub struct Invoker {
    uid: Uid,
    gid: Gid,
    /// `None` if the user database has no entry for the user.
    user: Option<User>,
}

impl Invoker {
    /// Returns `None` if sudo has not started this process, or root has started sudo.
    ///
    /// # Errors
    /// When sudo's variables are no ids, or the user database cannot be read.
    pub fn find() -> anyhow::Result<Option<Invoker>> {
        let Some(uid) = id("SUDO_UID")?.filter(|&uid| geteuid().is_root() && uid != 0) else {
            return Ok(None);
        };
        let gid = id("SUDO_GID")?.context("SUDO_UID is set and SUDO_GID is not")?;
        let uid = Uid::from_raw(uid);
        Ok(Some(Invoker { uid, gid: Gid::from_raw(gid), user: User::from_uid(uid)? }))
    }

    /// Gives this process the user's identity and groups.
    ///
    /// # Errors
    /// The kernel's.
    pub fn adopt(&self) -> anyhow::Result<()> {
        match &self.user {
            Some(user) => initgroups(&CString::new(user.name.as_str())?, self.gid)?,
            None => setgroups(&[self.gid])?,
        }
        setresgid(self.gid, self.gid, self.gid)?;
        setresuid(self.uid, self.uid, self.uid)?;
        Ok(())
    }

    pub fn shell(&self) -> Option<PathBuf> {
        self.user.as_ref().map(|user| user.shell.clone()).filter(|shell| !shell.as_os_str().is_empty())
    }

    /// The user's values of the environment variables that sudo has set to root's.
    pub fn environment(&self) -> Vec<(String, String)> {
        let Some(user) = &self.user else { return Vec::new() };
        let home = user.dir.to_string_lossy().into_owned();
        let shell = user.shell.to_string_lossy().into_owned();
        let values =
            [("HOME", home), ("SHELL", shell), ("USER", user.name.clone()), ("LOGNAME", user.name.clone())];
        values.map(|(name, value)| (name.to_owned(), value)).into()
    }
}

fn id(variable: &str) -> anyhow::Result<Option<u32>> {
    let Some(text) = env::var_os(variable) else { return Ok(None) };
    let id = text.to_str().and_then(|text| text.parse().ok());
    Ok(Some(id.with_context(|| format!("{variable} is {text:?}, which is not a numeric ID"))?))
}
