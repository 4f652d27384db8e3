//! What the probabilities of a two-state chain hold for.

use airtcp_wire::Dur;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;

/// A time, or from one packet to the next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Interval {
    Packet,
    /// Above zero.
    Time(Dur),
}

const PACKET: &str = "packet";

impl fmt::Display for Interval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Interval::Packet => f.write_str(PACKET),
            Interval::Time(time) => time.fmt(f),
        }
    }
}

impl Serialize for Interval {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Interval {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Interval, D::Error> {
        from.deserialize_any(IntervalVisitor)
    }
}

struct IntervalVisitor;

impl Visitor<'_> for IntervalVisitor {
    type Value = Interval;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a time with its unit, for example \"35ms\", or \"{PACKET}\"")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Interval, E> {
        if text == PACKET {
            return Ok(Interval::Packet);
        }
        let time = text.parse().map_err(|error| E::custom(format!("{error}; or write \"{PACKET}\"")))?;
        Ok(Interval::Time(time))
    }

    /// A zero needs no unit.
    fn visit_i64<E: Error>(self, number: i64) -> Result<Interval, E> {
        self.visit_str(&number.to_string())
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Interval, E> {
        self.visit_str(&number.to_string())
    }
}

impl JsonSchema for Interval {
    fn schema_name() -> Cow<'static, str> {
        "Interval".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({ "anyOf": [{ "const": PACKET }, generator.subschema_for::<Dur>()] })
    }
}
