//! Models: [`Sequential`], how it is evaluated, and how its parameters are kept in files.

mod evaluation;
mod metric_accumulator;
mod parameters_file;
mod sequential;

pub use evaluation::Evaluation;
pub(crate) use metric_accumulator::{MetricAccumulator, MetricAccumulators, MetricSum};
pub use sequential::{Sequential, Trace};
