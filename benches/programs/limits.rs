//! What a limit on memory costs: the step of a transformer within shares of what a tight plan needs.

use std::time::{Duration, Instant};

use dahl::Result;
use dahl::prelude::*;

use super::median;
use super::steps::{Deep, DeepStep};

const BLOCKS: usize = 6;
const SHAPE: [usize; 3] = [8, 64, 64];

/// Measures all limits in turn, and prints a line of a table for each.
pub(crate) fn measure(rt: &Runtime, rounds: usize) -> Result<()> {
    let arena = rt.arena();
    let array = |seed: usize| {
        let value = |i: usize| ((i + seed) * 7919 % 4001) as f32 / 2000.3 - 1.0;
        rt.from_vec(SHAPE, (0..SHAPE.iter().product()).map(value).collect())
    };
    let (x, y) = (array(0)?, array(5)?);
    let mut tight = DeepStep::new(rt).tight();
    let mut model = Deep::<f32>::new(&arena, BLOCKS, SHAPE[2])?;
    let loss = tight.call(&x, &y, &mut model)?.to_vec()?;
    let most = tight.memory_plan().all_bytes();
    let mut candidates = vec![("any order".to_owned(), DeepStep::new(rt)), ("tight".to_owned(), tight)];
    for percent in [90, 80, 70, 60, 50, 40, 30, 20] {
        let mut program = DeepStep::new(rt).within(most * percent / 100);
        let start = Instant::now();
        match program.call(&x, &y, &mut model) {
            Ok(_) => candidates.push((format!("{percent} % (recorded in {:.1?})", start.elapsed()), program)),
            Err(error) => println!("{percent} %: {error}"),
        }
    }
    let mut times: Vec<Vec<Duration>> = vec![Vec::new(); candidates.len()];
    for round in 0..=rounds {
        for ((name, program), times) in candidates.iter_mut().zip(&mut times) {
            let start = Instant::now();
            assert_eq!(
                program.call(&x, &y, &mut model)?.to_vec()?,
                loss,
                "{name}: recomputation changes no bit"
            );
            if round > 0 {
                times.push(start.elapsed());
            }
        }
    }
    let tight = times[1].clone();
    println!("| limit | tasks | ms | by the tight one | peak, KiB |\n|---|---|---|---|---|");
    for ((name, program), times) in candidates.iter().zip(times) {
        let ratios = times.iter().zip(&tight).map(|(time, tight)| time.as_secs_f64() / tight.as_secs_f64());
        let mut ratios: Vec<f64> = ratios.collect();
        ratios.sort_by(f64::total_cmp);
        println!(
            "| {name} | {} | {:.2} | {:.2} | {:.0} |",
            program.graph().tasks(),
            median(times),
            ratios[ratios.len() / 2],
            program.memory_plan().all_bytes() as f64 / 1024.0
        );
    }
    Ok(())
}
