//! What follows from the list of keys of one direction. With serde's `flatten`, the places of mistakes would be lost: so the link has all keys
//! of its forward direction.

/// Declares the keys of one direction: `KEY: TYPE AS WRITTEN => TYPE AS IT RUNS`, a [`Value`](super::value::Value). Those of a capacity
/// exclude each other.
macro_rules! one_direction {
    (
        capacity: {
            $($(#[$about_capacity:meta])* $capacity:ident: $written_capacity:ty => $kind:ident($recording:ty),)*
        }
        $(#[$about_delay:meta])*
        delay: Dur,
        $($(#[$about:meta])* $key:ident: $written:ty => $value:ty,)*
    ) => {
        /// One hop of the path or network, in both directions. The keys describe the forward direction; the reverse direction is
        /// the same except for what `reverse` sets.
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields, default)]
        #[schemars(rename = "Link")]
        pub struct LinkKeys {
            /// Used in results and in `--set link.NAME.key=value`. Absent: `link` and its number, from `link0`.
            pub name: Option<String>,
            /// Name of the node at which the link begins: its forward direction leads from here. All links have `from` and
            /// `to`, or none. Absent: the links form a chain.
            pub from: Option<String>,
            /// Name of the node at which the link ends. Absent: the links form a chain.
            pub to: Option<String>,
            $($(#[$about_capacity])* pub $capacity: Option<$written_capacity>,)*
            $(#[$about_delay])*
            pub delay: Option<Dur>,
            $($(#[$about])* pub $key: Option<$written>,)*
            /// Delay that steps to another value again and again, the same in both directions. Absent: none.
            pub steps: Option<Steps>,
            /// Times when nothing crosses in either direction. Absent: none.
            pub outages: Option<Outages>,
            /// What differs in the reverse direction. Keys that are absent are as in the forward direction, including
            /// loss, since the two directions of a wireless link share the medium. A table given here replaces the
            /// whole forward table: `loss = {}` is no loss. Only `spikes` and packets lost by number or time apply
            /// solely where they are written.
            pub reverse: Option<SideKeys>,
        }

        /// One direction of a link.
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields, default)]
        #[schemars(rename = "Way")]
        pub struct SideKeys {
            $($(#[$about_capacity])* pub $capacity: Option<$written_capacity>,)*
            $(#[$about_delay])*
            pub delay: Option<Dur>,
            $($(#[$about])* pub $key: Option<$written>,)*
        }

        choice! {
            /// How fast one direction sends.
            Capacity: dyn Keys, by keys of their own;
            $($capacity => $kind($recording),)*
        }

        /// One direction of a link.
        #[derive(Clone, Debug, PartialEq)]
        pub struct Side {
            pub capacity: Capacity,
            /// Propagation delay, one way.
            pub delay: Dur,
            $($(#[$about])* pub $key: $value,)*
        }

        impl LinkKeys {
            /// The keys of the forward direction.
            pub(super) fn forward(&self) -> SideKeys {
                SideKeys {
                    $($capacity: self.$capacity.clone(),)*
                    delay: self.delay,
                    $($key: self.$key.clone(),)*
                }
            }
        }

        impl SideKeys {
            fn capacity(
                &self,
                forward: Option<&Side>,
                around: &Around<'_>,
                check: &mut Check<'_>,
            ) -> Option<Capacity> {
                let given = [$(self.$capacity.is_some()),*];
                let mut keys = Capacity::KEYS.iter().zip(given).filter_map(|(key, given)| given.then_some(key));
                if let (Some(first), Some(second)) = (keys.next(), keys.next()) {
                    let all = Capacity::KEYS.join(", ");
                    let problem = format!("`{first}` is also given; a link has exactly one of {all}");
                    check.refuse_key(second, problem);
                    return None;
                }
                $(if let Some(written) = &self.$capacity {
                    let read = |check: &mut Check<'_>| <$recording>::read(written, around, check);
                    return check.inside(stringify!($capacity), read).map(Capacity::$kind);
                })*
                let inherited = forward.map(|forward| forward.capacity.clone());
                if inherited.is_none() {
                    let all = Capacity::KEYS.join(", ");
                    check.refuse(format!("the link has no capacity; give exactly one of {all}"));
                }
                inherited
            }
        }

        impl Side {
            /// One of which only the capacity is known.
            pub fn of(capacity: Capacity) -> Side {
                Side { capacity, delay: Dur::ZERO, $($key: Default::default(),)* }
            }

            /// `forward` is the way there, if this is the way back.
            pub(super) fn read(
                written: &SideKeys,
                forward: Option<&Side>,
                around: Around<'_>,
                check: &mut Check<'_>,
            ) -> Option<Side> {
                let mut capacity = written.capacity(forward, &around, check);
                if let Some(capacity) = &mut capacity {
                    capacity.beside(&around);
                }
                let around = Around { mean_rate: capacity.as_ref().map(|capacity| capacity.mean_rate()), ..around };
                $(let $key = match (&written.$key, forward) {
                    (Some(written), _) => {
                        check.inside(stringify!($key), |check| <$value>::read(written, &around, check))
                    }
                    (None, Some(forward)) => Some(forward.$key.inherited()),
                    (None, None) => Some(Default::default()),
                };)*
                Some(Side { capacity: capacity?, delay: around.delay.unwrap_or_default(), $($key: $key?,)* })
            }
        }

        /// A direction as it is written in full.
        pub(crate) struct Shown<'a> {
            pub side: &'a Side,
            /// The way there.
            pub forward: &'a Side,
            pub with_delay: bool,
        }

        impl Serialize for Shown<'_> {
            fn serialize<S: Serializer>(&self, into: S) -> Result<S::Ok, S::Error> {
                let Shown { side, forward, with_delay } = self;
                let mut keys = into.serialize_map(None)?;
                match &side.capacity {
                    $(Capacity::$kind(value) => keys.serialize_entry(stringify!($capacity), value)?,)*
                }
                if *with_delay {
                    keys.serialize_entry("delay", &side.delay)?;
                }
                $(if let Some(value) = side.$key.shown(&forward.$key) {
                    keys.serialize_entry(stringify!($key), &value)?;
                })*
                keys.end()
            }
        }
    };
}
pub(super) use one_direction;
