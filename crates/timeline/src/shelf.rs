//! Loads the timelines of this crate.

use crate::parse::parse;
use crate::script::Timeline;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// Environment variable that selects one timeline, or one folder of them, and prints what was sent.
const CHOICE: &str = "TIMELINE";

/// A timeline and its file name: `slow_start/grows_by_what_is_acknowledged`.
pub struct Shelved {
    pub name: String,
    pub timeline: Timeline,
}

/// Returns all timelines whose names contain the value of the environment variable `TIMELINE`, sorted by name.
///
/// # Errors
/// Reports every error in the files.
pub fn shelf() -> Result<Vec<Shelved>, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("timelines");
    let mut paths = Vec::new();
    gather(&root, &mut paths).map_err(|error| format!("{}: {error}", root.display()))?;
    paths.sort();
    let choice = chosen().unwrap_or_default();
    let named = paths.iter().map(|path| (name(&root, path), path));
    let (read, wrong): (Vec<_>, Vec<_>) = named
        .filter(|(name, _)| name.contains(&choice))
        .map(|(name, path)| read(name, path))
        .partition(Result::is_ok);
    let wrong: Vec<String> = wrong.into_iter().filter_map(Result::err).collect();
    if wrong.is_empty() { Ok(read.into_iter().flatten().collect()) } else { Err(wrong.join("\n")) }
}

/// Returns the value of `TIMELINE`.
pub fn chosen() -> Option<String> {
    env::var(CHOICE).ok()
}

fn gather(folder: &Path, paths: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            gather(&path, paths)?;
        } else if path.extension().is_some_and(|extension| extension == "timeline") {
            paths.push(path);
        }
    }
    Ok(())
}

fn name(root: &Path, path: &Path) -> String {
    let inside = path.strip_prefix(root).unwrap_or(path);
    inside.with_extension("").to_string_lossy().into_owned()
}

fn read(name: String, path: &Path) -> Result<Shelved, String> {
    let text = fs::read_to_string(path).map_err(|error| format!("{name}: {error}"))?;
    let timeline = parse(&text).map_err(|error| format!("{name}.timeline, {error}"))?;
    Ok(Shelved { name, timeline })
}
