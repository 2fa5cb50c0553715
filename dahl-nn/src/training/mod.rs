//! Training: [`Trainer`], which trains any module, and what surrounds it: [`Callback`]s, [`EarlyStop`], [`Checkpoints`] from
//! which a training goes on with the same bits, the [`History`] that it returns, and the forms in which results are kept and
//! shown: event files for [`TensorBoard`], and [`LearningCurves`] as a plot.
//!
//! | file | what |
//! |---|---|
//! | `trainer.rs`, `settings.rs`, `options.rs` | what is set, and by which calls |
//! | `run.rs`, `batch.rs`, `learning.rs`, `micro_batch.rs`, `order.rs` | the loop over epochs, batches and their parts |
//! | `parallel` | a batch over several ranks |
//! | `batch_program.rs` | a step as a program, which is replayed |
//! | `state.rs`, `checkpoints.rs`, `resume.rs` | what a checkpoint holds, and when it is written and read |
//! | `monitor.rs`, `early_stop.rs`, `callback.rs`, `on_plateau.rs` | what happens after an epoch |
//! | `history.rs`, `records.rs`, `tensorboard.rs`, `learning_curves.rs`, `line_plot.rs`, `progress_bar.rs` | results |
//!
//! Not here: what is read, and by which threads (`loader`); models, losses and optimizers.

mod batch;
mod batch_program;
mod callback;
mod checkpoints;
mod early_stop;
mod history;
mod learning;
mod learning_curves;
mod leaves;
mod line_plot;
mod micro_batch;
mod monitor;
mod on_plateau;
mod options;
mod order;
mod parallel;
mod progress_bar;
mod records;
mod resume;
mod run;
mod settings;
mod state;
mod tensorboard;
mod trainer;

pub use callback::{Callback, Progress};
pub use checkpoints::Checkpoints;
pub use early_stop::EarlyStop;
pub use history::{Epoch, History};
pub use learning_curves::LearningCurves;
pub use monitor::Monitor;
pub use parallel::{DataParallel, Parallel, Pipeline};
pub use tensorboard::TensorBoard;
pub use trainer::{ByStep, Trainer};
