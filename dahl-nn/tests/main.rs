//! Tests of networks, in one program, so that shared code is compiled once.

mod dataset;
mod metrics;
mod names;
mod records;
