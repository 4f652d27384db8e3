//! `airtcpd circuit key`, and the reading of key files.

use crate::input::BadInput;
use airtcp_live::stack;
use airtcp_wire::circuit::Key;
use anyhow::Context;
use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const EXAMPLES: &str = "\
Examples:
  airtcpd circuit key circuit.key
  scp -p circuit.key other-gateway:";

/// Generate a key, which both gateways of a circuit need
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    /// Output file: must not exist; created readable only by you
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

pub fn run(options: &Options) -> anyhow::Result<ExitCode> {
    let key: [u8; 16] = stack::random()?;
    let name = options.file.display();
    let mut file = File::options()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&options.file)
        .map_err(|error| BadInput(format!("{name}: {error}")))?;
    writeln!(file, "{:032x}", u128::from_be_bytes(key)).with_context(|| name.to_string())?;
    Ok(ExitCode::SUCCESS)
}

/// Reads the key from a file that nobody else may read or write.
pub fn read(path: &Path) -> anyhow::Result<Key> {
    let name = path.display();
    let wrong = |why: String| BadInput(format!("--key-file {name}: {why}"));
    let mode = File::open(path)
        .and_then(|file| file.metadata())
        .map_err(|error| wrong(error.to_string()))?
        .permissions()
        .mode();
    if mode & 0o077 != 0 {
        return Err(wrong(format!("other users can read or write it: chmod 600 {name}")).into());
    }
    let text = fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
    Ok(text.parse().map_err(|error| wrong(format!("{error}; `airtcpd circuit key` generates one")))?)
}
