//! Files that a scenario names, and scenarios themselves: text of bounded size, wherever the path came from.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// The longest file that is read, in bytes: an hour of a link that delivers five packets each ms fits.
const MOST: u64 = 256 << 20;

/// Reads a file. Neither a device nor a pipe is opened, which could be read without end.
///
/// # Errors
/// The file is not there, may not be read, is no regular file, is too long, or not UTF-8.
pub fn read(place: &Path) -> io::Result<String> {
    regular(&std::fs::metadata(place)?)?;
    let file = File::open(place)?;
    // It may have been exchanged meanwhile.
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
