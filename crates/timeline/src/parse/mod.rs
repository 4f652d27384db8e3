//! Parses a [`Timeline`]. `timelines/README.md` describes the format.

mod head;
mod opening;
mod pattern;
mod words;

use crate::script::{Action, Step, Timeline};
use crate::stack::{Call, Quantity};
use airtcp_wire::{Dur, Time};
use head::Head;
use words::{Words, milliseconds};

/// Parses the text of a file. The error names the line and what was expected.
pub fn parse(text: &str) -> Result<Timeline, String> {
    let mut reader = Reader::default();
    for (number, line) in text.lines().enumerate() {
        reader.line(line.trim()).map_err(|error| format!("line {}: {error}", number + 1))?;
    }
    reader.finish()
}

#[derive(Default)]
struct Reader {
    head: Head,
    steps: Vec<Step>,
    /// The head has ended.
    has_steps: bool,
}

impl Reader {
    fn line(&mut self, line: &str) -> Result<(), String> {
        if let Some(comment) = line.strip_prefix('#') {
            if !self.has_steps {
                self.head.add_title(comment.trim());
            }
            return Ok(());
        }
        if line.is_empty() {
            return Ok(());
        }
        if line.starts_with(|first: char| first.is_ascii_digit() || first == '+') {
            self.open()?;
            return self.step(line);
        }
        match line.split_once(':') {
            Some((key, value)) if !self.has_steps => self.head.set(key.trim(), value.trim()),
            _ => Err(format!("\"{line}\" begins with neither a time nor, in the head, a key and a colon")),
        }
    }

    /// Ends the head and adds the steps of the opening that it asks for.
    fn open(&mut self) -> Result<(), String> {
        if !std::mem::replace(&mut self.has_steps, true) {
            for line in opening::lines(&self.head) {
                self.step(&line)?;
            }
        }
        Ok(())
    }

    fn step(&mut self, line: &str) -> Result<(), String> {
        let (at, rest) = line.split_once(' ').ok_or("a time alone: what happens then?")?;
        let (at, after) = self.time(at)?;
        let rest = rest.trim();
        let action = action(rest)?;
        self.steps.push(Step { at, after, action, text: rest.to_owned() });
        Ok(())
    }

    fn time(&self, text: &str) -> Result<(Time, Option<Dur>), String> {
        let above = self.steps.last().map_or(Time::ZERO, |step| step.at);
        if let Some(later) = text.strip_prefix('+') {
            let after = milliseconds(later)?;
            return Ok((above + after, Some(after)));
        }
        let at = Time::ZERO + milliseconds(text)?;
        if at < above { Err(format!("{text} ms lies before the line above")) } else { Ok((at, None)) }
    }

    fn finish(mut self) -> Result<Timeline, String> {
        self.open()?;
        self.head.finish(self.steps)
    }
}

fn action(text: &str) -> Result<Action, String> {
    let mut words = Words::of(text);
    let action = match words.next("what happens: >, <, app, is or end")? {
        ">" => Action::Expect(pattern::read(&mut words)?),
        "<" => Action::Arrive(pattern::read(&mut words)?),
        "app" => Action::Call(call(&mut words)?),
        "is" => Action::Check(checks(&mut words)?),
        "end" => Action::End,
        other => return Err(format!("\"{other}\" is neither >, <, app, is nor end")),
    };
    words.end()?;
    Ok(action)
}

fn call(words: &mut Words<'_>) -> Result<Call, String> {
    Ok(match words.next("a call")? {
        "connect" => Call::Connect,
        "listen" => Call::Listen,
        "accept" => Call::Accept,
        "write" => Call::Write(words.number("bytes")?),
        "read" => Call::Read(words.number("bytes")?),
        "shutdown" => Call::Shutdown,
        "close" => Call::Close,
        "abort" => Call::Abort,
        other => {
            return Err(format!(
                "\"{other}\" is no call: connect, listen, accept, write, read, shutdown, close or abort"
            ));
        }
    })
}

fn checks(words: &mut Words<'_>) -> Result<Vec<(Quantity, String)>, String> {
    let mut checks = Vec::new();
    while let Some(name) = words.maybe() {
        let found = Quantity::ALL.iter().find(|(known, _)| *known == name);
        let names = || Quantity::ALL.map(|(name, _)| name).join(", ");
        let (_, quantity) = found.ok_or_else(|| format!("\"{name}\" is none of {}", names()))?;
        checks.push((*quantity, words.next("its value")?.to_owned()));
    }
    if checks.is_empty() { Err("what is?".to_owned()) } else { Ok(checks) }
}

#[cfg(test)]
mod tests;
