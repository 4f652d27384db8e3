//! Runs the cases of a file that `same_set` has written, one JSON object a line, and prints what came of each: two
//! hashes, without and with everything watched, or why there are none. `scripts/same.py` compares them.
//!
//!     same CASES FOLDER            each case's name and hashes
//!     same CASES FOLDER NAME       all that can be seen of this one, as JSON
//!
//! FOLDER has the files that scenarios name.

#[path = "../tests/same/case.rs"]
mod case;

use case::{Case, fingerprint};
use std::io::Write;
use std::path::Path;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [cases, folder, names @ ..] = arguments.as_slice() else { panic!("CASES FOLDER [NAME]") };
    let text = std::fs::read_to_string(cases).unwrap_or_else(|error| panic!("{cases}: {error}"));
    let cases = text.lines().map(|line| serde_json::from_str::<Case>(line).expect("a case"));
    let folder = Path::new(folder);
    let mut out = std::io::stdout().lock();
    for case in cases {
        let printed = match names.first() {
            None => writeln!(out, "{}\t{}", case.name, hashes(&case, folder)),
            Some(name) if *name == case.name => writeln!(out, "{}", whole(&case, folder)),
            Some(_) => Ok(()),
        };
        // Whoever reads may stop at a difference.
        if printed.and_then(|()| out.flush()).is_err() {
            return;
        }
    }
}

fn hashes(case: &Case, folder: &Path) -> String {
    match case.run(folder) {
        Ok(both) => format!("{:016x} {:016x}", fingerprint(&both.unwatched), fingerprint(&both.watched)),
        Err(reason) => reason.replace(['\n', '\t'], " "),
    }
}

fn whole(case: &Case, folder: &Path) -> String {
    match case.run(folder) {
        Ok(both) => serde_json::to_string(&both),
        Err(reason) => serde_json::to_string(&reason),
    }
    .expect("plain data")
}
