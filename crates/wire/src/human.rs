//! Quantities as people write them: `"10Mbit/s"`, `"35ms"`, `"1.5MB"`.
//!
//! A quantity is one number and one unit, with optional blanks between them. A missing or unknown unit is an error that
//! lists the units.

use crate::spelling::did_you_mean;
use crate::units::{Dur, Rate, write_scaled};
use serde::de::Visitor;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::marker::PhantomData;
use std::str::FromStr;

/// An amount of data in bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Hash)]
pub struct Bytes(pub u64);

/// Why a quantity cannot be read.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum QuantityError {
    #[error("`{0}` does not start with a number; write for example \"{1}\"")]
    NotANumber(String, &'static str),
    #[error("`{text}` has no unit; write for example \"{example}\" (units: {units})")]
    NoUnit { text: String, example: &'static str, units: String },
    /// `meant` are quantities that would be read.
    #[error("unknown unit `{unit}` in `{text}`;{} units: {units}", did_you_mean(" ", .meant.iter().map(String::as_str), ""))]
    UnknownUnit { text: String, unit: String, meant: Vec<String>, units: String },
    #[error("`{0}` is negative; write {1} of zero or more")]
    Negative(String, &'static str),
    #[error("`{text}` is too large; the maximum is {most}")]
    TooLarge { text: String, most: String },
}

/// A kind of quantity.
pub trait Quantity: Sized {
    /// The units, each as a multiple of the unit that is stored.
    const UNITS: &'static [(&'static str, f64)];
    const EXAMPLE: &'static str;
    const WHAT: &'static str;
    fn from_base(base: u64) -> Self;
}

impl Quantity for Dur {
    const UNITS: &'static [(&'static str, f64)] =
        &[("ns", 1.0), ("us", 1e3), ("µs", 1e3), ("ms", 1e6), ("s", 1e9), ("min", 60e9), ("h", 3600e9)];
    const EXAMPLE: &'static str = "35ms";
    const WHAT: &'static str = "a time";
    fn from_base(base: u64) -> Dur {
        Dur(base)
    }
}

impl Quantity for Rate {
    const UNITS: &'static [(&'static str, f64)] = &[
        ("bit/s", 1.0),
        ("kbit/s", 1e3),
        ("Mbit/s", 1e6),
        ("Gbit/s", 1e9),
        ("bps", 1.0),
        ("kbps", 1e3),
        ("Mbps", 1e6),
        ("Gbps", 1e9),
        ("B/s", 8.0),
        ("kB/s", 8e3),
        ("MB/s", 8e6),
    ];
    const EXAMPLE: &'static str = "10Mbit/s";
    const WHAT: &'static str = "a rate";
    fn from_base(base: u64) -> Rate {
        Rate(base)
    }
}

impl Quantity for Bytes {
    const UNITS: &'static [(&'static str, f64)] = &[
        ("B", 1.0),
        ("kB", 1e3),
        ("KB", 1e3),
        ("MB", 1e6),
        ("GB", 1e9),
        ("KiB", 1024.0),
        ("MiB", 1_048_576.0),
        ("GiB", 1_073_741_824.0),
    ];
    const EXAMPLE: &'static str = "1.5MB";
    const WHAT: &'static str = "an amount of data";
    fn from_base(base: u64) -> Bytes {
        Bytes(base)
    }
}

/// Reads a quantity, e.g. `parse::<Dur>("1.5 s")`.
///
/// # Errors
/// [`QuantityError`], which lists the allowed units.
pub fn parse<Q: Quantity>(text: &str) -> Result<Q, QuantityError> {
    let text = text.trim();
    let split = number_length(text);
    let (number, unit) = (&text[..split], text[split..].trim());
    let value = number.parse::<f64>().map_err(|_| QuantityError::NotANumber(text.to_owned(), Q::EXAMPLE))?;
    let factor = match Q::UNITS.iter().find(|(name, _)| *name == unit) {
        Some((_, factor)) => *factor,
        None if value == 0.0 && unit.is_empty() => 1.0,
        None if unit.is_empty() => {
            return Err(QuantityError::NoUnit {
                text: text.to_owned(),
                example: Q::EXAMPLE,
                units: unit_list::<Q>(),
            });
        }
        None => {
            return Err(QuantityError::UnknownUnit {
                text: text.to_owned(),
                unit: unit.to_owned(),
                meant: units_like::<Q>(unit).iter().map(|meant| format!("{number}{meant}")).collect(),
                units: unit_list::<Q>(),
            });
        }
    };
    let base = value * factor + 0.5;
    if value < 0.0 {
        return Err(QuantityError::Negative(text.to_owned(), Q::WHAT));
    }
    if base >= u64::MAX as f64 {
        return Err(QuantityError::TooLarge { text: text.to_owned(), most: most::<Q>() });
    }
    Ok(Q::from_base(base as u64))
}

fn unit_list<Q: Quantity>() -> String {
    Q::UNITS.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ")
}

/// The largest quantity, in the largest unit.
fn most<Q: Quantity>() -> String {
    let (unit, factor) = Q::UNITS.iter().max_by(|a, b| a.1.total_cmp(&b.1)).expect("it has units");
    format!("{:.3e}{unit}", u64::MAX as f64 / factor)
}

/// The unit spelled most like `unit`, in upper or lower case; if there is none, all units that begin with `unit`.
fn units_like<Q: Quantity>(unit: &str) -> Vec<&'static str> {
    let distance = |name: &str| strsim::damerau_levenshtein(&unit.to_lowercase(), &name.to_lowercase());
    let names = || Q::UNITS.iter().map(|(name, _)| *name);
    let nearest = names().min_by_key(|name| distance(name)).filter(|name| distance(name) <= name.len() / 3);
    nearest.map_or_else(|| names().filter(|name| name.starts_with(unit)).collect(), |name| vec![name])
}

/// The JSON Schema of a quantity. Its pattern is looser than [`parse`], but only for the number.
fn schema_of<Q: Quantity>() -> schemars::Schema {
    let units = Q::UNITS.iter().map(|(name, _)| *name).collect::<Vec<_>>().join("|");
    schemars::json_schema!({
        "description": format!(
            "{} with its unit, for example \"{}\". Units: {}.", Q::WHAT, Q::EXAMPLE, unit_list::<Q>()
        ),
        "examples": [Q::EXAMPLE],
        "anyOf": [
            { "type": "string", "pattern": format!("^\\s*([+]?[0-9.]+([eE][+-]?[0-9]+)?\\s*({units})|0)\\s*$") },
            { "const": 0 },
        ],
    })
}

/// Length of the decimal number at the start, with sign, point and exponent. An `e` belongs to it only if digits
/// follow.
fn number_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let digits = |mut at: usize| {
        while bytes.get(at).is_some_and(u8::is_ascii_digit) {
            at += 1;
        }
        at
    };
    let mut end = digits(usize::from(matches!(bytes.first(), Some(b'+' | b'-'))));
    if bytes.get(end) == Some(&b'.') {
        end = digits(end + 1);
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        let exponent_end = digits(end + 1 + sign);
        if exponent_end > end + 1 + sign {
            end = exponent_end;
        }
    }
    end
}

struct QuantityVisitor<Q>(PhantomData<Q>);

impl<Q: Quantity> Visitor<'_> for QuantityVisitor<Q> {
    type Value = Q;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} with its unit, for example \"{}\"", Q::WHAT, Q::EXAMPLE)
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Q, E> {
        parse(text).map_err(E::custom)
    }

    fn visit_i64<E: serde::de::Error>(self, number: i64) -> Result<Q, E> {
        parse(&number.to_string()).map_err(E::custom)
    }

    fn visit_u64<E: serde::de::Error>(self, number: u64) -> Result<Q, E> {
        parse(&number.to_string()).map_err(E::custom)
    }

    fn visit_f64<E: serde::de::Error>(self, number: f64) -> Result<Q, E> {
        parse(&number.to_string()).map_err(E::custom)
    }
}

macro_rules! human {
    ($type:ident, $name:literal) => {
        impl FromStr for $type {
            type Err = QuantityError;
            fn from_str(text: &str) -> Result<$type, QuantityError> {
                parse(text)
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(from: D) -> Result<$type, D::Error> {
                from.deserialize_any(QuantityVisitor(PhantomData))
            }
        }

        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                to.collect_str(self)
            }
        }

        impl schemars::JsonSchema for $type {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                $name.into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schema_of::<$type>()
            }
        }
    };
}

human!(Dur, "Duration");
human!(Rate, "Rate");
human!(Bytes, "Bytes");

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_scaled(f, self.0, ["B", "kB", "MB", "GB"])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn reads_what_people_write() {
        assert_eq!(parse::<Rate>("10Mbit/s"), Ok(Rate(10_000_000)));
        assert_eq!(parse::<Rate>("250 kbit/s"), Ok(Rate(250_000)));
        assert_eq!(parse::<Dur>("35ms"), Ok(Dur::from_millis(35)));
        assert_eq!(parse::<Dur>("1.5e-3 s"), Ok(Dur::from_micros(1500)));
        assert_eq!(parse::<Bytes>("1.5MB"), Ok(Bytes(1_500_000)));
        assert_eq!(parse::<Dur>("0"), Ok(Dur::ZERO));
    }

    #[test]
    fn says_what_is_wrong() {
        assert!(parse::<Dur>("10").unwrap_err().to_string().contains("no unit"));
        assert!(parse::<Dur>("10xs").unwrap_err().to_string().contains("unknown unit `xs`"));
        assert!(parse::<Rate>("5mbit/s").unwrap_err().to_string().contains("did you mean `5Mbit/s`?"));
        assert!(parse::<Dur>("5parsec").unwrap_err().to_string().contains("`5parsec`; units: ns"));
        assert!(parse::<Rate>("fast").unwrap_err().to_string().contains("does not start with a number"));
        assert_eq!(
            parse::<Rate>("20M").unwrap_err().to_string().split("; ").nth(1),
            Some(
                "did you mean `20Mbit/s` or `20Mbps` or `20MB/s`? units: bit/s, kbit/s, Mbit/s, Gbit/s, bps, kbps, Mbps, Gbps, B/s, kB/s, MB/s"
            )
        );
        assert!(parse::<Dur>("5m").unwrap_err().to_string().contains("`5ms` or `5min`?"));
        assert_eq!(
            parse::<Dur>("-25ms").unwrap_err().to_string(),
            "`-25ms` is negative; write a time of zero or more"
        );
        assert_eq!(
            parse::<Dur>("1e40s").unwrap_err().to_string(),
            "`1e40s` is too large; the maximum is 5.124e6h"
        );
    }

    proptest! {
        #[test]
        fn any_text_is_answered(text: String) {
            let _ = parse::<Rate>(&text);
        }

        #[test]
        fn what_is_shown_reads_back(nanos in 0u64..1 << 50) {
            let back = parse::<Dur>(&Dur(nanos).to_string()).unwrap();
            prop_assert!(back.0.abs_diff(nanos) <= 1 + nanos / (1 << 50));
        }
    }
}
