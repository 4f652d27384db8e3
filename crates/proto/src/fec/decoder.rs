//! The receiving end: which sources are missing, and which of those the repairs determine.
//!
//! The equations are kept as solved as they can be (reduced row echelon form over the missing sources). So a source is determined as soon
//! as its equation has no other unknown, and a repair that says nothing new vanishes.

use super::{Repair, WINDOW, gf256};
use std::collections::VecDeque;

/// What a source or a repair carries.
pub trait Symbol: Clone {
    /// Adds `other`, multiplied by `factor`. The shorter one counts as filled up with zeros.
    fn add_scaled(&mut self, other: &Self, factor: u8);
    fn scale(&mut self, factor: u8);
}

/// No payload.
impl Symbol for () {
    fn add_scaled(&mut self, (): &(), _: u8) {}
    fn scale(&mut self, _: u8) {}
}

/// Sources that are remembered: those of the newest window, and those before it that older repairs cover.
pub(super) const REMEMBERED: u32 = 4 * WINDOW as u32;
/// Repairs whose window begins further ahead are foreign.
const FAR: u32 = 1 << 16;

/// Solves for missing sources. It remembers the last 128 sources and as many equations, whatever comes.
#[derive(Debug)]
pub struct Decoder<S> {
    /// Number of the first source that is remembered.
    first: u32,
    /// From `first` on, as far as anything is known.
    sources: VecDeque<Option<S>>,
    equations: Vec<Equation<S>>,
    recovered: VecDeque<u32>,
}

/// The sum of missing sources, each with its coefficient, is `symbol`.
#[derive(Clone, Debug)]
struct Equation<S> {
    /// The oldest of its sources, whose coefficient is 1. No other equation has it.
    lead: u32,
    /// By number, modulo their count.
    coefficients: [u8; REMEMBERED as usize],
    symbol: S,
}

const fn place(number: u32) -> usize {
    (number % REMEMBERED) as usize
}

impl<S: Symbol> Equation<S> {
    fn at(&self, number: u32) -> u8 {
        self.coefficients[place(number)]
    }

    /// Subtracts as much of `other` as leaves nothing of that one's lead.
    fn eliminate(&mut self, other: &Equation<S>) {
        let factor = self.at(other.lead);
        if factor != 0 {
            gf256::add_scaled(&mut self.coefficients, &other.coefficients, factor);
            self.symbol.add_scaled(&other.symbol, factor);
        }
    }

    /// Takes a source out that is known by now.
    fn substitute(&mut self, number: u32, symbol: &S) {
        let factor = std::mem::take(&mut self.coefficients[place(number)]);
        if factor != 0 {
            self.symbol.add_scaled(symbol, factor);
        }
    }

    fn is_solved(&self) -> bool {
        self.coefficients.iter().filter(|coefficient| **coefficient != 0).count() == 1
    }
}

/// With this number as that of the first source. Those before it are past.
impl<S: Symbol> From<u32> for Decoder<S> {
    fn from(first: u32) -> Decoder<S> {
        Decoder { first, sources: VecDeque::new(), equations: Vec::new(), recovered: VecDeque::new() }
    }
}

impl<S: Symbol> Default for Decoder<S> {
    fn default() -> Decoder<S> {
        Decoder::from(0)
    }
}

impl<S: Symbol> Decoder<S> {
    /// A source has come. Returns whether it is one that was neither here nor given up.
    pub fn handle_source(&mut self, number: u32, symbol: S) -> bool {
        if self.is_past(number) || self.source(number).is_some() {
            return false;
        }
        self.reach(number);
        let led = self.equations.iter().position(|equation| equation.lead == number);
        let led = led.map(|at| self.equations.swap_remove(at));
        self.equations.iter_mut().for_each(|equation| equation.substitute(number, &symbol));
        if let Some(mut equation) = led {
            equation.substitute(number, &symbol);
            self.add(equation);
        }
        self.keep(number, symbol);
        self.take_solved();
        true
    }

    /// A repair has come.
    pub fn handle_repair(&mut self, repair: Repair, symbol: S) {
        if !repair.is_sound() || self.is_past(repair.first) || self.distance(repair.first) > FAR {
            return;
        }
        let last = repair.first.wrapping_add(u32::from(repair.count) - 1);
        self.reach(last);
        let mut equation = Equation { lead: 0, coefficients: [0; REMEMBERED as usize], symbol };
        for (number, coefficient) in repair.coefficients() {
            match self.source(number) {
                Some(source) => equation.symbol.add_scaled(source, coefficient),
                None => equation.coefficients[place(number)] = coefficient,
            }
        }
        self.add(equation);
        self.take_solved();
    }

    /// The number of the next source that has been recovered, oldest first.
    pub fn poll_recovered(&mut self) -> Option<u32> {
        self.recovered.pop_front()
    }

    /// A source that has come or been recovered, while it is remembered.
    pub fn source(&self, number: u32) -> Option<&S> {
        self.sources.get(self.distance(number) as usize)?.as_ref()
    }

    /// Number of equations that wait for more.
    pub fn equations(&self) -> usize {
        self.equations.len()
    }

    fn distance(&self, number: u32) -> u32 {
        number.wrapping_sub(self.first)
    }

    fn is_past(&self, number: u32) -> bool {
        self.distance(number) > u32::MAX / 2
    }

    /// Remembers sources up to this one, and forgets those that are too old. An equation leads with its oldest source, so those that
    /// need a forgotten one are those that lead with it.
    fn reach(&mut self, number: u32) {
        let gone = (self.distance(number) + 1).saturating_sub(REMEMBERED);
        self.sources.drain(..self.sources.len().min(gone as usize));
        self.first = self.first.wrapping_add(gone);
        let first = self.first;
        let is_left = |number: u32| number.wrapping_sub(first) < REMEMBERED;
        self.equations.retain(|equation| is_left(equation.lead));
        self.recovered.retain(|&number| is_left(number));
        let length = self.sources.len().max(self.distance(number) as usize + 1);
        self.sources.resize(length, None);
    }

    fn keep(&mut self, number: u32, symbol: S) {
        let at = self.distance(number) as usize;
        self.sources[at] = Some(symbol);
    }

    /// Adds an equation, unless the others say the same.
    fn add(&mut self, mut equation: Equation<S>) {
        self.equations.iter().for_each(|other| equation.eliminate(other));
        let numbers = (0..REMEMBERED).map(|n| self.first.wrapping_add(n));
        let Some(lead) = numbers.into_iter().find(|&number| equation.at(number) != 0) else { return };
        let inverse = gf256::inverse(equation.at(lead));
        equation.coefficients.iter_mut().for_each(|c| *c = gf256::product(*c, inverse));
        equation.symbol.scale(inverse);
        equation.lead = lead;
        self.equations.iter_mut().for_each(|other| other.eliminate(&equation));
        self.equations.push(equation);
    }

    fn take_solved(&mut self) {
        let (mut solved, rest): (Vec<_>, _) =
            std::mem::take(&mut self.equations).into_iter().partition(Equation::is_solved);
        self.equations = rest;
        solved.sort_by_key(|equation| self.distance(equation.lead));
        for Equation { lead, symbol, .. } in solved {
            self.keep(lead, symbol);
            self.recovered.push_back(lead);
        }
    }
}
