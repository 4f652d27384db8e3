//! Compares the segments sent with those the script expects.

use crate::log::{Log, Logged};
use crate::peer::{self, Agreed};
use crate::play::{Due, Played};
use crate::script::{Action, Pattern, Timeline};
use crate::show;
use crate::stack::EARLY;
use airtcp_wire::{Dur, Flags, Segment, Seq};

/// Judges a played timeline.
///
/// # Errors
/// Returns the script beside the events if they differ.
pub fn judge(timeline: &Timeline, played: &Played) -> Result<(), String> {
    let lines = Judge::new(timeline, played).lines(&played.faults);
    match lines.iter().any(|line| line.fault.is_some()) {
        true => Err(show::report(timeline, played, &lines)),
        false => Ok(()),
    }
}

/// A line of the report.
#[derive(Debug)]
pub struct Line {
    /// Index of the step; `None` if no step expects this segment.
    pub step: Option<usize>,
    /// Index of the segment in the log.
    pub sent: Option<usize>,
    pub fault: Option<String>,
}

struct Judge<'a> {
    timeline: &'a Timeline,
    log: &'a Log,
    agreed: Agreed,
    dues: &'a [Due],
    /// Number of log segments judged so far.
    judged: usize,
    /// Relative numbers that the stack should use next.
    next: i64,
    ack: i64,
    /// Index of the last step at which the script acted.
    acted: usize,
}

impl<'a> Judge<'a> {
    fn new(timeline: &'a Timeline, played: &'a Played) -> Judge<'a> {
        let Played { log, agreed, dues, .. } = played;
        Judge { timeline, log, agreed: *agreed, dues, judged: 0, next: 0, ack: 0, acted: 0 }
    }

    fn lines(mut self, faults: &[(usize, String)]) -> Vec<Line> {
        let mut lines = Vec::new();
        for (number, step) in self.timeline.steps.iter().enumerate() {
            match &step.action {
                Action::Expect(pattern) => self.expect(number, pattern, &mut lines),
                _ => {
                    self.acted = number;
                    let ours = faults.iter().filter(|(step, _)| *step == number);
                    let fault = joined(ours.map(|(_, fault)| fault.clone()).collect());
                    lines.push(Line { step: Some(number), sent: None, fault });
                }
            }
        }
        let rest = self.judged..self.log.len();
        lines.extend(rest.map(|sent| Line {
            step: None,
            sent: Some(sent),
            fault: Some("nothing is to be sent".to_owned()),
        }));
        lines
    }

    fn expect(&mut self, number: usize, pattern: &Pattern, lines: &mut Vec<Line>) {
        for range in pattern.ranges(self.next) {
            let sent = self.log.sent.get(self.judged);
            let fault = match sent {
                Some(sent) => self.segment(pattern, range, self.dues[number], sent),
                None => Some("nothing was sent".to_owned()),
            };
            lines.push(Line { step: Some(number), sent: sent.map(|_| self.judged), fault });
            self.judged += usize::from(sent.is_some());
        }
    }

    /// Returns what is wrong with a segment.
    fn segment(&mut self, pattern: &Pattern, range: (i64, i64), due: Due, sent: &Logged) -> Option<String> {
        let segment = &sent.emitted.segment;
        self.ack = pattern.ack.unwrap_or(self.ack);
        let seq_len =
            range.1 - range.0 + i64::from(Segment { flags: pattern.flags, ..Segment::default() }.seq_len());
        self.next = self.next.max(range.0 + seq_len);
        let faults = [
            self.order(sent),
            self.time(due, sent),
            self.flags(pattern, segment),
            self.numbers(pattern, range, segment),
            self.window(pattern, segment),
            self.stamps(pattern, segment),
            self.options(pattern, segment),
            (sent.emitted.ecn != pattern.ecn).then(|| format!("IP says {:?}", sent.emitted.ecn)),
        ];
        joined(faults.into_iter().flatten().collect())
    }

    /// A segment must answer the action above it, so it may not have left before that action.
    fn order(&self, sent: &Logged) -> Option<String> {
        (sent.place.step < self.acted).then(|| "too early: before the line above".to_owned())
    }

    fn time(&self, due: Due, sent: &Logged) -> Option<String> {
        let at = sent.emitted.at;
        let ms = |dur: Dur| dur.as_secs_f64() * 1e3;
        if due.at.since(at) > EARLY {
            Some(format!("{:.1} ms early", ms(due.at.since(at))))
        } else if at > due.until {
            Some(format!("{:.1} ms late", ms(at.since(due.at))))
        } else {
            None
        }
    }

    fn flags(&self, pattern: &Pattern, segment: &Segment) -> Option<String> {
        let judges_push =
            self.timeline.setup.judges_push || segment.len == 0 || pattern.flags.contains(Flags::PSH);
        let heeded = if judges_push { u16::MAX } else { !Flags::PSH.0 };
        ((pattern.flags.0 ^ segment.flags.0) & heeded != 0).then(|| "flags".to_owned())
    }

    fn numbers(&self, pattern: &Pattern, range: (i64, i64), segment: &Segment) -> Option<String> {
        let is_acked = !pattern.flags.contains(Flags::ACK) || segment.ack == self.peers(self.ack);
        let is_placed = segment.seq == self.ours(range.0) && i64::from(segment.len) == range.1 - range.0;
        match (is_placed, is_acked) {
            (true, true) => None,
            (false, _) => Some("sequence numbers".to_owned()),
            (true, false) => Some(format!("ack is not {}", self.ack)),
        }
    }

    fn window(&self, pattern: &Pattern, segment: &Segment) -> Option<String> {
        let wanted = pattern.window?;
        let found = self.agreed.window(segment);
        (wanted != found).then(|| "window".to_owned())
    }

    fn stamps(&self, pattern: &Pattern, segment: &Segment) -> Option<String> {
        // The options of a RST depend on its sender; RFC 7323 §3.2 only says SHOULD.
        let is_free = segment.flags.contains(Flags::RST) && pattern.stamps.echo.is_none();
        let is_syn = segment.flags.contains(Flags::SYN);
        let wanted = self.agreed.timestamps && !pattern.stamps.are_absent;
        if !is_free && !is_syn && wanted != segment.timestamps.is_some() {
            return Some(if wanted { "no timestamps" } else { "timestamps" }.to_owned());
        }
        let (wanted, found) = (peer::clock(pattern.stamps.echo?), segment.timestamps?.echo);
        (wanted != found).then(|| "ecr".to_owned())
    }

    fn options(&self, pattern: &Pattern, segment: &Segment) -> Option<String> {
        let sack: Vec<(Seq, Seq)> =
            pattern.sack.iter().map(|&(left, right)| (self.peers(left), self.peers(right))).collect();
        if sack != segment.sack.as_slice() {
            return Some("SACK blocks".to_owned());
        }
        let wanted = pattern.syn?;
        ((segment.syn, segment.timestamps.is_some()) != wanted).then(|| "options".to_owned())
    }

    fn ours(&self, offset: i64) -> Seq {
        peer::number(self.log.iss(), offset)
    }

    fn peers(&self, offset: i64) -> Seq {
        peer::number(peer::ISS, offset)
    }
}

fn joined(faults: Vec<String>) -> Option<String> {
    (!faults.is_empty()).then(|| faults.join(", "))
}
