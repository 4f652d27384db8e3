//! Splits a line into words. Commas are optional separators.

use airtcp_wire::Dur;
use std::iter::Peekable;
use std::str::FromStr;

pub struct Words<'a>(Peekable<std::vec::IntoIter<&'a str>>);

impl<'a> Words<'a> {
    pub fn of(text: &'a str) -> Words<'a> {
        let words = text.split([' ', ',', '\t']).filter(|word| !word.is_empty());
        Words(words.collect::<Vec<_>>().into_iter().peekable())
    }

    pub fn maybe(&mut self) -> Option<&'a str> {
        self.0.next()
    }

    pub fn next(&mut self, what: &str) -> Result<&'a str, String> {
        self.0.next().ok_or_else(|| format!("{what} is missing"))
    }

    pub fn number<N: FromStr>(&mut self, what: &str) -> Result<N, String> {
        let word = self.next(what)?;
        word.parse().map_err(|_| format!("\"{word}\" is no number of {what}"))
    }

    pub fn milliseconds(&mut self, what: &str) -> Result<Dur, String> {
        milliseconds(self.next(what)?)
    }

    /// Takes the next word if `read` accepts it.
    pub fn next_if_some<T>(&mut self, read: impl FnOnce(&str) -> Option<T>) -> Option<T> {
        let read = read(self.0.peek()?);
        if read.is_some() {
            self.0.next();
        }
        read
    }

    pub fn end(&mut self) -> Result<(), String> {
        match self.0.next() {
            Some(word) => Err(format!("\"{word}\" is not understood here")),
            None => Ok(()),
        }
    }
}

pub fn milliseconds(text: &str) -> Result<Dur, String> {
    let ms: f64 = text.parse().map_err(|_| format!("\"{text}\" is no time in ms"))?;
    if ms < 0.0 { Err(format!("\"{text}\" is before the start")) } else { Ok(Dur::from_secs_f64(ms / 1e3)) }
}

/// `on` or `off`.
pub fn switch(text: &str) -> Result<bool, String> {
    match text {
        "on" => Ok(true),
        "off" => Ok(false),
        _ => Err(format!("\"{text}\" is neither on nor off")),
    }
}
