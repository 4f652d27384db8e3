//! Numbers that have a range but no unit.

use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use std::borrow::Cow;
use std::fmt;

/// A number from 0 to 1. It may be written as text, also as a percentage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Probability(f64);

/// A finite number above zero.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Positive(f64);

impl Probability {
    pub const ONE: Probability = Probability(1.0);

    /// # Panics
    /// `value` is not from 0 to 1.
    pub const fn new(value: f64) -> Probability {
        assert!(0.0 <= value && value <= 1.0, "not a probability");
        Probability(value)
    }

    pub const fn get(self) -> f64 {
        self.0
    }
}

impl Positive {
    /// # Panics
    /// `value` is not above zero, or not finite.
    pub const fn new(value: f64) -> Positive {
        assert!(value > 0.0 && value < f64::INFINITY, "not above zero");
        Positive(value)
    }

    pub const fn get(self) -> f64 {
        self.0
    }
}

struct ProbabilityVisitor;

impl Visitor<'_> for ProbabilityVisitor {
    type Value = Probability;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a probability: a number from 0 to 1, or a percentage, for example \"1%\"")
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Probability, E> {
        if (0.0..=1.0).contains(&number) {
            Ok(Probability(number))
        } else {
            Err(E::custom(format!(
                "{number} is not a probability: write 0 to 1, or a percentage, for example \"1%\""
            )))
        }
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Probability, E> {
        self.visit_f64(number as f64)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Probability, E> {
        let (number, divisor) = text.trim().strip_suffix('%').map_or((text, 1.0), |number| (number, 100.0));
        match number.trim().parse::<f64>() {
            Ok(number) => self.visit_f64(number / divisor),
            Err(_) => Err(E::custom(format!(
                "{text:?} is not a probability: write 0 to 1, or a percentage, for example \"1%\""
            ))),
        }
    }
}

impl<'de> Deserialize<'de> for Probability {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Probability, D::Error> {
        from.deserialize_any(ProbabilityVisitor)
    }
}

impl schemars::JsonSchema for Probability {
    fn schema_name() -> Cow<'static, str> {
        "Probability".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": "A probability: a number from 0 to 1, or a percentage as text.",
            "examples": [0.01, "1%"],
            "anyOf": [
                { "type": "number", "minimum": 0, "maximum": 1 },
                { "type": "string", "pattern": "^\\s*[+]?[0-9.]+([eE][+-]?[0-9]+)?\\s*%?\\s*$" },
            ],
        })
    }
}

impl<'de> Deserialize<'de> for Positive {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Positive, D::Error> {
        let number = f64::deserialize(from)?;
        if number > 0.0 {
            Ok(Positive(number))
        } else {
            Err(D::Error::custom(format!("{number} is not above zero")))
        }
    }
}

impl schemars::JsonSchema for Positive {
    fn schema_name() -> Cow<'static, str> {
        "Positive".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": "A number above zero.",
            "type": "number",
            "exclusiveMinimum": 0,
        })
    }
}
