//! What the abstractions cost: a generic codelet's kernel against the same loop written by hand for one type, and a
//! loop over a guard against the same loop over an ndarray array. Ratios; 1.00 is the aim.
//!
//! `cargo bench -p dahl-benches --bench abstraction_cost`. The two sides run in turn; each ratio is the median of the rounds'.

use std::hint::black_box;
use std::time::Instant;

use dahl::ndarray::{Array1, Array2, ArrayRef2};
use dahl::prelude::*;
use dahl::simd::{Vectorised, dispatch};

const ROUNDS: usize = 21;

/// `out = alpha * x + y`.
#[codelet(R, R, W)]
fn axpy<T: Real>(x: T, y: T, alpha: T) -> T {
    alpha * x + y
}

/// The sum of squares of each row.
#[codelet(R, W, shape(out = [input.nrows()]))]
fn row_norms<T: Real>(input: dahl::ndarray::ArrayView2<T>, mut out: dahl::ndarray::ArrayViewMut1<T>) {
    for (row, out) in input.rows().into_iter().zip(out.iter_mut()) {
        let mut sum = T::ZERO;
        for &x in row {
            sum += x * x;
        }
        *out = sum;
    }
}

macro_rules! axpy_by_hand {
    ($name:ident, $type:ty) => {
        struct $name<'a>(&'a [$type], &'a [$type], &'a mut [$type], $type);

        impl Vectorised for $name<'_> {
            type Output = ();

            #[inline(always)]
            fn run(self) {
                let Self(x, y, out, alpha) = self;
                for ((out, x), y) in out.iter_mut().zip(x).zip(y) {
                    *out = alpha * x + y;
                }
            }
        }
    };
}

axpy_by_hand!(AxpyF32, f32);
axpy_by_hand!(AxpyF64, f64);

fn row_norms_by_hand(input: &Array2<f64>, out: &mut Array1<f64>) {
    for (row, out) in input.rows().into_iter().zip(out.iter_mut()) {
        let mut sum = 0.0;
        for &x in row {
            sum += x * x;
        }
        *out = sum;
    }
}

/// Prints the median ratio of `ours` to `theirs`, each called `calls` times a round.
fn compare(name: &str, calls: usize, mut ours: impl FnMut(), mut theirs: impl FnMut()) {
    let time = |f: &mut dyn FnMut()| {
        let start = Instant::now();
        (0..calls).for_each(|_| f());
        start.elapsed().as_secs_f64() / calls as f64
    };
    let mut rounds: Vec<(f64, f64)> = (0..ROUNDS).map(|_| (time(&mut ours), time(&mut theirs))).collect();
    rounds.sort_by(|a, b| (a.0 / a.1).total_cmp(&(b.0 / b.1)));
    let (ours, theirs) = rounds[ROUNDS / 2];
    println!("{name:<44} {:>10.1} ns {:>10.1} ns   ratio {:.2}", ours * 1e9, theirs * 1e9, ours / theirs);
}

fn sum_of(array: &ArrayRef2<f64>) -> f64 {
    let mut sum = 0.0;
    for row in array.rows() {
        for &x in row {
            sum += x;
        }
    }
    sum
}

fn main() -> dahl::Result<()> {
    println!("{:<44} {:>13} {:>13}", "", "ours", "by hand");
    for len in [1_000, 1_000_000] {
        let calls = 20_000_000 / (len + 1_000);
        let (x, y) = (vec![1.5_f32; len], vec![0.5_f32; len]);
        let (mut ours, mut theirs) = (vec![0.0_f32; len], vec![0.0_f32; len]);
        compare(
            &format!("axpy f32, {len} elements, codelet : loop"),
            calls,
            || Axpy::cpu(black_box(&x), &y, &mut ours, black_box(2.0)),
            || dispatch(AxpyF32(black_box(&x), &y, &mut theirs, black_box(2.0))),
        );
        let (x, y) = (vec![1.5_f64; len], vec![0.5_f64; len]);
        let (mut ours, mut theirs) = (vec![0.0_f64; len], vec![0.0_f64; len]);
        compare(
            &format!("axpy f64, {len} elements, codelet : loop"),
            calls,
            || Axpy::cpu(black_box(&x), &y, &mut ours, black_box(2.0)),
            || dispatch(AxpyF64(black_box(&x), &y, &mut theirs, black_box(2.0))),
        );
    }
    let input = Array2::from_shape_fn((500, 300), |(i, j)| (i * j) as f64);
    let (mut ours, mut theirs) = (Array1::zeros(500), Array1::zeros(500));
    compare(
        "row norms f64, views, codelet : ndarray loop",
        100,
        || RowNorms::cpu(black_box(input.view()), ours.view_mut()),
        || row_norms_by_hand(black_box(&input), &mut theirs),
    );
    let rt = Runtime::builder().cpu_workers(1).build()?;
    let array = rt.from_vec([500, 300], input.iter().copied().collect())?;
    let guard = array.read()?;
    compare(
        "sum over a guard : over the same ndarray",
        100,
        || {
            black_box(sum_of(black_box(&guard)));
        },
        || {
            black_box(sum_of(black_box(&input)));
        },
    );
    Ok(())
}
