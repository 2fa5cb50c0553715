//! Tests of the runtime as its users see it, in one program: linking each by itself takes longer than they run.

mod approximate;
mod autotune;
mod by_hand;
mod check;
mod coherence;
mod cuda_launches;
mod division;
mod in_any_order;
mod memory;
mod misuse;
mod misuse_simulated;
mod parallel;
mod perf;
mod print;
mod random_programs;
mod schedulers;
mod settings;
mod simulation;
mod stall;
mod statistics;
mod threads_and_processes;
mod trace;
