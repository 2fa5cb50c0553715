//! Training: [`Trainer`] and the [`History`] that it writes.

mod history;
mod trainer;

pub use history::{Epoch, History};
pub use trainer::Trainer;
