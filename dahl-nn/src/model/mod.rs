//! Models: [`Sequential`], how it is evaluated, and how its parameters are kept in files.

mod evaluation;
mod parameters_file;
mod sequential;
mod tally;

pub use evaluation::Evaluation;
pub use sequential::{Sequential, Trace};
pub(crate) use tally::{Tallies, Tally, TallySum};
