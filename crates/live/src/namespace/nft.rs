//! A table of nft that goes with this process: it belongs to the socket of the nft process that made it (`flags
//! owner`), which ends when its input does.

use nix::sched::{CloneFlags, setns};
use std::fs::File;
use std::io::{self, BufRead, BufReader, PipeReader, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

/// The table, removed when this value is dropped.
pub struct Table {
    nft: Child,
    /// Closed only with nft, which a closed pipe would end.
    _answers: BufReader<PipeReader>,
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
    #[allow(unsafe_code, reason = "what the child does before it runs nft")]
    pub fn make_within(mounts: Option<File>, name: &str, chains: &str) -> io::Result<Table> {
        let (answers, output) = io::pipe()?;
        let mut nft = Command::new("nft");
        if let Some(mounts) = mounts {
            // SAFETY: a system call alone; nothing allocates, and no lock is taken.
            unsafe { nft.pre_exec(move || Ok(setns(&mounts, CloneFlags::CLONE_NEWNS)?)) };
        }
        let mut nft = nft
            .arg("--interactive")
            .stdin(Stdio::piped())
            .stdout(output.try_clone()?)
            .stderr(output)
            // Ctrl-C is for this process, which ends nft itself.
            .process_group(0)
            .spawn()
            .map_err(|error| match error.kind() {
                io::ErrorKind::NotFound => io::Error::new(error.kind(), "nft is missing: install nftables"),
                _ => error,
            })?;
        let lines = format!("table {name} {{ flags owner; {chains} }}\nlist table {name}\n");
        let told = nft.stdin.as_mut().expect("piped above").write_all(lines.as_bytes());
        let mut answer = String::new();
        let mut answers = BufReader::new(answers);
        let heard = told.and_then(|()| answers.read_line(&mut answer));
        let table = Table { nft, _answers: answers };
        match heard {
            Ok(_) if answer.starts_with("table") => Ok(table),
            _ => Err(io::Error::other(format!("nft rejected the table: {}", answer.trim_end()))),
        }
    }

    /// Sends nft one more line.
    pub fn send(&mut self, line: &str) {
        // When nft is gone, so is the table.
        let _ = self.nft.stdin.as_mut().map_or(Ok(()), |nft| nft.write_all(format!("{line}\n").as_bytes()));
    }
}

impl Drop for Table {
    fn drop(&mut self) {
        drop(self.nft.stdin.take());
        let _ = self.nft.wait();
    }
}
