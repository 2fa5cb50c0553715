//! What fusion brings: three programs of maps and a sum, without passes, with maps fused, and with the sum fused too. In turn,
//! on one worker.
//!
//! `cargo bench -p dahl-benches --bench programs [-- --len 1000000 --rounds 21]`. It prints medians and the planned peaks. With
//! `--passes`, it measures each pass on five other programs, and with `--memory`, what a limit on memory costs a step of a
//! transformer (`docs/measurements/passes.md`); with `--extents`, what a recording for another extent costs.

#[path = "programs/extents.rs"]
mod extents;
#[path = "programs/limits.rs"]
mod limits;
#[path = "programs/passes.rs"]
mod passes;
#[path = "programs/steps.rs"]
mod steps;

use std::time::{Duration, Instant};

use dahl::Result;
use dahl::ops::{abs_init, exp_init, mul_init, relu_init, sub_init, sum_init};
use dahl::prelude::*;
use lexopt::prelude::*;

/// `sum(relu(x - y))`.
#[program]
fn rectified<'s, T: Real>(
    scope: &'s Recording<'_>,
    x: &Vector<'_, T>,
    y: &Vector<'_, T>,
) -> Result<Scalar<'s, T>> {
    sum_init(scope, &relu_init(scope, &sub_init(scope, x, y)?)?)
}

/// `sum((x - y)^2)`.
#[program]
fn squares<'s, T: Real>(
    scope: &'s Recording<'_>,
    x: &Vector<'_, T>,
    y: &Vector<'_, T>,
) -> Result<Scalar<'s, T>> {
    let apart = sub_init(scope, x, y)?;
    sum_init(scope, &mul_init(scope, &apart, &apart)?)
}

/// `sum(exp(x) |x - y|)`.
#[program]
fn weighted<'s, T: Real>(
    scope: &'s Recording<'_>,
    x: &Vector<'_, T>,
    y: &Vector<'_, T>,
) -> Result<Scalar<'s, T>> {
    let apart = abs_init(scope, &sub_init(scope, x, y)?)?;
    sum_init(scope, &mul_init(scope, &exp_init(scope, x)?, &apart)?)
}

fn median(mut times: Vec<Duration>) -> f64 {
    times.sort();
    times[times.len() / 2].as_secs_f64() * 1e3
}

/// Times one program with each choice of passes in turn, and prints a line of a table for each.
macro_rules! measure {
    ($rt:ident, $rounds:ident, $arguments:expr, $($program:ident),*) => {{
        let (x, y) = $arguments;
        $(
            let choices = [
                ("none", Passes::none()),
                ("maps", Passes::all().reductions(false)),
                ("maps and sum", Passes::all()),
            ];
            let mut programs = choices.map(|(_, passes)| $program::new(&$rt).passes(passes));
            let mut times: [Vec<Duration>; 3] = Default::default();
            let mut bits = Vec::new();
            for round in 0..=$rounds {
                for (program, times) in programs.iter_mut().zip(&mut times) {
                    let start = Instant::now();
                    bits.push(program.call(&x, &y)?.to_vec()?[0].to_bits());
                    if round > 0 {
                        times.push(start.elapsed());
                    }
                }
            }
            assert!(bits.iter().all(|&other| other == bits[0]), "passes change no bit");
            for ((program, (passes, _)), times) in programs.iter().zip(choices).zip(times) {
                println!(
                    "| {} | {passes} | {} | {:.3} | {} |",
                    program.graph().name(),
                    program.graph().tasks(),
                    median(times),
                    program.memory_plan().peak_bytes()
                );
            }
        )*
    }};
}

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let (mut len, mut rounds) = (1_000_000, 21);
    let (mut of_passes, mut of_memory, mut of_extents) = (false, false, false);
    let mut arguments = lexopt::Parser::from_env();
    while let Some(argument) = arguments.next()? {
        match argument {
            Long("len") => len = arguments.value()?.parse()?,
            Long("rounds") => rounds = arguments.value()?.parse()?,
            Long("passes") => of_passes = true,
            Long("memory") => of_memory = true,
            Long("extents") => of_extents = true,
            Long("bench") => {}
            other => return Err(other.unexpected().into()),
        }
    }
    let rt = Runtime::builder().cpu_workers(1).build()?;
    if of_passes {
        return Ok(passes::measure(&rt, rounds)?);
    }
    if of_memory {
        return Ok(limits::measure(&rt, rounds)?);
    }
    if of_extents {
        return Ok(extents::measure(&rt)?);
    }
    let array = |seed: usize| {
        rt.from_vec([len], (0..len).map(|i| ((i + seed) * 37 % 101) as f32 / 50.0 - 1.0).collect())
    };
    println!("| program | fused | tasks | ms | peak, bytes |\n|---|---|---|---|---|");
    measure!(rt, rounds, (array(0)?, array(7)?), Rectified, Squares, Weighted);
    Ok(())
}
