//! A table of nft that goes with this process: it belongs to the socket of the nft process that made it (`flags
//! owner`), which ends when its input does. Before Linux 5.12 and nft 0.9.9 no table has an owner; it is then on record
//! as a change to undo.

use super::leftovers::{Change, RecordedChange};
use nix::sched::{CloneFlags, setns};
use std::fs::File;
use std::io::{self, BufRead, BufReader, PipeReader, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

/// The table, removed when this value is dropped.
pub struct Table {
    nft: Nft,
    /// Dropped after nft has ended.
    _record: Option<RecordedChange>,
}

impl Table {
    /// Makes the table `name`, which includes its family, in the network namespace of the calling thread. `chains` is
    /// its text, in one line.
    ///
    /// # Errors
    /// nft is missing, or refuses the table.
    pub fn make(name: &str, chains: &str) -> io::Result<Table> {
        Table::make_within(None, name, chains)
    }

    /// [`make`](Table::make) for a table with paths in a mount namespace, if that is not this one.
    ///
    /// # Errors
    /// As [`make`](Table::make); the namespace cannot be entered.
    pub fn make_within(mounts: Option<File>, name: &str, chains: &str) -> io::Result<Table> {
        match Nft::with(mounts.as_ref(), name, &format!("flags owner; {chains}")) {
            Ok(nft) => Ok(Table { nft, _record: None }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Err(error),
            Err(_) => Table::without_owner(mounts.as_ref(), name, chains),
        }
    }

    fn without_owner(mounts: Option<&File>, name: &str, chains: &str) -> io::Result<Table> {
        let record = RecordedChange::of(Change::Table(name.to_owned()))?;
        Ok(Table { nft: Nft::with(mounts, name, chains)?, _record: Some(record) })
    }

    /// Sends nft one more line.
    pub fn send(&mut self, line: &str) {
        self.nft.send(line);
    }
}

/// Removes a table, if it is there, from the network namespace of the calling thread.
///
/// # Errors
/// nft is missing, or refuses.
pub fn remove(name: &str) -> io::Result<()> {
    // Added first, as removing what is not there fails.
    let line = format!("add table {name}; delete table {name}");
    let done = Command::new("nft").arg(line).stdin(Stdio::null()).output().map_err(missing)?;
    match done.status.success() {
        true => Ok(()),
        false => Err(refused(&String::from_utf8_lossy(&done.stderr))),
    }
}

/// An nft process that reads its standard input.
struct Nft {
    process: Child,
    /// Closed only with nft, which a closed pipe would end.
    _answers: BufReader<PipeReader>,
}

impl Nft {
    /// One that has made the table.
    #[allow(unsafe_code, reason = "what the child does before it runs nft")]
    fn with(mounts: Option<&File>, name: &str, text: &str) -> io::Result<Nft> {
        let (answers, output) = io::pipe()?;
        let mut nft = Command::new("nft");
        if let Some(mounts) = mounts.map(File::try_clone).transpose()? {
            // SAFETY: a system call alone; nothing allocates, and no lock is taken.
            unsafe { nft.pre_exec(move || Ok(setns(&mounts, CloneFlags::CLONE_NEWNS)?)) };
        }
        let process = nft
            .arg("--interactive")
            .stdin(Stdio::piped())
            .stdout(output.try_clone()?)
            .stderr(output)
            // Ctrl-C is for this process, which ends nft itself.
            .process_group(0)
            .spawn()
            .map_err(missing)?;
        let mut nft = Nft { process, _answers: BufReader::new(answers) };
        nft.send(&format!("table {name} {{ {text} }}\nlist table {name}"));
        let mut answer = String::new();
        match nft._answers.read_line(&mut answer) {
            Ok(_) if answer.starts_with("table") => Ok(nft),
            _ => Err(refused(&answer)),
        }
    }

    fn send(&mut self, line: &str) {
        // When nft is gone, so is the table.
        let _ =
            self.process.stdin.as_mut().map_or(Ok(()), |nft| nft.write_all(format!("{line}\n").as_bytes()));
    }
}

impl Drop for Nft {
    fn drop(&mut self) {
        drop(self.process.stdin.take());
        let _ = self.process.wait();
    }
}

fn missing(error: io::Error) -> io::Error {
    match error.kind() {
        io::ErrorKind::NotFound => io::Error::new(error.kind(), "nft is missing: install nftables"),
        _ => error,
    }
}

fn refused(answer: &str) -> io::Error {
    io::Error::other(format!("nft rejected the table: {}", answer.trim_end()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::namespace::Namespace;

    fn tables() -> String {
        let listed = Command::new("nft").args(["list", "tables"]).output().unwrap();
        String::from_utf8(listed.stdout).unwrap()
    }

    #[test]
    fn a_table_goes_with_its_maker_with_an_owner_and_without() {
        const NAME: &str = "inet airtcp_test";
        let Some(namespace) = Namespace::if_permitted() else { return };
        if Command::new("nft").arg("--version").output().is_err() {
            return eprintln!("skipped: no nft here");
        }
        let lives = |make: fn() -> io::Result<Table>| {
            let mut table = make().unwrap();
            table.send(&format!("add chain {NAME} more"));
            let there = tables();
            drop(table);
            assert!(there.contains(NAME) && !tables().contains(NAME), "{there}");
        };
        namespace
            .run(|| {
                lives(|| Table::make(NAME, "chain one { };"));
                lives(|| Table::without_owner(None, NAME, "chain one { };"));
                remove(NAME).unwrap();
                let refused = Table::make(NAME, "chain one { nonsense };").map(drop).unwrap_err().to_string();
                assert!(refused.contains("nft rejected the table") && !tables().contains(NAME), "{refused}");
            })
            .unwrap();
    }
}
