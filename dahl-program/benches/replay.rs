//! What a task costs, submitted each time and replayed: empty tasks on a few arrays.
//!
//! `cargo bench -p dahl-program --bench replay [-- --workers 2 --rounds 15]`. Both in turn, in one run; each figure is the
//! median of the rounds, and the ratio the median of the ratios of each round. `--replayed` measures replays alone, for a
//! profiler.

use std::time::Instant;

use dahl_core::__private::{Kernel, Parameter, Views};
use dahl_core::{AccessMode, Codelet, ElementType, Result, Runtime, Task, Vector};
use dahl_program::{Body, Program};
use lexopt::prelude::*;

const ARRAYS: usize = 64;
const TASKS: usize = 2_000;
const CALLS: usize = 50;

static TOUCH: Codelet = Codelet::new("touch", module_path!(), 1)
    .parameters(&[Parameter::new("x", AccessMode::RW, ElementType::of::<f32>())])
    .kernels(&[Some(Kernel::new("rust", |views: &mut Views<'_>| {
        let _ = views.slice_mut::<f32>();
    }))]);

static BODY: Body =
    Body { codelet: Codelet::new("touches", module_path!(), 1), parameters: &["arrays"], draws: false };

/// Which array task `index` touches.
type Graph = fn(usize) -> usize;

const GRAPHS: [(&str, Graph); 3] = [
    ("independent", |index| index % ARRAYS),
    ("chain", |_| 0),
    ("random", |index| (index.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20) % ARRAYS),
];

fn submit(graph: Graph, arrays: &mut [Vector<'_, f32>]) -> Result<()> {
    (0..TASKS).try_for_each(|index| {
        let mut task = Task::new(&TOUCH);
        task.write(&mut arrays[graph(index)]);
        task.submit()
    })
}

fn replay(program: &mut Program, graph: Graph, arrays: &mut [Vector<'static, f32>]) -> Result<()> {
    program.call::<_, ()>(&mut (arrays,), std::panic::Location::caller(), |(arrays,), _, _| {
        submit(graph, arrays)
    })
}

/// Nanoseconds of a task: calls, until all have ended.
fn measure(rt: &Runtime, mut call: impl FnMut() -> Result<()>) -> Result<f64> {
    let begin = Instant::now();
    (0..CALLS).try_for_each(|_| call())?;
    rt.wait()?;
    Ok(begin.elapsed().as_nanos() as f64 / (CALLS * TASKS) as f64)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let (mut workers, mut rounds, mut submits) = (1, 15, true);
    let mut parser = lexopt::Parser::from_env();
    while let Some(argument) = parser.next()? {
        match argument {
            Long("workers") => workers = parser.value()?.parse()?,
            Long("rounds") => rounds = parser.value()?.parse()?,
            Long("replayed") => submits = false,
            Long("bench") => {}
            other => return Err(other.unexpected().into()),
        }
    }
    println!("{workers} workers, ns a task: submitted, replayed, ratio");
    for (name, graph) in GRAPHS {
        let rt = Runtime::builder().cpu_workers(workers).cuda_devices(0).build()?;
        let mut arrays = (0..ARRAYS).map(|_| rt.zeros([1])).collect::<Result<Vec<_>>>()?;
        let mut program = Program::new(&rt, &BODY);
        replay(&mut program, graph, &mut arrays)?;
        let (mut eager, mut replayed) = (Vec::new(), Vec::new());
        for _ in 0..rounds {
            eager.push(if submits { measure(&rt, || submit(graph, &mut arrays))? } else { f64::NAN });
            replayed.push(measure(&rt, || replay(&mut program, graph, &mut arrays))?);
        }
        let ratios = eager.iter().zip(&replayed).map(|(eager, replayed)| eager / replayed).collect();
        let (eager, replayed, ratio) = (median(eager), median(replayed), median(ratios));
        println!("{name:<12} {eager:>8.1} {replayed:>8.1} {ratio:>6.2}");
    }
    Ok(())
}
