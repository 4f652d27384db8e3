//! Plays every timeline that holds for the machine, in virtual time.

use airtcp_timeline::{Backend, Machine, Shelved, chosen, judge, play, shelf, transcript};

#[test]
fn timelines_hold_for_the_machine() {
    let shelf = shelf().unwrap_or_else(|wrong| panic!("{wrong}"));
    let failed: Vec<String> = shelf.iter().filter_map(failure).collect();
    assert!(failed.is_empty(), "{} of {} fail\n\n{}", failed.len(), shelf.len(), failed.join("\n"));
}

fn failure(shelved: &Shelved) -> Option<String> {
    let Shelved { name, timeline } = shelved;
    let mut machine = Machine::new(&timeline.setup);
    let played = play(timeline, &mut machine);
    if chosen().is_some() {
        eprintln!("{name}\n{}", transcript(&played));
    }
    let verdict = judge(timeline, &played);
    match (timeline.holds_for(Backend::Machine), verdict) {
        (true, Err(report)) => Some(format!("{name}: {report}")),
        (false, Ok(())) => Some(format!("{name}: it holds for the machine, too, and must say so\n")),
        _ => None,
    }
}
