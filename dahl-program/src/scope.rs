//! [`ProgramScope`]: scopes other than a recording that a program can be written for.

use dahl_core::Recording;

/// A scope that a program can have in place of a [`Recording`]: `dahl_nn::Step`.
pub trait ProgramScope {
    /// The scope whose operations the recording remembers.
    fn within(recording: &Recording<'_>) -> Self;
}
