//! Traces to read: a tiled Cholesky factorisation as a machine with a device would run it, and small traces, written by
//! hand.

#![allow(dead_code, reason = "each test program uses some of them")]

pub(crate) mod by_hand;
mod machine;

use dahl_trace::format::{About, End, Fact, Line, Metadata, Named, Slice, What};
use machine::{Machine, Work};

/// The lines of a file.
pub(crate) fn text(lines: &[Line]) -> String {
    let lines: Vec<String> = lines.iter().map(|line| serde_json::to_string(line).unwrap()).collect();
    format!("[\n{}\n]\n", lines.join(",\n"))
}

pub(crate) fn metadata(pid: u32, tid: u32, fact: Fact) -> Line {
    Line::Metadata(Metadata { pid, tid, fact })
}

pub(crate) fn named(name: &str) -> Named {
    Named { name: name.to_owned() }
}

pub(crate) fn about(program: &str, is_virtual: bool) -> Line {
    let (program, host, scheduler) = (program.to_owned(), "node7".to_owned(), "dmda".to_owned());
    let (started, rank, ranks) = (1_795_280_400, None, None);
    let about = About { version: 1, program, host, started, is_virtual, scheduler, rank, ranks };
    metadata(1, 0, Fact::Dahl(about))
}

pub(crate) fn end(end_us: f64, tasks: u64) -> Line {
    metadata(1, 0, Fact::End(End { end_us, tasks }))
}

/// A Cholesky factorisation of `tiles * tiles` tiles of 512 x 512, on `cpus` processors and one device.
pub(crate) fn cholesky(tiles: usize, cpus: u32) -> String {
    let mut machine = Machine::new(cpus, true);
    let tile = |row: usize, column: usize| (row * tiles + column) as u64;
    for step in 0..tiles {
        let urgent = (tiles - step) as i32;
        let diagonal = tile(step, step);
        machine.submit(Work {
            codelet: "potrf",
            us: 900.0,
            speedup: 0.8,
            arrays: vec![(diagonal, "RW")],
            priority: urgent,
        });
        for row in step + 1..tiles {
            let arrays = vec![(diagonal, "R"), (tile(row, step), "RW")];
            machine.submit(Work { codelet: "trsm", us: 1400.0, speedup: 3.0, arrays, priority: 0 });
        }
        for row in step + 1..tiles {
            for column in step + 1..row {
                let arrays =
                    vec![(tile(row, step), "R"), (tile(column, step), "R"), (tile(row, column), "RW")];
                machine.submit(Work { codelet: "gemm", us: 2600.0, speedup: 8.0, arrays, priority: 0 });
            }
            let arrays = vec![(tile(row, step), "R"), (tile(row, row), "RW")];
            machine.submit(Work { codelet: "syrk", us: 1500.0, speedup: 6.0, arrays, priority: 0 });
        }
    }
    text(&machine.lines())
}

/// `count` short tasks of a dozen codelets on `cpus` processors: chains of random length.
pub(crate) fn chains(count: usize, cpus: u32) -> String {
    let names = [
        "matmul",
        "add",
        "relu",
        "softmax",
        "layer_norm",
        "cross_entropy",
        "conv2d",
        "pool2d",
        "adam_step",
        "fill",
        "transpose",
        "copy",
    ];
    let mut machine = Machine::new(cpus, false);
    let mut random = fastrand::Rng::with_seed(7);
    for _ in 0..count {
        let which = random.usize(..names.len() * 2).min(names.len() - 1) % names.len();
        let arrays = vec![(random.u64(..64), "R"), (random.u64(..64), "RW")];
        let us = 20.0 / (which + 1) as f64 + 2.0;
        machine.submit(Work { codelet: names[which], us, speedup: 1.0, arrays, priority: 0 });
    }
    text(&machine.lines())
}

/// Gives every codelet and task the name.
pub(crate) fn rename(lines: &mut [Line], name: &str) {
    for line in lines {
        if let Line::Slice(Slice { name: shown, what: What::Task(task), .. }) = line {
            *shown = name.to_owned();
            task.name = Some(name.to_owned());
            task.codelet = format!("{name}::{name}");
        }
    }
}

/// Lets the task of this number fail.
pub(crate) fn fail(lines: &mut [Line], number: u64, why: &str) {
    for line in lines {
        if let Line::Slice(Slice { what: What::Task(task), .. }) = line
            && task.task == number
        {
            (task.kernel, task.failure) = (None, Some(why.to_owned()));
        }
    }
}
