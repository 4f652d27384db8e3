//! Types the document: a serde deserializer over [`Node`]s that reports every mistake with its place, its key path and
//! what is allowed. serde itself stops at the first mistake, and loses places where `flatten` is used.

use super::document::{Entry, Node, Place, Step, Value, show_path};
use super::error::{Problems, hint_and_list};
use serde::Deserialize;
use serde::de::{self, DeserializeSeed, Deserializer, Expected, IntoDeserializer, Unexpected, Visitor};
use std::cell::RefCell;
use std::collections::btree_map;
use std::fmt;

/// Reads `T` from the document. Returns `None` if it cannot, and adds to `problems` why. Unknown keys are reported,
/// too, but do not prevent the result.
pub(super) fn read<T: for<'de> Deserialize<'de>>(
    root: &Node,
    overrides: &[(String, String)],
    problems: &mut Problems,
) -> Option<T> {
    let all = |reader: Reader<'_>| T::deserialize(Reader { is_whole: true, ..reader });
    read_at(root, &[], overrides, problems, all).ok()
}

/// Reads from `node`, whose path is `path`. Unknown keys are not reported: they belong to another reader.
pub(super) fn read_at<T>(
    node: &Node,
    path: &[Step],
    overrides: &[(String, String)],
    problems: &mut Problems,
    read: impl FnOnce(Reader<'_>) -> Result<T, Stop>,
) -> Result<T, Stop> {
    let sink = RefCell::new(std::mem::take(problems));
    let context = Context { overrides, sink, path: RefCell::new(path.to_vec()) };
    let result = read(Reader { node, context: &context, is_whole: false });
    *problems = context.sink.into_inner();
    result
}

struct Context<'a> {
    overrides: &'a [(String, String)],
    sink: RefCell<Problems>,
    path: RefCell<Vec<Step>>,
}

#[derive(Clone, Copy)]
pub(super) struct Reader<'a> {
    node: &'a Node,
    context: &'a Context<'a>,
    /// Are unknown keys mistakes?
    is_whole: bool,
}

/// Why reading stops.
#[derive(Debug)]
pub(super) enum Stop {
    /// A message that has no place yet.
    Message(String),
    /// A key is missing.
    Missing(&'static str),
    /// A problem that has been reported.
    Noted,
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Stop::Message(message) => f.write_str(message),
            Stop::Missing(field) => write!(f, "`{field}` is missing"),
            Stop::Noted => f.write_str("a problem was noted"),
        }
    }
}

impl std::error::Error for Stop {}

impl de::Error for Stop {
    fn custom<T: fmt::Display>(message: T) -> Stop {
        Stop::Message(message.to_string())
    }

    fn invalid_type(found: Unexpected<'_>, expected: &dyn Expected) -> Stop {
        Stop::Message(format!("expected {expected}, found {found}"))
    }

    fn missing_field(field: &'static str) -> Stop {
        Stop::Missing(field)
    }
}

impl<'a> Reader<'a> {
    fn note(&self, place: Place, message: String) -> Stop {
        self.context.sink.borrow_mut().push(place, &self.context.path.borrow(), message);
        Stop::Noted
    }

    fn expected<T>(&self, what: &str) -> Result<T, Stop> {
        let found = self.node.value.describe();
        Err(self.note(self.node.place, format!("expected {what}, found {found}")))
    }

    /// Reports a message at the current place.
    fn settle<T>(&self, result: Result<T, Stop>) -> Result<T, Stop> {
        result.map_err(|stop| match stop {
            Stop::Noted => Stop::Noted,
            stop => self.note(self.node.place, stop.to_string()),
        })
    }

    fn inside<T>(&self, step: Step, read: impl FnOnce() -> T) -> T {
        self.context.path.borrow_mut().push(step);
        let result = read();
        self.context.path.borrow_mut().pop();
        result
    }

    /// The text. For an override, this is what was written, whatever it means in TOML.
    fn text(&self) -> Option<&'a str> {
        match (&self.node.value, self.node.place) {
            (Value::Text(text), _) => Some(text),
            (Value::List(_) | Value::Table(_), _) => None,
            (_, Place::Set(index)) => Some(&self.context.overrides[index].1),
            _ => None,
        }
    }

    fn note_unknown_keys(&self, fields: &'static [&'static str]) -> bool {
        let mut any = false;
        for (key, entry) in self.node.as_table().into_iter().flatten() {
            if !fields.contains(&key.as_str()) {
                any = true;
                let message = format!("unknown key{}", hint_and_list(key, fields.iter().copied()));
                self.inside(Step::Key(key.clone()), || self.note(entry.key_place, message));
            }
        }
        any
    }
}

impl<'de, 'a> Deserializer<'de> for Reader<'a> {
    type Error = Stop;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Stop> {
        let result = match &self.node.value {
            Value::Text(text) => visitor.visit_str(text),
            Value::Integer(Ok(number)) => visitor.visit_i64(*number),
            Value::Integer(Err(_)) => Err(Stop::Message("the number is too large".to_owned())),
            Value::Float(number) => visitor.visit_f64(*number),
            Value::Boolean(value) => visitor.visit_bool(*value),
            Value::Date(date) => visitor.visit_str(date),
            Value::List(_) => return self.deserialize_seq(visitor),
            Value::Table(_) => return self.deserialize_map(visitor),
        };
        self.settle(result)
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Stop> {
        match &self.node.value {
            Value::Boolean(value) => self.settle(visitor.visit_bool(*value)),
            _ => self.expected("true or false"),
        }
    }

    fn deserialize_u64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Stop> {
        match &self.node.value {
            Value::Integer(Ok(number)) if *number >= 0 => self.settle(visitor.visit_i64(*number)),
            _ => self.expected("a non-negative whole number"),
        }
    }

    fn deserialize_u32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Stop> {
        match &self.node.value {
            Value::Integer(Ok(number)) if u32::try_from(*number).is_ok() => {
                self.settle(visitor.visit_i64(*number))
            }
            _ => self.expected("a whole number from 0 to 4294967295"),
        }
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Stop> {
        match &self.node.value {
            Value::Float(number) if number.is_finite() => self.settle(visitor.visit_f64(*number)),
            Value::Integer(Ok(number)) => self.settle(visitor.visit_f64(*number as f64)),
            _ => self.expected("a number"),
        }
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Stop> {
        match self.text() {
            Some(text) => self.settle(visitor.visit_str(text)),
            None => self.expected("text in quotes"),
        }
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Stop> {
        self.deserialize_string(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Stop> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Stop> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Stop> {
        match &self.node.value {
            Value::List(list) => {
                let elements = list.iter().enumerate();
                self.settle(visitor.visit_seq(Elements { reader: self, elements }))
            }
            Value::Table(_) => {
                let key = self.context.path.borrow().last().map(|step| show_path(std::slice::from_ref(step)));
                let message = format!("is a list of tables; write [[{}]]", key.unwrap_or_default());
                Err(self.note(self.node.place, message))
            }
            _ => self.expected("a list in brackets"),
        }
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Stop> {
        self.deserialize_entries(visitor, |_| true)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Stop> {
        if self.node.as_table().is_none() {
            return self.expected(&format!("a table of {}", fields.join(", ")));
        }
        let misspelt = self.is_whole && self.note_unknown_keys(fields);
        let result = self.deserialize_entries(visitor, |key| fields.contains(&key));
        match result {
            // The missing key is most likely the misspelt one.
            Err(Stop::Message(_) | Stop::Missing(_)) if misspelt => Err(Stop::Noted),
            Err(Stop::Missing(key)) if !self.is_whole => Err(Stop::Missing(key)),
            result => self.settle(result),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Stop> {
        match self.text() {
            Some(text) if variants.contains(&text) => visitor.visit_enum(text.into_deserializer()),
            Some(text) => {
                let allowed = hint_and_list(text, variants.iter().copied());
                Err(self.note(self.node.place, format!("unknown value `{text}`{allowed}")))
            }
            None => self.expected(&format!("one of {}", variants.join(", "))),
        }
    }

    /// A list of so many, or, if of one, a list of any length or a value that stands for a list of it alone.
    fn deserialize_tuple<V: Visitor<'de>>(self, length: usize, visitor: V) -> Result<V::Value, Stop> {
        match &self.node.value {
            Value::List(list) if length > 1 && list.len() != length => {
                Err(self.note(self.node.place, format!("expected a list of {length}, found {}", list.len())))
            }
            Value::List(_) => self.deserialize_seq(visitor),
            _ => self.settle(visitor.visit_seq(Alone(Some(self)))),
        }
    }

    serde::forward_to_deserialize_any! {
        i8 i16 i32 i64 i128 u8 u16 u128 f32 char bytes byte_buf unit unit_struct tuple_struct identifier
        ignored_any
    }
}

impl<'a> Reader<'a> {
    fn deserialize_entries<'de, V: Visitor<'de>>(
        self,
        visitor: V,
        known: impl Fn(&str) -> bool,
    ) -> Result<V::Value, Stop> {
        let Some(table) = self.node.as_table() else { return self.expected("a table") };
        visitor.visit_map(Entries { reader: self, entries: table.iter(), known, current: None })
    }
}

struct Elements<'a> {
    reader: Reader<'a>,
    elements: std::iter::Enumerate<std::slice::Iter<'a, Node>>,
}

impl<'de> de::SeqAccess<'de> for Elements<'_> {
    type Error = Stop;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Stop> {
        let Some((index, node)) = self.elements.next() else { return Ok(None) };
        let context = self.reader.context;
        self.reader.inside(Step::Index(index), || {
            seed.deserialize(Reader { node, context, is_whole: true }).map(Some)
        })
    }
}

struct Alone<'a>(Option<Reader<'a>>);

impl<'de> de::SeqAccess<'de> for Alone<'_> {
    type Error = Stop;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Stop> {
        self.0.take().map(|reader| seed.deserialize(reader)).transpose()
    }
}

struct Entries<'a, F> {
    reader: Reader<'a>,
    entries: btree_map::Iter<'a, String, Entry>,
    known: F,
    current: Option<(&'a String, &'a Node)>,
}

impl<'de, F: Fn(&str) -> bool> de::MapAccess<'de> for Entries<'_, F> {
    type Error = Stop;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Stop> {
        let known = &self.known;
        let Some((key, entry)) = self.entries.find(|(key, _)| known(key)) else { return Ok(None) };
        self.current = Some((key, &entry.node));
        seed.deserialize(key.as_str().into_deserializer()).map(Some)
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, Stop> {
        let (key, node) = self.current.take().ok_or(Stop::Noted)?;
        let context = self.reader.context;
        let reader = Reader { node, context, is_whole: true };
        self.reader.inside(Step::Key(key.clone()), || reader.settle(seed.deserialize(reader)))
    }
}
