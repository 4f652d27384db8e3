//! The user behind sudo, whose rights a command gets that this process starts.
//!
//! The user database is asked by way of Debian's programs: a static program cannot load the libraries that nsswitch.conf names.

use anyhow::{Context, anyhow, bail, ensure};
use nix::unistd::{Gid, Uid, geteuid, setgroups, setresgid, setresuid};
use std::env;
use std::path::PathBuf;
use std::process::Command;

/// The exit status of `getent` if the database has no such entry.
const UNKNOWN: i32 = 2;

/// The user who started this process through sudo.
#[derive(Clone, Debug)]
pub struct Invoker {
    uid: Uid,
    gid: Gid,
    groups: Vec<Gid>,
    /// `None` if the user database has no entry for the user.
    account: Option<Account>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Account {
    name: String,
    home: String,
    shell: String,
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
        let account = Account::of(uid)?;
        let gid = Gid::from_raw(gid);
        let groups = account.as_ref().map_or(Ok(vec![gid]), Account::groups)?;
        Ok(Some(Invoker { uid: Uid::from_raw(uid), gid, groups, account }))
    }

    /// Gives this process the user's identity and groups.
    ///
    /// # Errors
    /// The kernel's.
    pub fn adopt(&self) -> anyhow::Result<()> {
        setgroups(&self.groups)?;
        setresgid(self.gid, self.gid, self.gid)?;
        setresuid(self.uid, self.uid, self.uid)?;
        Ok(())
    }

    pub fn shell(&self) -> Option<PathBuf> {
        self.account
            .as_ref()
            .map(|user| PathBuf::from(&user.shell))
            .filter(|shell| !shell.as_os_str().is_empty())
    }

    /// The user's values of the environment variables that sudo has set to root's.
    pub fn environment(&self) -> Vec<(String, String)> {
        let Some(Account { name, home, shell }) = &self.account else { return Vec::new() };
        let values = [("HOME", home), ("SHELL", shell), ("USER", name), ("LOGNAME", name)];
        values.map(|(name, value)| (name.to_owned(), value.clone())).into()
    }
}

impl Account {
    fn of(uid: u32) -> anyhow::Result<Option<Account>> {
        let mut ask = Command::new("getent");
        let asked = ask.args(["passwd", &uid.to_string()]).output().context("getent")?;
        match asked.status.code() {
            Some(0) => Account::parse(&String::from_utf8_lossy(&asked.stdout)).map(Some),
            Some(UNKNOWN) => Ok(None),
            _ => bail!("getent passwd {uid}: {}", String::from_utf8_lossy(&asked.stderr).trim()),
        }
    }

    /// A line of passwd(5).
    fn parse(line: &str) -> anyhow::Result<Account> {
        let fields: Vec<_> = line.trim_end_matches('\n').split(':').map(str::to_owned).collect();
        let [name, _, _, _, _, home, shell] = <[String; 7]>::try_from(fields)
            .map_err(|_| anyhow!("the user database says {line:?}, which is not a line of passwd(5)"))?;
        Ok(Account { name, home, shell })
    }

    fn groups(&self) -> anyhow::Result<Vec<Gid>> {
        let asked = Command::new("id").args(["-G", "--", &self.name]).output().context("id")?;
        ensure!(
            asked.status.success(),
            "id -G {}: {}",
            self.name,
            String::from_utf8_lossy(&asked.stderr).trim()
        );
        let ids = String::from_utf8_lossy(&asked.stdout);
        ids.split_whitespace().map(|id| Ok(Gid::from_raw(id.parse()?))).collect()
    }
}

fn id(variable: &str) -> anyhow::Result<Option<u32>> {
    let Some(text) = env::var_os(variable) else { return Ok(None) };
    let id = text.to_str().and_then(|text| text.parse().ok());
    Ok(Some(id.with_context(|| format!("{variable} is {text:?}, which is not a numeric ID"))?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_of_the_user_database() {
        let root = Account::of(0).unwrap().unwrap();
        assert_eq!((root.name.as_str(), root.home.as_str()), ("root", "/root"));
        assert!(root.groups().unwrap().contains(&Gid::from_raw(0)));
        assert_eq!(Account::of(u32::MAX - 7).unwrap(), None);
        let parsed = Account::parse("ann:x:1000:1000::/home/ann:\n").unwrap();
        assert_eq!(parsed, Account { name: "ann".into(), home: "/home/ann".into(), shell: String::new() });
        assert!(Account::parse("ann:x:1000").is_err());
    }
}
