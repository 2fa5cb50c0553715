//! [`Graph`]: the dependencies of empty tasks.

use std::fmt;

use clap::ValueEnum;
use dahl::prelude::*;
use serde::Serialize;

/// Arrays that tasks use.
pub(super) const ARRAYS: usize = 64;

pub(super) type Arrays = Vec<Vector<'static, f32>>;

/// Does nothing to three arrays.
#[codelet(R, R, W)]
fn empty(a: &[f32], b: &[f32], out: &mut [f32]) {
    let _ = (a, b, out);
}

/// Does nothing to one array.
#[codelet(RW)]
fn touch(x: &mut [f32]) {
    let _ = x;
}

/// The dependencies of empty tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Graph {
    /// RW on 64 arrays in turn: 64 chains.
    Independent,
    /// RW on one array: each task waits for the one before.
    Chain,
    /// R, R, W on random ones of 64 arrays.
    Random,
}

impl Graph {
    pub(super) const ALL: [Self; 3] = [Self::Random, Self::Independent, Self::Chain];

    /// Submits so many tasks.
    pub(super) fn submit(self, tasks: u32, arrays: &mut Arrays) -> dahl::Result<()> {
        let tasks = tasks as usize;
        match self {
            Self::Independent => (0..tasks).try_for_each(|task| touch(&mut arrays[task % ARRAYS])),
            Self::Chain => (0..tasks).try_for_each(|_| touch(&mut arrays[0])),
            Self::Random => random(tasks, arrays),
        }
    }
}

/// The output is never one of the inputs, which may be the same array.
fn random(tasks: usize, arrays: &mut Arrays) -> dahl::Result<()> {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    for _ in 0..tasks {
        let out = random.below(ARRAYS);
        let mut other = || (out + 1 + random.below(ARRAYS - 1)) % ARRAYS;
        let (a, b) = (other(), other());
        // Swaps the output to the end and back, so that it can be borrowed beside the inputs.
        arrays.swap(out, ARRAYS - 1);
        let place = |array| if array == ARRAYS - 1 { out } else { array };
        let (inputs, output) = arrays.split_at_mut(ARRAYS - 1);
        empty(&inputs[place(a)], &inputs[place(b)], &mut output[0])?;
        arrays.swap(out, ARRAYS - 1);
    }
    Ok(())
}

/// Numbers below a bound, the same in every run (xorshift64).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound as u64) as usize
    }
}

impl fmt::Display for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Independent => "independent (RW)",
            Self::Chain => "chain (RW)",
            Self::Random => "random (R, R, W)",
        })
    }
}
