//! [`Settings`]: invalid settings, which builders keep until a call that can return an error.

use std::fmt::Display;
use std::panic::Location;

use crate::error::{Error, Result};

/// An invalid setting.
#[derive(Clone, Debug)]
struct Wrong {
    setting: &'static str,
    value: String,
    expected: &'static str,
    location: &'static Location<'static>,
}

/// The first invalid setting of a builder, and the line that set it. Setting it again to a valid value removes it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Settings {
    wrong: Vec<Wrong>,
}

impl Settings {
    /// Records the setting if it is invalid.
    #[track_caller]
    pub(crate) fn require(
        &mut self,
        holds: bool,
        setting: &'static str,
        value: impl Display,
        expected: &'static str,
    ) {
        self.wrong.retain(|wrong| wrong.setting != setting);
        if !holds {
            let location = Location::caller();
            self.wrong.push(Wrong { setting, value: value.to_string(), expected, location });
        }
    }

    /// The error of the first invalid setting.
    pub(crate) fn check(&self) -> Result<()> {
        let Some(Wrong { setting, value, expected, location }) = self.wrong.first().cloned() else {
            return Ok(());
        };
        Err(Error::Setting { setting, value, expected, location })
    }
}

/// The error of an invalid setting, with the caller's line.
#[track_caller]
pub(crate) fn wrong(setting: &'static str, value: impl Display, expected: &'static str) -> Error {
    Error::Setting { setting, value: value.to_string(), expected, location: Location::caller() }
}

/// Returns the error of the setting if it is invalid.
#[track_caller]
pub(crate) fn require(
    holds: bool,
    setting: &'static str,
    value: impl Display,
    expected: &'static str,
) -> Result<()> {
    if holds { Ok(()) } else { Err(wrong(setting, value, expected)) }
}

/// `[3, 0]` as text.
pub(crate) fn listed(extents: &[usize]) -> String {
    format!("{extents:?}")
}
