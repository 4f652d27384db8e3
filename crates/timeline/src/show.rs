//! Prints segments in the syntax of the script.

use crate::judge::Line;
use crate::peer::{self, Agreed};
use crate::play::Played;
use crate::script::Timeline;
use airtcp_wire::{Ecn, Flags, Segment, Seq, Time};
use std::fmt::Write;

/// Prints all segments sent, ready to paste into a script.
pub fn transcript(played: &Played) -> String {
    (0..played.log.len()).fold(String::new(), |text, sent| text + &sent_line(played, sent) + "\n")
}

/// Prints script and events side by side, one per line, with an explanation after each fault.
pub fn report(timeline: &Timeline, played: &Played, lines: &[Line]) -> String {
    let mut text = format!("{}\n", timeline.title);
    for line in lines {
        let script = line.step.map_or(String::new(), |step| {
            let step = &timeline.steps[step];
            format!("{} {}", ms(step.at), step.text)
        });
        let sent = line.sent.map_or(String::new(), |sent| sent_line(played, sent));
        let fault = line.fault.as_deref().map_or(String::new(), |fault| format!("  <-- {fault}"));
        let _ = writeln!(text, "  {script:<54} | {sent}{fault}");
    }
    text
}

fn sent_line(played: &Played, sent: usize) -> String {
    let emitted = &played.log.sent[sent].emitted;
    let segment = segment(&emitted.segment, played.log.iss(), played.agreed);
    let ecn = match emitted.ecn {
        Ecn::NotEct => "",
        Ecn::Ect0 => " ect0",
        Ecn::Ect1 => " ect1",
        Ecn::Ce => " ce",
    };
    format!("{} > {segment}{ecn}", ms(emitted.at))
}

fn ms(time: Time) -> String {
    let ms = time.as_secs_f64() * 1e3;
    if ms.fract() == 0.0 { format!("{ms}") } else { format!("{ms:.1}") }
}

fn segment(segment: &Segment, iss: Seq, agreed: Agreed) -> String {
    let start = i64::from(segment.seq.distance(iss));
    let mut text = format!("{} {start}:{}", flags(segment.flags), start + i64::from(segment.len));
    if segment.flags.contains(Flags::ACK) {
        let _ = write!(text, " ack {}", segment.ack.distance(peer::ISS));
    }
    let _ = write!(text, " win {}", agreed.window(segment));
    if segment.flags.contains(Flags::SYN) {
        text += &syn_options(segment);
    } else if let Some(stamps) = segment.timestamps {
        let _ = write!(text, " ecr {}", stamps.echo.wrapping_sub(peer::clock(airtcp_wire::Dur::ZERO)) as i32);
    }
    for (number, (left, right)) in segment.sack.as_slice().iter().enumerate() {
        let word = if number == 0 { " sack" } else { "" };
        let _ = write!(text, "{word} {}:{}", left.distance(peer::ISS), right.distance(peer::ISS));
    }
    text
}

fn syn_options(segment: &Segment) -> String {
    let mut text = String::new();
    if let Some(mss) = segment.syn.mss {
        let _ = write!(text, " mss {mss}");
    }
    if segment.syn.sack_permitted {
        text += " sackok";
    }
    if segment.timestamps.is_some() {
        text += " ts";
    }
    if let Some(shift) = segment.syn.window_scale {
        let _ = write!(text, " ws {shift}");
    }
    text
}

fn flags(flags: Flags) -> String {
    const LETTERS: [(Flags, char); 7] = [
        (Flags::SYN, 'S'),
        (Flags::FIN, 'F'),
        (Flags::RST, 'R'),
        (Flags::PSH, 'P'),
        (Flags::ECE, 'E'),
        (Flags::CWR, 'W'),
        (Flags::ACK, '.'),
    ];
    LETTERS.iter().filter(|(flag, _)| flags.contains(*flag)).map(|(_, letter)| letter).collect()
}
