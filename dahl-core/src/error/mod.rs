//! Errors, each with a code, the facts, and the caller's line.

mod failure;

use std::fmt;
use std::panic::Location;
use std::sync::Arc;

pub use failure::Failure;

pub use crate::memory::Shortage;

/// The result of every call that can fail.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a call failed. The text is: code, subject, facts, and the line that made the call.
#[derive(Debug, Clone)]
pub struct Error(Box<Inner>);

#[derive(Debug, Clone)]
struct Inner {
    kind: ErrorKind,
    location: Option<&'static Location<'static>>,
}

/// The kinds of [`Error`], each with a code.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// D0001: shapes that must be equal, or broadcast to a common one, are not.
    #[error("{codelet}: the shapes differ: {shapes}{remedy}")]
    Shapes {
        /// The codelet.
        codelet: &'static str,
        /// `x: [3], y: [2]`.
        shapes: String,
        /// A remedy, or empty.
        remedy: &'static str,
    },
    /// D0002: an output does not have the shape that the codelet computes.
    #[error("{codelet}: `{parameter}` has shape {actual}, but the result has shape {expected} ({shapes})")]
    OutputShape {
        /// The codelet.
        codelet: &'static str,
        /// The output.
        parameter: &'static str,
        /// The shape of the given array.
        actual: String,
        /// The shape that follows from the inputs.
        expected: String,
        /// All shapes of the call.
        shapes: String,
    },
    /// D0003: a precondition of the codelet, `check(..)`, does not hold.
    #[error("{codelet}: `{expression}` does not hold ({values})")]
    Check {
        /// The codelet.
        codelet: &'static str,
        /// The expression as written.
        expression: &'static str,
        /// The values in it.
        values: String,
    },
    /// D0004: arrays of two runtimes in one call.
    #[error("{codelet}: its arrays belong to two runtimes; copy one over with `to_vec` and `from_vec`")]
    TwoRuntimes {
        /// The codelet.
        codelet: &'static str,
    },
    /// D0005: a task failed, or one that it depends on did.
    #[error("{0}")]
    Task(Arc<Failure>),
    /// D0006: there is not enough memory.
    #[error("out of memory: {0}")]
    OutOfMemory(Box<Shortage>),
    /// D0007: a call that waits or submits, from inside a kernel.
    #[error(
        "`{call}` was called inside a kernel, where it could wait for itself; kernels use only their views"
    )]
    InsideKernel {
        /// The call.
        call: &'static str,
    },
    /// D0008: the runtime of this array has been dropped.
    #[error("{subject}: its runtime has been dropped; keep the `Runtime` as long as tasks are submitted")]
    RuntimeDropped {
        /// The codelet or call.
        subject: &'static str,
    },
    /// D0009: an invalid shape.
    #[error("{subject}: {fact}")]
    InvalidShape {
        /// The call.
        subject: &'static str,
        /// What is wrong with it.
        fact: String,
    },
    /// D0010: an invalid setting.
    #[error("{setting} = `{value}`: expected {expected}")]
    Config {
        /// The variable or builder method.
        setting: &'static str,
        /// Its value.
        value: String,
        /// The valid values.
        expected: String,
    },
    /// D0011: a thread could not be started.
    #[error("the runtime's workers cannot be started: {0}")]
    Workers(String),
    /// D0012: the codelet has no kernel, or not the one that was named, for this element type.
    #[error("{codelet}: no {kernel} for {element}; the codelet has: {kernels}")]
    NoKernel {
        /// The codelet.
        codelet: &'static str,
        /// `kernel`, or the name of the missing one.
        kernel: String,
        /// The element type of the call.
        element: &'static str,
        /// The names of its kernels.
        kernels: String,
    },
    /// D0013: a task was sent to a worker that does not exist, or that cannot run it.
    #[error("{codelet}: there is no {wanted}; the runtime has {workers}")]
    NoWorker {
        /// The codelet.
        codelet: &'static str,
        /// The requested worker: `worker 7`, or a worker of some kind.
        wanted: String,
        /// The existing workers, by number and name.
        workers: String,
    },
    /// D0014: a described task cannot be submitted again on these arrays.
    #[error("{codelet}: cannot be submitted again: {fact}")]
    Replay {
        /// The codelet.
        codelet: &'static str,
        /// The reason.
        fact: String,
    },
    /// D0015: a runtime is used in a child of the process that made it.
    #[error(
        "{subject}: this process was forked from the one that made the runtime, and has none of its workers; make a \
         `Runtime` here, or fork before the first one is made"
    )]
    Forked {
        /// The codelet or call.
        subject: &'static str,
    },
    /// D0016: a gradient needs a value that was overwritten.
    #[error(
        "{codelet}: its gradient needs the value of `{parameter}`, which was overwritten at {written_at}; compute the gradients before, or write to another array"
    )]
    Overwritten {
        /// The codelet.
        codelet: &'static str,
        /// The parameter of the task that had read or written it.
        parameter: &'static str,
        /// The line that submitted the task that changes it.
        written_at: &'static Location<'static>,
    },
    /// D0017: a task would change an array that a tape must know.
    #[error(
        "{codelet}: `{parameter}` was made under a tape, which would not know of the change; use `{codelet}_init` with the tape, or make the array by `tape.detached()`"
    )]
    ChangesTape {
        /// The codelet.
        codelet: &'static str,
        /// The parameter.
        parameter: &'static str,
    },
    /// D0022: the host would change an array that a tape must know.
    #[error(
        "{call}: the array was made under a tape, which would not know of the change; make it by `tape.detached()`, or copy it"
    )]
    WritesTape {
        /// The call.
        call: &'static str,
    },
    /// D0023: a gradient inside of a checkpoint.
    #[error(
        "gradients: a checkpoint keeps no intermediate results, so there are no gradients inside of it; call this on the tape itself"
    )]
    InsideCheckpoint,
    /// D0024: sums of gradients under a tape inside of another one.
    #[error(
        "accumulate: the outer tape would not know of the sums; use `gradients`, and add under the outer tape"
    )]
    InsideTape,
    /// D0025: an array of another tape.
    #[error(
        "{codelet}: `{parameter}` was made under another tape, or inside of a checkpoint, and would be taken for a constant; copy it with `copy_init(tape.detached(), ..)` if it is one"
    )]
    ForeignTape {
        /// The codelet.
        codelet: &'static str,
        /// The parameter.
        parameter: &'static str,
    },
    /// D0018: a gradient by an array that the loss does not depend on.
    #[error(
        "gradients: the loss does not depend on {subject} by tasks of this tape through which a gradient flows"
    )]
    NoDependence {
        /// `the array of shape [2, 3]`.
        subject: String,
    },
    /// D0019: a part of an array under a tape.
    #[error(
        "`{parameter}` is a part of another array, which no gradient would reach; take it from the whole by `slice_init`, or copy it with `copy_init(tape.detached(), ..)` if it is a constant"
    )]
    PartOnTape {
        /// The parameter.
        parameter: &'static str,
    },
    /// D0020: the loss was not made under this tape.
    #[error("gradients: the loss was not made under this tape; make it by `.._init` with the tape")]
    NotOnTape,
    /// D0021: the rule of a gradient did something wrong.
    #[error("{codelet}: the gradient by `{input}` {fact}")]
    Rule {
        /// The codelet.
        codelet: &'static str,
        /// The input.
        input: &'static str,
        /// What is wrong, and a remedy.
        fact: &'static str,
    },
    /// D0026: a value is read or written by the host while a program is recorded.
    #[error(
        "{call}: a program is being recorded, and none of its tasks has run, so no array has a value; pass what the program depends on as an argument"
    )]
    WhileRecording {
        /// The call.
        call: &'static str,
    },
    /// D0027: a program cannot be recorded, or not be called with these arguments.
    #[error("{program}: {fact}")]
    Program {
        /// The program.
        program: &'static str,
        /// What is wrong, and a remedy.
        fact: String,
    },
    /// D0029: something that several ranks cannot do, programs of ranks that differ, or a rank that failed.
    #[error("{fact}")]
    Ranks {
        /// What is wrong, and a remedy.
        fact: String,
    },
    /// D0028: an array that a program does not know, while it is recorded.
    #[error(
        "{codelet}: one of its arrays is neither an argument of the program that is recorded nor made under its scope; pass it to the program"
    )]
    NotAnArgument {
        /// The codelet.
        codelet: &'static str,
    },
    /// D0099: an error of a crate built on this one.
    #[error("{0}")]
    Other(Arc<dyn std::error::Error + Send + Sync>),
}

impl ErrorKind {
    /// The code, `D0001` and so on: stable, so that it can be searched for.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Shapes { .. } => "D0001",
            Self::OutputShape { .. } => "D0002",
            Self::Check { .. } => "D0003",
            Self::TwoRuntimes { .. } => "D0004",
            Self::Task(_) => "D0005",
            Self::OutOfMemory(_) => "D0006",
            Self::InsideKernel { .. } => "D0007",
            Self::RuntimeDropped { .. } => "D0008",
            Self::InvalidShape { .. } => "D0009",
            Self::Config { .. } => "D0010",
            Self::Workers(_) => "D0011",
            Self::NoKernel { .. } => "D0012",
            Self::NoWorker { .. } => "D0013",
            Self::Replay { .. } => "D0014",
            Self::Forked { .. } => "D0015",
            Self::Overwritten { .. } => "D0016",
            Self::ChangesTape { .. } => "D0017",
            Self::NoDependence { .. } => "D0018",
            Self::PartOnTape { .. } => "D0019",
            Self::NotOnTape => "D0020",
            Self::ForeignTape { .. } => "D0025",
            Self::InsideTape => "D0024",
            Self::InsideCheckpoint => "D0023",
            Self::WritesTape { .. } => "D0022",
            Self::Rule { .. } => "D0021",
            Self::WhileRecording { .. } => "D0026",
            Self::Program { .. } => "D0027",
            Self::NotAnArgument { .. } => "D0028",
            Self::Ranks { .. } => "D0029",
            Self::Other(_) => "D0099",
        }
    }
}

impl Shortage {
    pub(crate) fn at(self, location: &'static Location<'static>) -> Error {
        Error::at(ErrorKind::OutOfMemory(Box::new(self)), location)
    }
}

impl Error {
    /// An error of this crate, at the caller's line.
    #[track_caller]
    pub(crate) fn new(kind: ErrorKind) -> Self {
        Self::at(kind, Location::caller())
    }

    pub(crate) fn at(kind: ErrorKind, location: &'static Location<'static>) -> Self {
        Self(Box::new(Inner { kind, location: Some(location) }))
    }

    /// An invalid shape for an operation that consists of several tasks: `subject: fact`, with the caller's line.
    #[track_caller]
    pub fn invalid_shape(subject: &'static str, fact: String) -> Self {
        Self::new(ErrorKind::InvalidShape { subject, fact })
    }

    /// Wraps an error of a crate that is built on this one.
    pub fn other(error: impl std::error::Error + Send + Sync + 'static) -> Self {
        Self(Box::new(Inner { kind: ErrorKind::Other(Arc::new(error)), location: None }))
    }

    /// The kind of error.
    pub fn kind(&self) -> &ErrorKind {
        &self.0.kind
    }

    /// [`ErrorKind::code`].
    pub fn code(&self) -> &'static str {
        self.0.kind.code()
    }

    /// The line that made the failing call, if known.
    pub fn location(&self) -> Option<&'static Location<'static>> {
        self.0.location
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0.kind {
            ErrorKind::Other(error) => return write!(f, "{error}"),
            kind => write!(f, "{}: {kind}", kind.code())?,
        }
        match (&self.0.kind, self.0.location) {
            (ErrorKind::Task(_), _) | (_, None) => Ok(()), // a failure names the line that submitted the task
            (_, Some(location)) => write!(f, ", at {location}"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.0.kind {
            ErrorKind::Other(error) => error.source(),
            _ => None,
        }
    }
}
