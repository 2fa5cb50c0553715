//! Training: [`Trainer`], the [`History`] that it writes, and the forms in which results are kept and shown: event files
//! for [`TensorBoard`], and [`LearningCurves`] as a plot.

mod history;
mod learning;
mod learning_curves;
mod line_plot;
mod micro_batch;
mod options;
mod order;
mod progress_bar;
mod run;
mod tensorboard;
mod trainer;

pub use history::{Epoch, History};
pub use learning_curves::LearningCurves;
pub use tensorboard::TensorBoard;
pub use trainer::{ByStep, Trainer};
