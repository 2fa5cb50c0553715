//! What a program that trains a network needs: `use dahl_nn::prelude::*`.

pub use crate::dataset::{Dataset, FashionMnist, Synthetic};
pub use crate::layer::Layer;
pub use crate::loss::{CrossEntropy, Loss};
pub use crate::model::{Evaluation, Sequential};
pub use crate::optimizer::{Optimizer, Sgd};
pub use crate::training::{History, Trainer};
