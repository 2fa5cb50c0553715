//! Models: [`Sequential`], its evaluation, and files of its parameters.

mod duplicate;
mod evaluation;
mod metric_accumulator;
mod parameters_file;
mod sequential;

pub use evaluation::Evaluation;
pub(crate) use metric_accumulator::{MetricAccumulator, MetricAccumulators, MetricSum};
pub use sequential::{Activations, Sequential};
