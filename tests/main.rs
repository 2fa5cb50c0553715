//! Tests of the library as its users see it, without operations (`ops`), in one program.

mod binding;
mod check;
pub mod devices;
pub mod examples;
mod faults;
mod mutants;
mod options;
mod parallel;
mod partition;
#[path = "programs/main.rs"]
mod programs;
mod reductions;
mod runtime;
#[path = "tape/main.rs"]
mod tape;
