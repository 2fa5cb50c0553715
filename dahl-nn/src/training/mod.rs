//! Training: [`Trainer`], the [`History`] that it writes, and the forms in which results are kept and shown: event files
//! for [`TensorBoard`], and [`LearningCurves`] as a plot.

mod history;
mod learning_curves;
mod line_plot;
mod tensorboard;
mod trainer;

pub use history::{Epoch, History};
pub use learning_curves::LearningCurves;
pub use tensorboard::TensorBoard;
pub use trainer::Trainer;
