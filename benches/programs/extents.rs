//! What a dimension costs that varies: the step of a transformer on sequences of other lengths, each recorded once.

use std::time::Instant;

use dahl::Result;
use dahl::prelude::*;

use super::steps::{Deep, DeepStep};

const BLOCKS: usize = 6;
const BATCH: usize = 8;
const WIDTH: usize = 64;

/// The resident bytes of the process.
fn resident_bytes() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    Some(1024 * line.trim().strip_suffix(" kB")?.parse::<u64>().ok()?)
}

/// Calls the program with each length, the longest first, and then again, and prints a line of a table for each choice of
/// passes and plans.
pub(crate) fn measure(rt: &Runtime) -> Result<()> {
    let arena = rt.arena();
    let mut model = Deep::<f32>::new(&arena, BLOCKS, WIDTH)?;
    let lengths = || (1..=32).rev().map(|length| 2 * length);
    println!(
        "| passes | tasks | a replay, us | more for a recording, us | us a task | more memory of 31 recordings, KiB: blocks | all |\n\
         |---|---|---|---|---|---|---|"
    );
    // The first calls with a shape also make the entries of performance models, which stay.
    let mut first = DeepStep::new(rt).passes(Passes::none()).keeps(1);
    let choices = [
        ("none", DeepStep::new(rt).passes(Passes::none())),
        ("all", DeepStep::new(rt)),
        ("all, tight", DeepStep::new(rt).tight()),
    ];
    let mut microseconds = |program: &mut DeepStep, length: usize| -> Result<f64> {
        let shape = [BATCH, length, WIDTH];
        let count = shape.iter().product();
        let array = |seed: usize| {
            let value = |i: usize| ((i + seed) * 7919 % 4001) as f32 / 2000.3 - 1.0;
            rt.from_vec(shape, (0..count).map(value).collect())
        };
        let (x, y) = (array(0)?, array(5)?);
        let start = Instant::now();
        drop(program.call(&x, &y, &mut model)?.to_vec()?);
        Ok(start.elapsed().as_secs_f64() * 1e6)
    };
    for length in lengths() {
        microseconds(&mut first, length)?;
    }
    for (name, program) in choices {
        let mut program = program.keeps(64);
        let mut call = |length: usize| microseconds(&mut program, length);
        let longest = lengths().next().expect("there are some");
        call(longest)?;
        let before = (rt.memory()[0].current_bytes, resident_bytes());
        let first = lengths().map(&mut call).collect::<Result<Vec<_>>>()?;
        let after = (rt.memory()[0].current_bytes, resident_bytes());
        let again = lengths().map(&mut call).collect::<Result<Vec<_>>>()?;
        // The longest was recorded before.
        let mut more: Vec<f64> =
            first.iter().zip(&again).skip(1).map(|(first, again)| first - again).collect();
        more.sort_by(f64::total_cmp);
        let (tasks, more) = (program.graph().tasks(), more[more.len() / 2]);
        let kib = |bytes: u64| format!("{:.0}", bytes as f64 / 1024.0);
        let resident = before.1.zip(after.1).map(|(before, after)| kib(after.saturating_sub(before)));
        println!(
            "| {name} | {tasks} | {:.0} | {more:.0} | {:.1} | {} | {} |",
            again.iter().sum::<f64>() / again.len() as f64,
            more / tasks as f64,
            kib(after.0.saturating_sub(before.0) as u64),
            resident.unwrap_or_else(|| "not known".to_owned())
        );
    }
    Ok(())
}
