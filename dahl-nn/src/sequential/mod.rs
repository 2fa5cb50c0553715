//! [`Sequential`]: a sequence of layers for samples of one shape, and its evaluation.

mod evaluation;
mod features;
mod images;
mod layer;
#[allow(clippy::module_inception, reason = "the room's main noun")]
mod sequential;

pub use evaluation::Evaluation;
pub use layer::{Epilogue, Layer};
pub use sequential::Sequential;
