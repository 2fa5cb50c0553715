//! Tests of static memory allocation.

mod brute_force;
mod checker;
mod instances;
mod large;
mod minimalloc;
mod optimum;
mod refused;
