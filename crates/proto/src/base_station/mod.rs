//! Machines for the base station, the node in front of the wireless link. Each is a [`Middlebox`] with typed keys.
//!
//! A new machine is a module with a `Config` that implements [`Machine`], and one line in `machines!` below. The scheme grammar,
//! `airtcp schemes` and the conformance tests find it there.

pub mod delay_jitter;
pub mod eln;
mod flows;
pub mod packet_control;
pub mod snoop;
pub mod split;

use crate::Chance;
use crate::middlebox::Middlebox;
use crate::tcp::TcpConfig;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;

/// What a base-station machine is called and where it comes from.
#[derive(Clone, Copy, Debug)]
pub struct MachineSpec {
    pub name: &'static str,
    /// One line for `airtcp schemes`.
    pub summary: &'static str,
    /// RFC or paper with section.
    pub source: &'static str,
    /// Keys of the end hosts' stack that it needs, with their values.
    pub changes: &'static [(&'static str, &'static str)],
    /// Whether it speaks TCP itself, so that its term may set keys of its own stack.
    pub has_tcp: bool,
}

/// What a machine is built from, beside its own keys.
pub struct MachineBuild<'a> {
    /// The machine's own stack, if it has one: the end hosts' with the keys of its term.
    pub tcp: &'a TcpConfig,
    /// The end hosts' stack.
    pub hosts: &'a TcpConfig,
    pub chance: Chance,
}

/// The keys of one machine. Field names are the keys, doc comments their documentation; serde fills in defaults.
pub trait Machine: Default + DeserializeOwned + JsonSchema {
    const SPEC: MachineSpec;

    /// # Errors
    /// A message that names the key whose value is not allowed.
    fn check(&self) -> Result<(), String> {
        Ok(())
    }

    fn build(&self, build: MachineBuild<'_>) -> Box<dyn Middlebox>;
}

macro_rules! machines {
    ($($variant:ident($config:ty),)*) => {
        /// A base-station machine with its keys.
        #[derive(Clone, Debug, PartialEq)]
        pub enum BaseStation {
            $($variant($config),)*
        }

        /// Every machine with its default keys, in the order in which users see them.
        pub fn all() -> Vec<BaseStation> {
            vec![$(BaseStation::$variant(Default::default()),)*]
        }

        impl BaseStation {
            pub fn spec(&self) -> MachineSpec {
                match self {
                    $(BaseStation::$variant(_) => <$config as Machine>::SPEC,)*
                }
            }

            /// JSON Schema of its keys.
            pub fn schema(&self) -> serde_json::Value {
                match self {
                    $(BaseStation::$variant(_) => schemars::schema_for!($config).to_value(),)*
                }
            }

            /// The same machine with these keys; absent ones have their defaults.
            pub(crate) fn with_tree(&self, tree: serde_json::Value) -> serde_json::Result<BaseStation> {
                match self {
                    $(BaseStation::$variant(_) => serde_json::from_value(tree).map(BaseStation::$variant),)*
                }
            }

            /// # Errors
            /// As [`Machine::check`].
            pub fn check(&self) -> Result<(), String> {
                match self {
                    $(BaseStation::$variant(config) => config.check(),)*
                }
            }

            pub fn build(&self, build: MachineBuild<'_>) -> Box<dyn Middlebox> {
                match self {
                    $(BaseStation::$variant(config) => config.build(build),)*
                }
            }
        }
    };
}

machines! {
    PacketControl(packet_control::Config),
    Snoop(snoop::Config),
    Split(split::Config),
    Eln(eln::Config),
    DelayJitter(delay_jitter::Config),
}

/// Refuses counts that are zero, by their keys.
fn check_counts(counts: &[(&str, u32)]) -> Result<(), String> {
    match counts.iter().find(|(_, count)| *count == 0) {
        Some((key, _)) => Err(format!("{key} = 0: must be at least 1")),
        None => Ok(()),
    }
}

/// The machine called `name`, with its default keys.
pub fn find(name: &str) -> Option<BaseStation> {
    all().into_iter().find(|machine| machine.spec().name == name)
}
