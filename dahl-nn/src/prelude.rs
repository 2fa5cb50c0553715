//! What a program that trains a network needs: `use dahl_nn::prelude::*`.

pub use crate::dataset::{ArrayDataset, Cifar10, Dataset, FashionMnist, Mnist, Synthetic, TokenWindows};
pub use crate::layer::Layer;
pub use crate::loader::DataLoader;
pub use crate::loss::{CrossEntropy, Loss};
pub use crate::model::{Evaluation, Sequential};
pub use crate::optimizer::{Optimizer, Sgd};
pub use crate::tokenizer::CharacterTokenizer;
pub use crate::training::{History, Trainer};
