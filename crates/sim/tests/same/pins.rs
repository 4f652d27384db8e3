//! A small part of the set is pinned by hash. After a change of results that is meant,
//! `UPDATE_SAME=1 cargo test -p airtcp-sim same` writes the file again.

use crate::same::case::{Case, fingerprint};
use crate::same::set::{folder, named_schemes, random_case, random_network, with_features};
use std::path::Path;

/// Each feature with one scheme, the schemes in turn, and a few random cases, chains and networks.
fn cases() -> Vec<Case> {
    let named = named_schemes();
    let features = with_features(&["reno".to_owned()]);
    let schemes = named.iter().cycle();
    let features = features.into_iter().zip(schemes).map(|(case, scheme)| Case {
        name: format!("{}{scheme}", case.name.trim_end_matches("reno")),
        scheme: scheme.clone(),
        ..case
    });
    let chains = (0..20).map(|number| random_case(number, &named, &named));
    let networks = (0..20).map(|number| random_network(number, &named, &named));
    features.chain(chains).chain(networks).collect()
}

#[test]
fn results_are_as_pinned() {
    let seen = |case: &Case| match case.run(&folder()) {
        Ok(both) => format!("{:016x} {:016x}", fingerprint(&both.unwatched), fingerprint(&both.watched)),
        Err(reason) => reason.lines().next().unwrap_or_default().to_owned(),
    };
    let line = |case: &Case| format!("{}\t{}\n", case.name, seen(case));
    let found: String = cases().iter().map(line).collect();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/same/pins.txt");
    if std::env::var_os("UPDATE_SAME").is_some() {
        std::fs::write(&path, &found).unwrap();
    }
    let pinned = std::fs::read_to_string(&path).unwrap();
    for (found, pinned) in found.lines().zip(pinned.lines()) {
        assert_eq!(found, pinned, "`make same` shows what is different");
    }
    assert_eq!(found.lines().count(), pinned.lines().count(), "write the pins again: UPDATE_SAME=1");
}
