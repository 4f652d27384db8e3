//! The TOML document as a tree that remembers where each key and value was written.

use std::collections::BTreeMap;
use toml::Spanned;
use toml::de::{DeInteger, DeTable, DeValue};

/// Where something was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Place {
    /// In the file, at this byte offset.
    File(usize),
    /// In the override with this index.
    Set(usize),
    /// Nowhere: it is a default.
    Implied,
}

#[derive(Clone, Debug)]
pub(super) struct Node {
    pub place: Place,
    pub value: Value,
}

#[derive(Clone, Debug)]
pub(super) enum Value {
    Text(String),
    /// The digits as written if the number does not fit.
    Integer(Result<i64, String>),
    Float(f64),
    Boolean(bool),
    Date(String),
    List(Vec<Node>),
    Table(Table),
}

pub(super) type Table = BTreeMap<String, Entry>;

#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub key_place: Place,
    pub node: Node,
}

/// One step of a key path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Key(String),
    Index(usize),
}

/// Writes `link[0].loss.ber`.
pub(super) fn show_path(steps: &[Step]) -> String {
    let mut text = String::new();
    for step in steps {
        match step {
            Step::Key(key) if text.is_empty() => text.push_str(key),
            Step::Key(key) => text.extend([".", key]),
            Step::Index(index) => text.push_str(&format!("[{index}]")),
        }
    }
    text
}

impl Value {
    /// Describes the value in messages.
    pub fn describe(&self) -> String {
        match self {
            Value::Text(text) => format!("the text {text:?}"),
            Value::Integer(Ok(number)) => number.to_string(),
            Value::Integer(Err(digits)) => digits.clone(),
            Value::Float(number) => number.to_string(),
            Value::Boolean(value) => value.to_string(),
            Value::Date(date) => format!("the date {date}"),
            Value::List(_) => "a list".to_owned(),
            Value::Table(_) => "a table".to_owned(),
        }
    }

    pub fn as_text(&self) -> Option<&str> {
        if let Value::Text(text) = self { Some(text) } else { None }
    }
}

impl Node {
    pub fn table(place: Place) -> Node {
        Node { place, value: Value::Table(Table::new()) }
    }

    /// The table, if this is one, as every document's root is.
    pub fn as_table(&self) -> Option<&Table> {
        if let Value::Table(table) = &self.value { Some(table) } else { None }
    }

    pub fn as_table_mut(&mut self) -> Option<&mut Table> {
        if let Value::Table(table) = &mut self.value { Some(table) } else { None }
    }

    /// The value of `key`, if this is a table that has it.
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.as_table()?.get(key).map(|entry| &entry.node)
    }

    /// The node one step deeper, if there is one.
    pub fn step(&self, step: &Step) -> Option<&Node> {
        match (step, &self.value) {
            (Step::Key(key), Value::Table(table)) => table.get(key).map(|entry| &entry.node),
            (Step::Index(index), Value::List(list)) => list.get(*index),
            _ => None,
        }
    }

    /// The node at `path`, if there is one.
    pub fn find(&self, path: &[Step]) -> Option<&Node> {
        path.iter().try_fold(self, |node, step| node.step(step))
    }

    /// The place of the deepest node that exists on `path`.
    pub fn locate(&self, path: &[Step]) -> Place {
        let mut node = self;
        for step in path {
            let Some(next) = node.step(step) else { break };
            node = next;
        }
        node.place
    }

    /// The root of a file.
    pub fn from_document(root: &Spanned<DeTable<'_>>) -> Node {
        let place = |span: std::ops::Range<usize>| Place::File(span.start);
        Node { place: Place::File(0), value: convert_table(root.get_ref(), &place) }
    }

    /// The value of the override with this index.
    pub fn from_override(value: &Spanned<DeValue<'_>>, index: usize) -> Node {
        Node::convert(value, &|_| Place::Set(index))
    }

    fn convert(value: &Spanned<DeValue<'_>>, place: &dyn Fn(std::ops::Range<usize>) -> Place) -> Node {
        let converted = match value.get_ref() {
            DeValue::String(text) => Value::Text(text.to_string()),
            DeValue::Integer(number) => Value::Integer(integer(number)),
            DeValue::Float(number) => Value::Float(number.as_str().parse().unwrap_or(f64::INFINITY)),
            DeValue::Boolean(value) => Value::Boolean(*value),
            DeValue::Datetime(date) => Value::Date(date.to_string()),
            DeValue::Array(list) => Value::List(list.iter().map(|item| Node::convert(item, place)).collect()),
            DeValue::Table(table) => convert_table(table, place),
        };
        Node { place: place(value.span()), value: converted }
    }
}

fn integer(number: &DeInteger<'_>) -> Result<i64, String> {
    i64::from_str_radix(number.as_str(), number.radix()).map_err(|_| number.to_string())
}

fn convert_table(table: &DeTable<'_>, place: &dyn Fn(std::ops::Range<usize>) -> Place) -> Value {
    let entry = |(key, value): (&Spanned<_>, &Spanned<DeValue<'_>>)| {
        let entry = Entry { key_place: place(key.span()), node: Node::convert(value, place) };
        (std::borrow::Cow::<str>::to_string(key.get_ref()), entry)
    };
    Value::Table(table.iter().map(entry).collect())
}
