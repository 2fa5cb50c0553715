//! Training over ranks that are threads of this process.

mod data;
mod failures;
mod in_flight;
mod models;
mod overlap;
mod pipelines;
mod plain;
mod replicas;
mod sharded;
mod tensors;
