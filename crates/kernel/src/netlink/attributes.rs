//! Attributes of a message as the bytes that they are, so that what is not understood here stays as it is.

use std::ops::Range;

/// Bytes of struct nlattr: a length, without the padding to [`ALIGNMENT`], and a type.
const HEADER: usize = 4;
const ALIGNMENT: usize = 4;
/// Without NLA_F_NESTED and NLA_F_NET_BYTEORDER.
const KIND: u16 = 0x3fff;

/// A sequence of attributes. It ends before the first one that is broken; what follows is kept, and not looked at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Attributes(Vec<u8>);

/// Where an attribute is.
struct Span {
    /// As it is written, with flags.
    kind: u16,
    /// With header and padding.
    whole: Range<usize>,
    value: Range<usize>,
}

impl Attributes {
    #[must_use]
    pub fn new(bytes: Vec<u8>) -> Attributes {
        Attributes(bytes)
    }

    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Returns whether there are no bytes at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Kinds, without flags, and values.
    pub fn iter(&self) -> impl Iterator<Item = (u16, &[u8])> {
        self.spans().map(|span| (span.kind & KIND, &self.0[span.value]))
    }

    /// The value of the first attribute of this kind.
    #[must_use]
    pub fn get(&self, kind: u16) -> Option<&[u8]> {
        self.iter().find_map(|(found, value)| (found == kind).then_some(value))
    }

    /// The value of an attribute that is a number; `None` also if its length is another one.
    #[must_use]
    pub fn number(&self, kind: u16) -> Option<u32> {
        Some(u32::from_ne_bytes(self.get(kind)?.try_into().ok()?))
    }

    /// The value of an attribute that is a text, up to its terminating zero.
    #[must_use]
    pub fn text(&self, kind: u16) -> Option<String> {
        let text = self.get(kind)?.split(|byte| *byte == 0).next()?;
        Some(String::from_utf8_lossy(text).into_owned())
    }

    /// Gives the attribute of this kind another value in its place, or adds it behind the others.
    pub fn set(&mut self, kind: u16, value: &[u8]) {
        self.rewrite(kind, Some(value));
    }

    pub fn remove(&mut self, kind: u16) {
        self.rewrite(kind, None);
    }

    /// Copies everything but the attributes of this kind. The first of them is replaced by one with the new value.
    fn rewrite(&mut self, kind: u16, mut value: Option<&[u8]>) {
        let mut bytes = Vec::with_capacity(self.0.len());
        let mut end = 0;
        for span in self.spans() {
            end = span.whole.end;
            if span.kind & KIND != kind {
                bytes.extend(&self.0[span.whole]);
            } else if let Some(value) = value.take() {
                push(&mut bytes, span.kind, value);
            }
        }
        if let Some(value) = value {
            push(&mut bytes, kind, value);
        }
        bytes.extend(&self.0[end..]);
        self.0 = bytes;
    }

    fn spans(&self) -> impl Iterator<Item = Span> {
        let mut at = 0;
        std::iter::from_fn(move || {
            let span = span(&self.0, at)?;
            at = span.whole.end;
            Some(span)
        })
    }
}

fn span(bytes: &[u8], at: usize) -> Option<Span> {
    let header: [u8; HEADER] = *bytes.get(at..)?.first_chunk()?;
    let [len, kind] = [[header[0], header[1]], [header[2], header[3]]].map(u16::from_ne_bytes);
    let value = at + HEADER..at + usize::from(len);
    let is_whole = value.start <= value.end && value.end <= bytes.len();
    let end = value.end.next_multiple_of(ALIGNMENT).min(bytes.len());
    is_whole.then_some(Span { kind, whole: at..end, value })
}

fn push(bytes: &mut Vec<u8>, kind: u16, value: &[u8]) {
    bytes.resize(bytes.len().next_multiple_of(ALIGNMENT), 0);
    bytes.extend(((HEADER + value.len()) as u16).to_ne_bytes());
    bytes.extend(kind.to_ne_bytes());
    bytes.extend(value);
    bytes.resize(bytes.len().next_multiple_of(ALIGNMENT), 0);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    /// Attributes of any kinds with values of any lengths, some of them broken off.
    fn any_bytes() -> impl Strategy<Value = Vec<u8>> {
        let attribute = (any::<u16>(), vec(any::<u8>(), 0..40));
        let whole = vec(attribute, 0..12).prop_map(|attributes| {
            let mut bytes = Vec::new();
            attributes.iter().for_each(|(kind, value)| push(&mut bytes, *kind, value));
            bytes
        });
        let cut = (whole.clone(), any::<prop::sample::Index>()).prop_map(|(mut bytes, at)| {
            bytes.truncate(at.index(bytes.len() + 1));
            bytes
        });
        prop_oneof![whole, cut, vec(any::<u8>(), 0..100)]
    }

    fn others(attributes: &Attributes, kind: u16) -> Vec<(u16, Vec<u8>)> {
        let others = attributes.iter().filter(|(found, _)| *found != kind);
        others.map(|(kind, value)| (kind, value.to_vec())).collect()
    }

    proptest! {
        #[test]
        fn a_changed_attribute_leaves_the_others_and_the_broken_end_byte_for_byte(
            bytes in any_bytes(), kind in 0u16..0x4000, value in vec(any::<u8>(), 0..40),
        ) {
            let before = Attributes::new(bytes);
            let tail = before.spans().last().map_or(0, |span| span.whole.end);
            let tail = before.0[tail..].to_vec();
            let mut after = before.clone();
            after.set(kind, &value);
            prop_assert_eq!(after.get(kind), Some(&value[..]));
            prop_assert_eq!(others(&after, kind), others(&before, kind));
            prop_assert!(after.0.ends_with(&tail));
            after.remove(kind);
            prop_assert_eq!(after.get(kind), None);
            prop_assert_eq!(others(&after, kind), others(&before, kind));
            prop_assert!(after.0.ends_with(&tail));
        }

        #[test]
        fn what_is_not_there_is_removed_without_a_trace(bytes in any_bytes(), kind in 0u16..0x4000) {
            let before = Attributes::new(bytes);
            prop_assume!(before.get(kind).is_none());
            let mut after = before.clone();
            after.remove(kind);
            prop_assert_eq!(after, before);
        }

        /// The padding behind a value, which means nothing, becomes zero.
        #[test]
        fn the_same_value_in_its_place_changes_no_attribute(bytes in any_bytes(), which in any::<prop::sample::Index>()) {
            let before = Attributes::new(bytes);
            let mut kinds: Vec<u16> = before.iter().map(|(kind, _)| kind).collect();
            kinds.sort_unstable();
            let once: Vec<u16> = kinds.chunk_by(|a, b| a == b).filter(|same| same.len() == 1).map(|same| same[0]).collect();
            prop_assume!(!once.is_empty());
            let kind = once[which.index(once.len())];
            let (mut after, value) = (before.clone(), before.get(kind).unwrap_or_default());
            after.set(kind, value);
            prop_assert!(after.iter().eq(before.iter()), "{after:?}");
        }
    }
}
