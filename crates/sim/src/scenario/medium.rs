//! Media that links share.

use super::check::Check;
use super::one_of::OneOf;
use airtcp_proto::choice::Faults;
use airtcp_proto::path::medium::Kind;
use serde::Serialize;

/// A medium that links share.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Medium {
    /// Unique.
    pub name: String,
    #[serde(flatten)]
    pub kind: Kind,
}

/// All media that are written; `None` if one of them is wrong.
pub(super) fn media(written: &[OneOf<Kind>], names: &[String], check: &mut Check<'_>) -> Option<Vec<Medium>> {
    let named = written.iter().zip(names);
    let media = check.each("medium", named, |(medium, name), check| {
        let (kind, _) = check.one_of(medium)?;
        let mut faults = Faults::default();
        kind.check(&mut faults);
        faults.into_iter().next().is_none().then(|| Medium { name: name.clone(), kind })
    });
    media.into_iter().collect()
}
