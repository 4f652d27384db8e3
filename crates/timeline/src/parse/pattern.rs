//! Parses a segment: `P. 1:1001 ack 1 win 500 ecr 100 sack 3001:4001`.

use super::words::Words;
use crate::script::{Pattern, Stamps};
use airtcp_wire::{Ecn, Flags, SynOptions};

pub fn read(words: &mut Words<'_>) -> Result<Pattern, String> {
    let flags = words.next_if_some(flags).unwrap_or(Flags::ACK);
    let range = words.next_if_some(range);
    let mut pattern = Pattern { flags, range, pieces: 1, times: 1, ..Pattern::default() };
    while let Some(word) = words.maybe() {
        field(&mut pattern, word, words)?;
    }
    check(&pattern)?;
    Ok(pattern)
}

fn field(pattern: &mut Pattern, word: &str, words: &mut Words<'_>) -> Result<(), String> {
    match word {
        "in" => pattern.pieces = words.number("segments")?,
        "x" => pattern.times = words.number("times")?,
        "ack" => pattern.ack = Some(words.number("the next byte")?),
        "win" => pattern.window = Some(words.number("bytes of window")?),
        "at" => pattern.stamps.value = Some(words.milliseconds("when the sender's clock was read")?),
        "ecr" => pattern.stamps.echo = Some(words.milliseconds("when the other's clock was read")?),
        "nots" => pattern.stamps = Stamps { are_absent: true, ..pattern.stamps },
        "sack" => pattern.sack = blocks(words)?,
        "ect0" => pattern.ecn = Ecn::Ect0,
        "ect1" => pattern.ecn = Ecn::Ect1,
        "ce" => pattern.ecn = Ecn::Ce,
        "mss" => options(pattern).0.mss = Some(words.number("the MSS")?),
        "ws" => options(pattern).0.window_scale = Some(words.number("the shift")?),
        "sackok" => options(pattern).0.sack_permitted = true,
        "ts" => options(pattern).1 = true,
        "bare" => drop(options(pattern)),
        _ => return Err(format!("\"{word}\" is no part of a segment")),
    }
    Ok(())
}

fn options(pattern: &mut Pattern) -> &mut (SynOptions, bool) {
    pattern.syn.get_or_insert_default()
}

fn blocks(words: &mut Words<'_>) -> Result<Vec<(i64, i64)>, String> {
    let blocks: Vec<_> = std::iter::from_fn(|| words.next_if_some(range)).collect();
    if blocks.is_empty() { Err("sack names no block such as 1001:2001".to_owned()) } else { Ok(blocks) }
}

fn check(pattern: &Pattern) -> Result<(), String> {
    if pattern.pieces == 0 || pattern.times == 0 {
        return Err("none is not several".to_owned());
    }
    let length = pattern.range.map_or(0, |(start, end)| end - start);
    if length < 0 || length % i64::from(pattern.pieces) != 0 {
        return Err(format!("{length} bytes do not make {} equal segments", pattern.pieces));
    }
    if pattern.syn.is_some() && !pattern.flags.contains(Flags::SYN) {
        return Err("mss, ws, sackok, ts and bare are a SYN's".to_owned());
    }
    Ok(())
}

/// `S.`, `P.`, `FEW.`
fn flags(word: &str) -> Option<Flags> {
    word.chars().try_fold(Flags(0), |flags, letter| Some(flags | flag(letter)?))
}

fn flag(letter: char) -> Option<Flags> {
    Some(match letter {
        'S' => Flags::SYN,
        'F' => Flags::FIN,
        'R' => Flags::RST,
        'P' => Flags::PSH,
        'E' => Flags::ECE,
        'W' => Flags::CWR,
        '.' => Flags::ACK,
        _ => return None,
    })
}

/// `1:1001`
fn range(word: &str) -> Option<(i64, i64)> {
    let (start, end) = word.split_once(':')?;
    Some((start.parse().ok()?, end.parse().ok()?))
}
