//! Errors that the user can fix.

use airtcp_kernel::cc::CcError;
use airtcp_kernel::rto::RtoError;
use airtcp_sim::scenario::ScenarioError;
use anyhow::Error;
use std::fmt::Display;
use std::path::Path;

/// The exit status for these errors, as in `airtcp`, and as clap has it for options.
pub const STATUS: u8 = 2;

/// The number of mistakes shown. A file that is no scenario at all has many.
const SHOWN: usize = 5;

/// Returns whether the request itself is wrong, whatever the host.
pub fn is_bad(error: &Error) -> bool {
    error.is::<BadInput>()
        || matches!(
            error.downcast_ref(),
            Some(
                CcError::UnknownController { .. }
                    | CcError::Params(_)
                    | CcError::Name(_)
                    | CcError::Prefix(..)
                    | CcError::Cgroup(_)
            )
        )
        || matches!(error.downcast_ref(), Some(RtoError::Rule(_) | RtoError::Cgroup(_)))
}

/// A user's mistake. It ends the program with [`STATUS`].
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct BadInput(pub String);

impl BadInput {
    /// A file that cannot be read, understood or written.
    pub fn of_file(path: &Path, error: impl Into<Error>) -> BadInput {
        BadInput(format!("{}: {:#}", path.display(), error.into()))
    }
}

impl From<ScenarioError> for BadInput {
    fn from(error: ScenarioError) -> BadInput {
        BadInput(first(&error.problems))
    }
}

/// The first problems, one per line.
fn first(problems: &[impl Display]) -> String {
    let mut lines: Vec<_> = problems.iter().take(SHOWN).map(ToString::to_string).collect();
    if problems.len() > SHOWN {
        lines.push(format!("and {} more errors", problems.len() - SHOWN));
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_screenful_is_cut_short() {
        assert_eq!(first(&[1, 2, 3, 4, 5]), "1\n2\n3\n4\n5");
        assert_eq!(first(&[1, 2, 3, 4, 5, 6, 7]), "1\n2\n3\n4\n5\nand 2 more errors");
    }
}
