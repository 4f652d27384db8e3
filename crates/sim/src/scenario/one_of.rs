//! Tables that are one of several kinds, as written. Only the kind is read here; `resolve` reads the other keys, which
//! depend on it.

use airtcp_proto::choice::{Choice, Kind};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde::de::{Deserializer, EnumAccess, Error, IgnoredAny, MapAccess, VariantAccess, Visitor};
use serde::ser::{Serialize, Serializer};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

/// A table that is one of the kinds of `C`.
#[derive(Clone, Debug, PartialEq)]
pub struct OneOf<C> {
    /// One of [`Choice::NAMES`].
    pub name: &'static str,
    choice: PhantomData<C>,
}

impl<C: Choice> OneOf<C> {
    /// The kind that applies where none is given, if there is one.
    pub fn unsaid() -> Option<OneOf<C>> {
        C::DEFAULT.map(OneOf::of)
    }

    /// The kind called `name`.
    pub fn of(name: &'static str) -> OneOf<C> {
        OneOf { name, choice: PhantomData }
    }

    pub fn kind(&self) -> &'static Kind {
        C::KINDS.iter().find(|kind| kind.name == self.name).expect("one of the kinds")
    }
}

impl<'de, C: Choice> Deserialize<'de> for OneOf<C> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<OneOf<C>, D::Error> {
        from.deserialize_struct("", C::all_keys(), TableVisitor(PhantomData))
    }
}

struct TableVisitor<C>(PhantomData<C>);

impl<'de, C: Choice> Visitor<'de> for TableVisitor<C> {
    type Value = OneOf<C>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a table")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut table: A) -> Result<OneOf<C>, A::Error> {
        let mut kind = OneOf::unsaid();
        while let Some(key) = table.next_key::<String>()? {
            if key == C::KEY {
                kind = Some(table.next_value::<Name<C>>()?.0);
            } else {
                table.next_value::<IgnoredAny>()?;
            }
        }
        kind.ok_or_else(|| A::Error::missing_field(C::KEY))
    }
}

/// The value of the key that names the kind.
struct Name<C>(OneOf<C>);

impl<'de, C: Choice> Deserialize<'de> for Name<C> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Name<C>, D::Error> {
        from.deserialize_enum("", C::NAMES, NameVisitor(PhantomData))
    }
}

struct NameVisitor<C>(PhantomData<C>);

impl<'de, C: Choice> Visitor<'de> for NameVisitor<C> {
    type Value = Name<C>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_enum<A: EnumAccess<'de>>(self, choice: A) -> Result<Name<C>, A::Error> {
        let (written, variant) = choice.variant::<String>()?;
        variant.unit_variant()?;
        let name = C::NAMES.iter().find(|name| **name == written);
        let name = name.ok_or_else(|| A::Error::unknown_variant(&written, C::NAMES))?;
        Ok(Name(OneOf::of(name)))
    }
}

impl<C: Choice> Serialize for OneOf<C> {
    fn serialize<S: Serializer>(&self, into: S) -> Result<S::Ok, S::Error> {
        into.collect_map([(C::KEY, self.name)])
    }
}

impl<C: Choice> JsonSchema for OneOf<C> {
    fn schema_name() -> Cow<'static, str> {
        C::Common::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut table = C::Common::json_schema(generator);
        let mut name = generator.subschema_for::<Name<C>>();
        match C::DEFAULT {
            Some(default) => drop(name.insert("default".to_owned(), default.into())),
            None => drop(table.insert("required".to_owned(), [C::KEY].into())),
        }
        let kinds: Vec<_> = C::KINDS.iter().map(|kind| (kind.name, (kind.schema)(generator))).collect();
        let keys = C::all_keys().iter().filter_map(|&key| Some((key.to_owned(), of_kinds(key, &kinds)?)));
        let properties = table.ensure_object().entry("properties").or_insert_with(|| Map::new().into());
        let properties = properties.as_object_mut().expect("a table of keys");
        properties.extend(keys);
        properties.insert(C::KEY.to_owned(), name.into());
        table
    }
}

impl<C: Choice> JsonSchema for Name<C> {
    fn schema_name() -> Cow<'static, str> {
        let (first, rest) = C::KEY.split_at(1);
        format!("{}{}{rest}", C::Common::schema_name(), first.to_uppercase()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let word = |kind: &Kind| {
            let schema = (kind.schema)(generator);
            json_schema!({ "type": "string", "const": kind.name, "description": schema.get("description") })
        };
        let words: Vec<_> = C::KINDS.iter().map(word).collect();
        json_schema!({ "description": C::DOC.trim(), "oneOf": words })
    }
}

/// The documentation of `key`: what each kind that has the key says of it. What several say is said once.
fn of_kinds(key: &str, kinds: &[(&str, Schema)]) -> Option<Value> {
    let mut property: Option<Map<String, Value>> = None;
    let mut says: Vec<(String, Vec<String>)> = Vec::new();
    for (name, schema) in kinds {
        let Some(of_kind) = schema.get("properties").and_then(|all| all.get(key)) else { continue };
        let mut of_kind = of_kind.as_object()?.clone();
        let text = explained(&mut of_kind, required_keys(schema).any(|required| required == key));
        property.get_or_insert(of_kind);
        match says.iter_mut().find(|(said, _)| *said == text) {
            Some((_, names)) => names.push(format!("`{name}`")),
            None => says.push((text, vec![format!("`{name}`")])),
        }
    }
    let mut property = property?;
    let sentences = says.iter().map(|(text, names)| format!("Of {}: {text}", enumerated(names)));
    property.insert("description".to_owned(), sentences.collect::<Vec<_>>().join(" ").into());
    Some(property.into())
}

pub(super) fn required_keys(schema: &Schema) -> impl Iterator<Item = &str> {
    schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}

/// The doc comment with the default, which it removes from the property since it applies to one kind only.
fn explained(property: &mut Map<String, Value>, is_required: bool) -> String {
    let text = property.get("description").and_then(Value::as_str).unwrap_or_default();
    let mut initial = text.chars();
    let mut text: String = initial.next().into_iter().flat_map(char::to_lowercase).chain(initial).collect();
    match property.remove("default") {
        _ if is_required => text.push_str(" Absent: an error."),
        Some(Value::String(default)) => text.push_str(&format!(" Default: {default}.")),
        Some(Value::Number(default)) => {
            text.push_str(&format!(" Default: {}.", default.as_f64().unwrap_or_default()));
        }
        Some(Value::Null) | None => {}
        Some(default) => text.push_str(&format!(" Default: {default}.")),
    }
    text
}

/// Writes "`a`, `b` and `c`".
fn enumerated(names: &[String]) -> String {
    match names {
        [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        _ => names.concat(),
    }
}
