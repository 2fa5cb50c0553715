//! Models: [`Sequential`], how it is evaluated, and how its parameters are kept in files.

mod evaluation;
mod parameters_file;
mod sequential;

pub use evaluation::Evaluation;
pub use sequential::{Sequential, Trace};
