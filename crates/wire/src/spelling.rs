//! Guesses what a misspelt name was meant to be.

use std::cmp::Reverse;

/// The candidate spelled most like `name`, if any is close. Of several, the one with the longest common beginning.
pub fn nearest<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<String> {
    let common = |candidate: &str| name.chars().zip(candidate.chars()).take_while(|(a, b)| a == b).count();
    candidates
        .map(|candidate| (strsim::damerau_levenshtein(name, candidate), candidate))
        .filter(|(distance, candidate)| *distance <= 1 + candidate.len() / 3)
        .min_by_key(|(distance, candidate)| (*distance, Reverse(common(candidate)), *candidate))
        .map(|(_, candidate)| candidate.to_owned())
}

/// Writes "did you mean `x` or `y`?" between `before` and `after`; nothing if there is no guess.
pub fn did_you_mean<'a>(before: &str, meant: impl IntoIterator<Item = &'a str>, after: &str) -> String {
    let meant: Vec<String> = meant.into_iter().map(|one| format!("`{one}`")).collect();
    if meant.is_empty() {
        String::new()
    } else {
        format!("{before}did you mean {}?{after}", meant.join(" or "))
    }
}

/// Writes " (did you mean `x`?)", if there is a guess.
pub fn hint(nearest: &Option<String>) -> String {
    did_you_mean(" (", nearest.as_deref(), ")")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_cut_short_means_the_one_it_begins() {
        assert_eq!(nearest("los", ["log", "loss", "fec"].into_iter()).as_deref(), Some("loss"));
        assert_eq!(nearest("rat", ["trace", "rate"].into_iter()).as_deref(), Some("rate"));
        assert_eq!(nearest("queue", ["log", "loss"].into_iter()), None);
    }
}
