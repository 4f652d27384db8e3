//! Answers to JavaScript: JSON, followed by columns of numbers.

use airtcp_sim::series::{Column, Columns};
use serde::Serialize;
use serde_json::{Map, Value, json};

/// An answer under construction.
#[derive(Default)]
pub struct Answer {
    json: Map<String, Value>,
    tables: Map<String, Value>,
    numbers: Vec<f64>,
}

impl Answer {
    pub fn of(json: Value) -> Answer {
        let json = match json {
            Value::Object(json) => json,
            other => Map::from_iter([("value".to_owned(), other)]),
        };
        Answer { json, ..Answer::default() }
    }

    /// Returns an answer that says what was wrong with the request.
    pub fn error(message: impl ToString) -> Answer {
        Answer::of(json!({ "error": message.to_string() }))
    }

    #[must_use]
    pub fn with(mut self, name: &str, value: impl Serialize) -> Answer {
        let value = serde_json::to_value(value).unwrap_or_default();
        self.json.insert(name.to_owned(), value);
        self
    }

    /// Adds a table. Text columns become indices into a list of the distinct words.
    #[must_use]
    pub fn with_table(mut self, name: &str, columns: Columns) -> Answer {
        let columns: Map<_, _> =
            columns.into_iter().map(|(column, values)| (column.to_owned(), self.place(values))).collect();
        self.tables.insert(name.to_owned(), columns.into());
        self
    }

    fn place(&mut self, column: Column) -> Value {
        let (at, length) = (self.numbers.len(), column.len());
        let mut words = Vec::new();
        match column {
            Column::F64(values) => self.numbers.extend(values),
            Column::U64(values) => self.numbers.extend(values.into_iter().map(|value| value as f64)),
            Column::Text(values) => {
                for word in values {
                    let index = words.iter().position(|&known| known == word).unwrap_or_else(|| {
                        words.push(word);
                        words.len() - 1
                    });
                    self.numbers.push(index as f64);
                }
            }
        }
        json!({ "at": at, "length": length, "words": words })
    }

    /// Returns the length of the JSON in four bytes, the JSON, spaces up to a multiple of eight, then numbers of
    /// eight bytes each, all little-endian.
    pub fn into_bytes(mut self) -> Vec<u8> {
        self.json.insert("tables".to_owned(), self.tables.into());
        let mut json = Value::Object(self.json).to_string();
        let missing = (8 - (4 + json.len()) % 8) % 8;
        json.extend(std::iter::repeat_n(' ', missing));
        let mut bytes = Vec::with_capacity(4 + json.len() + 8 * self.numbers.len());
        bytes.extend((json.len() as u32).to_le_bytes());
        bytes.extend(json.as_bytes());
        bytes.extend(self.numbers.iter().flat_map(|number| number.to_le_bytes()));
        bytes
    }
}
