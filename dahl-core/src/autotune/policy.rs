//! [`KernelPolicy`], [`TeamPolicy`]: the user's rules for these choices.

use std::path::Path;
use std::sync::Arc;

use super::pins::Pins;
use crate::error::{Error, ErrorKind, Result};

/// Which kernel of a codelet runs a task whose submitter named none.
#[derive(Clone, Debug, Default)]
pub(crate) enum KernelPolicy {
    /// The first one declared.
    First,
    /// The fastest of those with the same bits as the first one.
    #[default]
    Equal,
    /// The fastest.
    Measured,
    /// Those of a table.
    Pinned(Arc<Pins>),
}

/// The names of the policies that are not files.
pub(super) const NAMES: [&str; 3] = ["equal", "first", "measured"];

impl KernelPolicy {
    /// The policy with that name, or the table in that file.
    ///
    /// # Errors
    /// If there is no such policy or file, or the file is not a table.
    #[track_caller]
    pub(crate) fn named(setting: &'static str, value: &str) -> Result<Self> {
        if let Some(policy) = Self::of_name(value) {
            return Ok(policy);
        }
        if !value.ends_with(".toml") {
            let expected = format!("one of {}, or a table, `FILE.toml`", NAMES.join(", "));
            return Err(Error::new(ErrorKind::Config { setting, value: value.to_owned(), expected }));
        }
        match Pins::from_file(Path::new(value)) {
            Ok(pins) => Ok(Self::Pinned(Arc::new(pins))),
            Err(fact) => {
                let expected = format!("a table of kernels: {fact}");
                Err(Error::new(ErrorKind::Config { setting, value: value.to_owned(), expected }))
            }
        }
    }

    /// The policy with that name, if it is not a table.
    pub(super) fn of_name(name: &str) -> Option<Self> {
        match name {
            "first" => Some(Self::First),
            "equal" => Some(Self::Equal),
            "measured" => Some(Self::Measured),
            _ => None,
        }
    }

    /// Its name, or that of the file.
    pub(super) fn name(&self) -> &str {
        match self {
            Self::First => "first",
            Self::Equal => "equal",
            Self::Measured => "measured",
            Self::Pinned(pins) => pins.file(),
        }
    }
}

/// Whether other workers help kernels that can use several cores: parallel ones, maps, those by rows, and fused tasks. Bits do not
/// depend on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum TeamPolicy {
    /// If that was measured to be faster for the footprint, with workers that are idle when the kernel starts, or become idle later.
    #[default]
    Measured,
    /// Always.
    Always,
    /// Never.
    Never,
}

impl TeamPolicy {
    /// The policy with that name.
    ///
    /// # Errors
    /// If there is no such policy.
    #[track_caller]
    pub(crate) fn named(setting: &'static str, value: &str) -> Result<Self> {
        match value {
            "measured" => Ok(Self::Measured),
            "always" => Ok(Self::Always),
            "never" => Ok(Self::Never),
            _ => {
                let expected = "one of measured, always, never".to_owned();
                Err(Error::new(ErrorKind::Config { setting, value: value.to_owned(), expected }))
            }
        }
    }
}
