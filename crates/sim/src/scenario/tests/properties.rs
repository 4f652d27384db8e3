//! Whatever is thrown at the loader, it answers; what it accepts, it can write and read again.

use super::{load, shipped_texts};
use crate::scenario::Scenario;
use proptest::prelude::*;
use std::path::Path;

/// A shipped scenario with some of its lines changed: dropped, doubled, cut, or with a word replaced.
fn mutated() -> impl Strategy<Value = String> {
    let texts: Vec<String> = shipped_texts().into_iter().map(|(_, text)| without_comments(&text)).collect();
    let words = prop::sample::select(vec![
        "0",
        "-1",
        "1e300",
        "nan",
        "inf",
        "\"\"",
        "\"1s\"",
        "\"1kbit/s\"",
        "[]",
        "{}",
        "true",
        "red",
        "[[link]]",
        "[link.queue]",
        "= =",
        "'",
        "\"",
        "9223372036854775808",
        "1979-05-27",
    ]);
    let change = (any::<prop::sample::Index>(), 0..4u8, words, any::<prop::sample::Index>());
    (prop::sample::select(texts), prop::collection::vec(change, 1..4)).prop_map(|(text, changes)| {
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        for (line, kind, word, cut) in changes {
            let at = line.index(lines.len());
            match kind {
                0 => drop(lines.remove(at)),
                1 => lines.insert(at, lines[at].clone()),
                2 => lines[at] = lines[at].chars().take(cut.index(40)).collect(),
                _ => lines[at] = lines[at].split('=').next().unwrap_or_default().to_owned() + "= " + word,
            }
            lines.push(String::new());
        }
        lines.join("\n")
    })
}

fn without_comments(text: &str) -> String {
    text.lines().filter(|line| !line.starts_with('#')).collect::<Vec<_>>().join("\n")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_answered(text: String) {
        let _ = load(&text, &[]);
    }

    #[test]
    fn any_override_is_answered(key: String, value: String) {
        let _ = load("[[link]]\nrate = \"1Mbit/s\"\n", &[(&key, &value)]);
    }

    #[test]
    fn any_dotted_override_is_answered(
        key in "(link|flow|link0|duration|schemes)([.\\[](0|1|rate|loss|ber|name|queue|reverse|x)\\]?){0,4}",
        value in "[0-9]{1,3}(s|%|Mbit/s)?|\\{ *\\}|\\[.?\\]|true|red",
    ) {
        let _ = load("[[link]]\nrate = \"1Mbit/s\"\n", &[(&key, &value)]);
    }

    /// Errors name a line that exists; what loads reads back from its full form.
    #[test]
    fn a_changed_scenario_is_refused_or_reads_back(text in mutated()) {
        match load(&text, &[]) {
            Err(error) => prop_assert!(!error.problems.is_empty()),
            Ok(scenario) => {
                let full = scenario.to_toml();
                let again = Scenario::load(&full, "test.toml", Path::new(""), &[]);
                prop_assert_eq!(again.map_err(|error| format!("{error}\n{full}")), Ok(scenario));
            }
        }
    }
}
