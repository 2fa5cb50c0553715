//! Programs: what they record, replay, optimise, plan and refuse.

mod data;
mod descend;
mod extents;
mod flow;
mod fusion;
mod in_place;
mod passes;
mod random;
mod recomputation;
mod recording;
mod reductions;
mod refused;
mod rows;
mod simulated;
mod steps;
mod traces;
mod views;
