//! What a wrong scenario is answered with, word for word.

use super::{fixtures, load};
use airtcp_proto::choice::Choice;
use airtcp_proto::queue::Discipline;
use std::fmt::Write;

const RULE: &str = "========\n";
const ANSWER: &str = "--------\n";

/// Each case of `messages.txt` is a scenario, perhaps lines of `--set key=value`, a rule, and the answer. Run with
/// `UPDATE_MESSAGES=1` to write the answers anew; then read them.
#[test]
fn every_mistake_gets_its_place_what_is_allowed_and_the_nearest_spelling() {
    let file = fixtures().join("messages.txt");
    let written = std::fs::read_to_string(&file).expect("the cases");
    let answered: Vec<_> = written.split(RULE).map(answer).collect();
    let answered = answered.join(RULE);
    if std::env::var_os("UPDATE_MESSAGES").is_some() {
        std::fs::write(&file, &answered).expect("a writable file");
    }
    for (written, answered) in written.split(RULE).zip(answered.split(RULE)) {
        assert_eq!(written, answered);
    }
}

fn answer(case: &str) -> String {
    let question = case.split(ANSWER).next().unwrap_or_default();
    let (set, text): (Vec<&str>, Vec<&str>) = question.lines().partition(|line| line.starts_with("--set "));
    let overrides: Vec<_> =
        set.iter().filter_map(|line| line.strip_prefix("--set ")?.split_once('=')).collect();
    let mut answer = format!("{question}{ANSWER}");
    match load(&text.join("\n"), &overrides) {
        Ok(_) => answer.push_str("nothing is wrong\n"),
        // The folder of this checkout is no part of the answer, nor is which schemes, keys of them and disciplines there are.
        Err(error) => {
            let schemes = airtcp_proto::scheme::names().collect::<Vec<_>>().join(", ");
            let shown = error.to_string().replace(&fixtures().display().to_string(), "FOLDER");
            let keys: Vec<_> = airtcp_proto::scheme::keys().into_iter().map(|key| key.name).collect();
            let shown = shown.replace(&schemes, "SCHEMES").replace(&keys.join(", "), "KEYS");
            let shown = shown.replace(&Discipline::NAMES.join(", "), "DISCIPLINES");
            writeln!(answer, "{shown}").expect("a string grows");
        }
    }
    answer
}
