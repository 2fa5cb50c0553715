//! What a tape costs: the forward and the reverse pass of a chain of small maps, under a tape and with the same tasks
//! submitted by hand, in turn.
//!
//! `cargo bench -p dahl-benches --bench tape [-- --maps 1000 --len 16 --rounds 51]`. It prints the medians of the rounds, and
//! the median of the rounds' ratios: what else the machine does changes both times of a round alike. `--only tape` and
//! `--only hand` run one of the two, for tools that count instructions.

use std::time::{Duration, Instant};

use dahl::Result;
use dahl::ops::{sigmoid_backward_init, sigmoid_init, sum_backward, sum_init};
use dahl::prelude::*;
use lexopt::prelude::*;

/// How often a round runs each of the two.
const REPEATS: usize = 20;

fn with_tape(tape: &mut Tape<'_>, x: &Vector<'_, f32>, maps: usize) -> Result<()> {
    let mut last = sigmoid_init(tape, x)?;
    for _ in 1..maps {
        last = sigmoid_init(tape, &last)?;
    }
    let loss = sum_init(tape, &last)?;
    let by_x = tape.gradients(&loss, x)?;
    drop(by_x);
    tape.reset();
    Ok(())
}

fn by_hand(arena: &mut Arena, x: &Vector<'_, f32>, maps: usize) -> Result<()> {
    let mut outputs = Vec::with_capacity(maps);
    outputs.push(sigmoid_init(arena, x)?);
    for map in 1..maps {
        outputs.push(sigmoid_init(arena, &outputs[map - 1])?);
    }
    let loss = sum_init(arena, &outputs[maps - 1])?;
    drop(loss);
    let mut gradient = arena.zeros(x.shape())?;
    sum_backward(&arena.filled([], 1.0)?, &mut gradient)?;
    for output in outputs.iter().rev() {
        gradient = sigmoid_backward_init(arena, output, &gradient)?;
    }
    drop((gradient, outputs));
    arena.reset();
    Ok(())
}

fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers[numbers.len() / 2]
}

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let (mut maps, mut len, mut rounds) = (1000, 16, 51);
    let (mut runs_tape, mut runs_hand) = (true, true);
    let mut arguments = lexopt::Parser::from_env();
    while let Some(argument) = arguments.next()? {
        match argument {
            Long("maps") => maps = arguments.value()?.parse()?,
            Long("len") => len = arguments.value()?.parse()?,
            Long("rounds") => rounds = arguments.value()?.parse()?,
            Long("only") => {
                let only = arguments.value()?.string()?;
                (runs_tape, runs_hand) = (only == "tape", only == "hand");
            }
            Long("bench") => {}
            other => return Err(other.unexpected().into()),
        }
    }
    let rt = Runtime::builder().cpu_workers(1).build()?;
    let x = rt.from_vec([len], vec![0.5_f32; len])?;
    let (mut tape, mut arena) = (rt.tape(), rt.arena());
    let (mut tapes, mut hands, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    let per_task = |time: Duration| time.as_nanos() as f64 / (REPEATS * 2 * maps) as f64;
    for round in 0..=rounds {
        let start = Instant::now();
        for _ in (0..REPEATS).filter(|_| runs_tape) {
            with_tape(&mut tape, &x, maps)?;
        }
        rt.wait()?;
        let middle = Instant::now();
        for _ in (0..REPEATS).filter(|_| runs_hand) {
            by_hand(&mut arena, &x, maps)?;
        }
        rt.wait()?;
        if round > 0 {
            let (tape, hand) = (per_task(middle - start), per_task(middle.elapsed()));
            tapes.push(tape);
            hands.push(hand);
            ratios.push(tape / hand);
        }
    }
    let [hand, tape, ratio] = [hands, tapes, ratios].map(median);
    println!("by hand {hand:.0} ns a task, by a tape {tape:.0} ns: ratio {ratio:.3}");
    Ok(())
}
