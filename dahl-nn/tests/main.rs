//! Tests of networks, in one program, so that shared code is compiled once.

mod any_module;
mod attention;
mod averages;
mod checkpoints;
mod clipping;
mod dataset;
mod determinism;
mod flow;
mod gradients;
mod layers;
mod loss_scaler;
mod losses;
mod metrics;
mod names;
mod networks;
mod optimizers;
pub mod placement;
mod programs;
mod records;
mod replayed_training;
mod schedules;
mod settings;
mod stopping;
mod tokenizer;
mod training;
mod trajectories;
mod user_traits;
