//! [`Settings`]: invalid settings, which builders keep until a call that can return an error.

use std::fmt::Display;
use std::panic::Location;

use crate::error::{Error, Result};

/// A setting that cannot be.
#[derive(Clone, Debug)]
struct Wrong {
    setting: &'static str,
    value: String,
    expected: &'static str,
    location: &'static Location<'static>,
}

/// The first wrong setting of a builder, and where it was made. A setting that is made again, and right, is no longer wrong.
#[derive(Clone, Debug, Default)]
pub(crate) struct Settings {
    wrong: Vec<Wrong>,
}

impl Settings {
    /// Keeps the setting if it is wrong.
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

    /// The error of the first setting that is wrong.
    pub(crate) fn check(&self) -> Result<()> {
        let Some(Wrong { setting, value, expected, location }) = self.wrong.first().cloned() else {
            return Ok(());
        };
        Err(Error::Setting { setting, value, expected, location })
    }
}

/// The error of a setting that cannot be, with the caller's place.
#[track_caller]
pub(crate) fn wrong(setting: &'static str, value: impl Display, expected: &'static str) -> Error {
    Error::Setting { setting, value: value.to_string(), expected, location: Location::caller() }
}

/// The error of a setting that cannot be, unless it can.
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
