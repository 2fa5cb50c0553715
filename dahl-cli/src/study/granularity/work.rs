//! The work of a task: multiplications and additions in registers, so that memory does not matter.

use std::hint::black_box;

use dahl::simd::{Vectorised, dispatch};

/// Numbers that each task works on: a register's worth.
pub(super) const NUMBERS: usize = 8;

/// `v = 0.5 v + 1`, `times` times for each number.
#[inline(always)]
pub(super) fn multiply_and_add(values: &mut [f32], times: u64) {
    let mut numbers = [0.0; NUMBERS];
    numbers.copy_from_slice(values);
    for _ in 0..times {
        for number in &mut numbers {
            *number = 0.5 * *number + 1.0;
        }
    }
    values.copy_from_slice(&numbers);
}

/// The mean of the results of other tasks.
#[inline(always)]
pub(super) fn mean<const N: usize>(inputs: [&[f32]; N], out: &mut [f32]) {
    for (i, out) in out.iter_mut().enumerate() {
        *out = inputs.iter().map(|input| input[i]).sum::<f32>() / N as f32;
    }
}

/// [`multiply_and_add`], compiled for the same instructions as codelets.
struct Bare<'v>(&'v mut [f32], u64);

impl Vectorised for Bare<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        multiply_and_add(self.0, self.1);
    }
}

/// The work of a codelet, with the same instructions, without a task of dahl.
pub(super) fn bare(values: &mut [f32], times: u64) {
    dispatch(Bare(values, times));
}

/// The work of all tasks in one loop.
pub(super) fn plain_loop(times: u64) {
    let mut values = [1.0; NUMBERS];
    bare(black_box(&mut values), times);
    black_box(values);
}
