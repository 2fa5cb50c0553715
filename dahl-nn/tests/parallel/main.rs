//! Training over ranks that are threads of this process.

mod data;
mod failures;
mod models;
mod pipelines;
mod tensors;
