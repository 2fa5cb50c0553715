//! [`Trouble`]: the error of a command, with its exit code.

use std::fmt::Display;
use std::io;
use std::path::Path;
use std::process::ExitCode;

use dahl::ErrorKind;

/// Why a command failed.
#[derive(Debug)]
pub(crate) enum Trouble {
    /// The user's input is invalid. The text names it, the place in it, and the choices.
    Input(String),
    /// The input is valid, but the command failed.
    Failed(String),
    /// What was compared differs, which the output says.
    Different,
    /// The reader of the output closed it.
    Closed,
}

impl Trouble {
    /// A file that cannot be written.
    pub(crate) fn unwritable(path: &Path, fact: impl Display) -> Self {
        Self::Failed(format!("{}: cannot be written: {fact}", path.display()))
    }

    /// Prints the error, and returns the exit code.
    pub(crate) fn report(self) -> ExitCode {
        let (text, code) = match self {
            Self::Input(text) => (text, 2),
            Self::Failed(text) => (text, 1),
            Self::Different => return ExitCode::from(1),
            Self::Closed => return ExitCode::SUCCESS,
        };
        anstream::eprintln!("dahl: {}", text.trim_end());
        ExitCode::from(code)
    }
}

impl From<dahl::Error> for Trouble {
    fn from(error: dahl::Error) -> Self {
        match error.kind() {
            ErrorKind::Config { setting, value, expected } => {
                Self::Input(format!("{setting} = `{value}`: expected {expected}"))
            }
            _ => Self::Failed(error.to_string()),
        }
    }
}

/// An error of writing to the standard output.
impl From<io::Error> for Trouble {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::Closed,
            _ => Self::Failed(format!("the standard output cannot be written: {error}")),
        }
    }
}
