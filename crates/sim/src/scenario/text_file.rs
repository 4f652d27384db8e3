//! Reads scenarios and the files that they name: text of bounded size, whatever the path.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Length of the longest file that is read, in bytes. The trace of an hour with five packets a millisecond fits.
const MOST: u64 = 256 << 20;

/// Reads a file. Devices and pipes, which may never end, are not opened.
///
/// # Errors
/// The file does not exist, may not be read, is not a regular file, is too long, or is not UTF-8.
pub fn read(place: &Path) -> io::Result<String> {
    regular(&std::fs::metadata(place)?)?;
    let file = File::open(place)?;
    // The file may have been replaced in the meantime.
    regular(&file.metadata()?)?;
    let mut text = String::new();
    file.take(MOST + 1).read_to_string(&mut text)?;
    if text.len() as u64 > MOST {
        return Err(io::Error::other(format!("longer than {} MiB", MOST >> 20)));
    }
    Ok(text)
}

fn regular(found: &std::fs::Metadata) -> io::Result<()> {
    match found.is_dir() {
        true => Err(io::Error::from(io::ErrorKind::IsADirectory)),
        false if !found.is_file() => Err(io::Error::other("devices and pipes cannot be read; name a file")),
        false => Ok(()),
    }
}
