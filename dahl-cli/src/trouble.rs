//! [`Trouble`]: why a command did not do what it was asked, and the exit code that says so.

use std::fmt::Display;
use std::io;
use std::path::Path;
use std::process::ExitCode;

use dahl::ErrorKind;

/// Why a command did not do what it was asked.
#[derive(Debug)]
pub(crate) enum Trouble {
    /// What the user gave cannot be used. The text names it, the place in it, and the choices.
    Input(String),
    /// It was understood, and did not work.
    Failed(String),
    /// Whoever read the output wanted no more of it.
    Closed,
}

impl Trouble {
    /// A file that cannot be written.
    pub(crate) fn unwritable(path: &Path, fact: impl Display) -> Self {
        Self::Failed(format!("{}: cannot be written: {fact}", path.display()))
    }

    /// Prints it. The exit code of the command.
    pub(crate) fn report(self) -> ExitCode {
        let (text, code) = match self {
            Self::Input(text) => (text, 2),
            Self::Failed(text) => (text, 1),
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

/// Of what is written to the standard output.
impl From<io::Error> for Trouble {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::Closed,
            _ => Self::Failed(format!("the standard output cannot be written: {error}")),
        }
    }
}
