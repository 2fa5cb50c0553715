//! The tests of programs: one program.

#[path = "../../dahl-core/tests/random_programs/kernels.rs"]
mod kernels;
#[allow(dead_code, reason = "the runtime's tests use more of it")]
#[path = "../../dahl-core/tests/random_programs/machines.rs"]
mod machines;
#[path = "../../dahl-core/tests/random_programs/oracle.rs"]
mod oracle;
#[path = "../../dahl-core/tests/random_programs/program.rs"]
mod program;
#[allow(dead_code, reason = "the runtime's tests use more of it")]
#[path = "../../dahl-core/tests/random_programs/world.rs"]
mod world;

mod flow;
mod host;
mod listing;
mod loops;
mod numbers;
mod plan;
mod random;
mod work;
