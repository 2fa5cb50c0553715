//! Tests of schedules.

mod brute_force;
mod front;
mod graphs;
mod known;
mod large;
mod refused;
mod starts;
