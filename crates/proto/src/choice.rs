//! What is one of several kinds in the scenario file. Mostly it is a table, such as a queue, in which a key names the kind: each kind is
//! then a `Config`, whose fields are the keys and whose doc comments are their documentation. Or each kind is the value of a key of its own,
//! such as a link's capacity. `choice!` lists the kinds.

use airtcp_wire::Dur;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::{Deserializer, Error, Visitor};
use serde::{Deserialize, Serialize, forward_to_deserialize_any};

/// A table that is one of several kinds.
pub trait Choice: Sized + Serialize {
    /// The key that selects the kind.
    const KEY: &'static str;
    /// Documentation of `KEY`.
    const DOC: &'static str;
    /// The kind if `KEY` is absent. `None`: the key is required.
    const DEFAULT: Option<&'static str>;
    const NAMES: &'static [&'static str];
    /// In the order of `NAMES`.
    const KINDS: &'static [Kind];
    /// Keys that every kind has. The type's name in the JSON Schema and its doc comment are those of the whole table.
    type Common: Serialize + for<'de> Deserialize<'de> + JsonSchema;

    /// Every key of every kind, once. Common keys come last.
    fn all_keys() -> &'static [&'static str];

    /// Reports values that make no sense.
    fn check(&self, faults: &mut Faults);

    /// Reads the keys of the kind called `name`, one of `NAMES`.
    ///
    /// # Errors
    /// Those of serde.
    fn read<'de, D: Deserializer<'de>>(name: &str, from: D) -> Result<Self, D::Error>;
}

/// A kind, without an instance of it.
pub struct Kind {
    pub name: &'static str,
    /// Its keys, in their order.
    pub keys: fn() -> &'static [&'static str],
    pub schema: fn(&mut SchemaGenerator) -> Schema,
}

/// Values of keys that make no sense.
#[derive(Debug, Default)]
pub struct Faults(Vec<Fault>);

/// A value that makes no sense, or several that do not go together. It is reported at the first of the keys that is present. A nested key
/// is written as `ranges.0.low`.
#[derive(Debug)]
pub struct Fault {
    pub keys: Vec<String>,
    pub message: String,
}

impl Faults {
    pub fn refuse_if(&mut self, wrong: bool, key: impl ToString, message: impl ToString) {
        self.blame_if(wrong, [key], message);
    }

    pub fn blame_if<K: ToString>(
        &mut self,
        wrong: bool,
        keys: impl IntoIterator<Item = K>,
        message: impl ToString,
    ) {
        if wrong {
            let keys = keys.into_iter().map(|key| key.to_string()).collect();
            self.0.push(Fault { keys, message: message.to_string() });
        }
    }

    pub fn above_zero(&mut self, key: &str, value: impl Into<Option<Dur>>) {
        self.refuse_if(value.into() == Some(Dur::ZERO), key, "must be above zero");
    }
}

impl IntoIterator for Faults {
    type Item = Fault;
    type IntoIter = std::vec::IntoIter<Fault>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

/// What [`Choice::all_keys`] returns.
pub fn collect_keys<C: Choice>() -> Vec<&'static str> {
    let own = C::KINDS.iter().flat_map(|kind| (kind.keys)());
    let mut keys = vec![C::KEY];
    for key in own.chain(keys_of::<C::Common>()) {
        if !keys.contains(key) {
            keys.push(key);
        }
    }
    keys
}

/// The names of a struct's fields, as in serde.
pub fn keys_of<'de, T: Deserialize<'de>>() -> &'static [&'static str] {
    let mut keys: &'static [&'static str] = &[];
    let asked = T::deserialize(KeysOf(&mut keys));
    debug_assert!(asked.is_err(), "nothing is read");
    keys
}

struct KeysOf<'a>(&'a mut &'static [&'static str]);

impl<'de> Deserializer<'de> for KeysOf<'_> {
    type Error = serde::de::value::Error;

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, Self::Error> {
        *self.0 = fields;
        Err(Error::custom("only asked"))
    }

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Self::Error> {
        Err(Error::custom("not a struct"))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

/// Declares a [`Choice`], or one of values that have keys of their own: an enum of what shares the trait after `dyn`.
#[macro_export]
macro_rules! choice {
    (
        #[doc = $doc:literal]
        $choice:ident: dyn $keys:ident beside $common:ty, by $key:literal = $default:expr;
        $($name:literal => $variant:ident($config:ty),)*
    ) => {
        #[doc = $doc]
        #[derive(Clone, Debug, PartialEq, serde::Serialize)]
        #[serde(tag = $key)]
        pub enum $choice {
            $(#[serde(rename = $name)] $variant($config),)*
        }

        impl $crate::choice::Choice for $choice {
            const KEY: &'static str = $key;
            const DOC: &'static str = $doc;
            const DEFAULT: Option<&'static str> = $default;
            const NAMES: &'static [&'static str] = &[$($name),*];
            const KINDS: &'static [$crate::choice::Kind] = &[$($crate::choice::Kind {
                name: $name,
                keys: $crate::choice::keys_of::<$config>,
                schema: <$config as schemars::JsonSchema>::json_schema,
            }),*];
            type Common = $common;

            fn all_keys() -> &'static [&'static str] {
                static KEYS: std::sync::OnceLock<Vec<&str>> = std::sync::OnceLock::new();
                KEYS.get_or_init($crate::choice::collect_keys::<Self>)
            }

            fn check(&self, faults: &mut $crate::choice::Faults) {
                (**self).check(faults);
            }

            fn read<'de, D: serde::Deserializer<'de>>(name: &str, from: D) -> Result<Self, D::Error> {
                use serde::{Deserialize, de::Error};
                match name {
                    $($name => <$config>::deserialize(from).map($choice::$variant),)*
                    _ => Err(D::Error::unknown_variant(name, Self::NAMES)),
                }
            }
        }

        $crate::choice::choice!(@deref $choice: dyn $keys; $($variant),*);
    };
    (
        #[doc = $doc:literal]
        $choice:ident: dyn $keys:ident, by keys of their own;
        $($key:ident => $variant:ident($value:ty),)*
    ) => {
        #[doc = $doc]
        #[derive(Clone, Debug, PartialEq)]
        pub enum $choice {
            $($variant($value),)*
        }

        impl $choice {
            /// One of them is given.
            pub const KEYS: &'static [&'static str] = &[$(stringify!($key)),*];
        }

        $crate::choice::choice!(@deref $choice: dyn $keys; $($variant),*);
    };
    (@deref $choice:ident: dyn $keys:ident; $($variant:ident),*) => {
        impl std::ops::Deref for $choice {
            type Target = dyn $keys;

            fn deref(&self) -> &Self::Target {
                match self {
                    $($choice::$variant(value) => value,)*
                }
            }
        }

        impl std::ops::DerefMut for $choice {
            fn deref_mut(&mut self) -> &mut Self::Target {
                match self {
                    $($choice::$variant(value) => value,)*
                }
            }
        }
    };
}
pub use choice;
