//! What each pass brings on five programs: tasks, time and planned peak, of no pass, of each alone, and of all.

use std::time::{Duration, Instant};

use dahl::Result;
use dahl::prelude::*;

use super::median;
use super::steps::{Block, BlockStep, CrossEntropy, Mlp, MlpStep, adam, sgd};

/// The choices of passes, each with its name.
fn choices() -> Vec<(&'static str, Passes)> {
    let none = Passes::none();
    vec![
        ("none", none),
        ("constants", none.constants(true)),
        ("views", none.views(true).dead_tasks(true)),
        ("common subexpressions", none.common_subexpressions(true)),
        ("dead tasks", none.dead_tasks(true)),
        ("in place", none.in_place(true)),
        ("fusion of maps", none.fusion(true)),
        ("fusion by rows", none.fusion(true).reductions(true)),
        ("epilogues", none.epilogues(true)),
        ("all", Passes::all()),
    ]
}

/// A program with some passes.
struct Candidate<'c> {
    /// Runs it once; its loss.
    call: Box<dyn FnMut() -> Result<f32> + 'c>,
    /// Its tasks, and its planned peak in bytes.
    size: Box<dyn Fn() -> (usize, usize) + 'c>,
}

/// Measures the candidates in turn, and prints a line of a table for each.
fn compare(name: &str, rounds: usize, mut candidates: Vec<(&'static str, Candidate<'_>)>) -> Result<()> {
    let mut times: Vec<Vec<Duration>> = vec![Vec::new(); candidates.len()];
    for round in 0..=rounds {
        let mut losses = Vec::new();
        for ((_, candidate), times) in candidates.iter_mut().zip(&mut times) {
            let start = Instant::now();
            losses.push((candidate.call)()?.to_bits());
            if round > 0 {
                times.push(start.elapsed());
            }
        }
        assert!(losses.iter().all(|&loss| loss == losses[0]), "{name}: passes change no bit");
    }
    let plain = times[0].clone();
    for ((passes, candidate), times) in candidates.iter().zip(times) {
        let (tasks, peak) = (candidate.size)();
        let ratios = times.iter().zip(&plain).map(|(time, plain)| time.as_secs_f64() / plain.as_secs_f64());
        let mut ratios: Vec<f64> = ratios.collect();
        ratios.sort_by(f64::total_cmp);
        println!(
            "| {name} | {passes} | {tasks} | {:.1} | {:.2} | {:.1} |",
            median(times) * 1e3,
            ratios[ratios.len() / 2],
            peak as f64 / 1024.0
        );
    }
    Ok(())
}

/// The candidates of one program: `$make` makes, for the passes, what it is called with.
macro_rules! candidates {
    ($rt:ident, $program:ident, |$own:ident| $make:block, |$call:ident| $run:expr) => {{
        let mut candidates = Vec::new();
        for (name, passes) in choices() {
            let program = std::rc::Rc::new(std::cell::RefCell::new($program::new($rt).passes(passes)));
            let mut $own = $make;
            let other = std::rc::Rc::clone(&program);
            candidates.push((
                name,
                Candidate {
                    call: Box::new(move || {
                        let mut $call = program.borrow_mut();
                        Ok($run)
                    }),
                    size: Box::new(move || {
                        let program = other.borrow();
                        (program.graph().tasks(), program.memory_plan().peak_bytes())
                    }),
                },
            ));
        }
        candidates
    }};
}

/// Measures all programs.
pub(crate) fn measure(rt: &Runtime, rounds: usize) -> Result<()> {
    println!("| program | passes | tasks | us | of none | peak, KiB |\n|---|---|---|---|---|---|");
    let arena = rt.arena();
    let value = |i: usize| (i * 7919 % 4001) as f32 / 2000.3 - 1.0;
    let matrix = |shape: [usize; 2], seed: usize| {
        rt.from_vec(shape, (0..shape[0] * shape[1]).map(|i| value(i + seed)).collect())
    };
    let (x, y) = (&matrix([10, 784], 0)?, &matrix([10, 10], 5)?);
    let small = candidates!(
        rt,
        MlpStep,
        |own| {
            let mut model = Mlp::<f32>::new(&arena, [784, 30, 10], false)?;
            let optimizer = sgd(&mut model)?;
            (model, optimizer)
        },
        |program| program.call(x, y, &mut own.0, &mut own.1)?.to_vec()?[0]
    );
    compare("small network, SGD", rounds, small)?;
    let (x, y) = (&matrix([64, 64], 0)?, &matrix([64, 10], 5)?);
    let norm = candidates!(
        rt,
        MlpStep,
        |own| {
            let mut model = Mlp::<f32>::new(&arena, [64, 128, 10], true)?;
            let optimizer = adam(&mut model)?;
            (model, optimizer)
        },
        |program| program.call(x, y, &mut own.0, &mut own.1)?.to_vec()?[0]
    );
    compare("MLP with batch norm, Adam", rounds, norm)?;
    let (x, y) = (&matrix([2000, 100], 0)?, &matrix([2000, 100], 5)?);
    let entropy = candidates!(rt, CrossEntropy, |own| {}, |program| {
        let _ = &mut own;
        program.call(x, y)?.0.to_vec()?[0]
    });
    compare("softmax and cross entropy", rounds, entropy)?;
    let sequence =
        |seed: usize| rt.from_vec([4, 32, 64], (0..4 * 32 * 64).map(|i| value(i + seed)).collect());
    let (x, y) = (&sequence(0)?, &sequence(5)?);
    let block = candidates!(rt, BlockStep, |own| { Block::<f32>::new(&arena, 64, None)? }, |program| program
        .call(x, y, &mut own)?
        .to_vec()?[0]);
    compare("block with layer norm", rounds, block)?;
    let layer =
        candidates!(rt, BlockStep, |own| { Block::<f32>::new(&arena, 64, Some(4))? }, |program| program
            .call(x, y, &mut own)?
            .to_vec()?[0]);
    compare("layer of a char-GPT", rounds, layer)
}
