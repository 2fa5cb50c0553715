//! Neural networks on dahl: layers, losses, optimizers, a trainer and data sets.
//!
//! A [`Sequential`] is a sequence of [`layer`]s. A [`Trainer`] trains it on a [`Dataset`], batch by batch: it runs the
//! layers forward, the [`loss`], the layers backward and the [`optimizer`], all as tasks of dahl's operations. Nothing
//! waits before the end of an epoch. A user's crate can implement each of the traits [`Layer`], [`Loss`], [`Optimizer`]
//! and [`Dataset`].
//!
//! A program with a loop of its own reads batches by a [`DataLoader`], texts by a [`tokenizer`], and judges predictions by
//! a [`metric`].
//!
//! Not here: the operations (`dahl::ops`) and the runtime (`dahl_core`).

#![forbid(unsafe_code)]

pub mod dataset;
pub mod error;
pub mod layer;
pub mod loader;
pub mod loss;
pub mod metric;
pub mod model;
pub mod optimizer;
pub mod prelude;
mod setting;
pub mod tokenizer;
pub mod training;

pub use dataset::Dataset;
pub use error::Error;
pub use layer::Layer;
pub use loader::DataLoader;
pub use loss::{CrossEntropy, Loss};
pub use model::Sequential;
pub use optimizer::{Optimizer, Sgd};
pub use training::Trainer;

dahl::include_kernels!();
