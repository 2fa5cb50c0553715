//! A dimension that varies: each extent has a recording, and all of them one block of memory.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use dahl::ops::{
    add_init, add_self, concat_init, exp_init, greater_init, matmul_init, mul_init, scale_self, sub_self,
    sum_init,
};
use dahl::prelude::*;

/// `sum(exp(x w) offsets) + 6 sum(x) + 2 size`, where `offsets` are constants, and subtracts `x` from `rest` until its sum is at
/// most 0. The other terms come from arrays that begin each replay with a value: zeros and ones that are changed in place.
#[program]
fn score<'s>(
    scope: &'s Recording<'_>,
    x: &Matrix<'_, f64>,
    w: &Matrix<'_, f64>,
    rest: &mut Matrix<'_, f64>,
) -> dahl::Result<Scalar<'s, f64>> {
    let arena = scope.arena();
    let offsets: Vec<f64> = (0..x.len()).map(|index| index as f64).collect();
    let (offsets, nothing) = (arena.from_slice(x.shape(), &offsets)?, arena.zeros([])?);
    let mut goes_on = greater_init(scope, &sum_init(scope, &*rest)?, &nothing)?;
    scope.repeat_while(&mut goes_on, |scope, goes_on| {
        // A temporary of the body.
        let twice = add_init(scope, x, x)?;
        sub_self(rest, &twice)?;
        dahl::ops::greater(&sum_init(scope, &*rest)?, &arena.zeros([])?, goes_on)
    })?;
    let grown = exp_init(scope, &matmul_init(scope, x, w)?)?;
    let mut total = arena.zeros(x.shape())?;
    add_self(&mut total, x)?;
    add_self(&mut total, x)?;
    let mut ones = arena.from_slice(x.shape(), &vec![1.0; x.len()])?;
    add_self(&mut ones, &total)?;
    let both = concat_init(scope, &[&total, &ones], 0)?;
    let terms = add_init(scope, &sum_init(scope, &both)?, &sum_init(scope, &ones)?)?;
    add_init(scope, &sum_init(scope, &mul_init(scope, &grown, &offsets)?)?, &terms)
}

const WIDTH: usize = 16;

fn filled(rt: &Runtime, rows: usize, seed: usize) -> dahl::Result<Matrix<'static, f64>> {
    let value = |index: usize| ((index * 37 + seed * 11) % 19) as f64 / 100.0 + 0.01;
    rt.from_vec([rows, WIDTH], (0..rows * WIDTH).map(value).collect())
}

/// The same, by hand: the result, and what is left of `rest`.
fn by_hand(x: &[f64], w: &[f64], mut rest: Vec<f64>) -> (f64, Vec<f64>) {
    while rest.iter().sum::<f64>() > 0.0 {
        rest.iter_mut().zip(x).for_each(|(rest, x)| *rest -= x + x);
    }
    let mut sum = 6.0 * x.iter().sum::<f64>() + 2.0 * x.len() as f64;
    for (row, x) in x.chunks(WIDTH).enumerate() {
        for col in 0..WIDTH {
            let product: f64 = x.iter().enumerate().map(|(inner, x)| x * w[inner * WIDTH + col]).sum();
            sum += product.exp() * (row * WIDTH + col) as f64;
        }
    }
    (sum, rest)
}

#[test]
fn recordings_of_other_extents_share_memory_and_have_their_own_values() -> dahl::Result<()> {
    let rt = Runtime::builder().cpu_workers(2).cuda_devices(0).build()?;
    for passes in [Passes::none(), Passes::all()] {
        let mut program = Score::new(&rt).passes(passes);
        let w = filled(&rt, WIDTH, 5)?;
        // Growing extents move the memory, and a smaller one finds the values of a larger one there.
        let extents = [4, 9, 4, 33, 9, 33, 33, 4, 60, 1, 9, 60, 1, 4];
        let mut results = Vec::new();
        for (call, rows) in extents.into_iter().enumerate() {
            let (x, mut rest) = (filled(&rt, rows, call)?, filled(&rt, rows, call + 1)?);
            scale_self(&mut rest, 5.0)?;
            let expected = by_hand(&x.to_vec()?, &w.to_vec()?, rest.to_vec()?);
            // Nobody waits for one call before the next one is submitted.
            results.push((program.call(&x, &w, &mut rest)?, rest, expected));
        }
        for ((sum, rest, expected), rows) in results.iter().zip(extents) {
            let sum = sum.to_vec()?[0];
            assert!((sum / expected.0 - 1.0).abs() < 1e-12, "{sum} for {}, {rows} rows", expected.0);
            assert_eq!(rest.to_vec()?, expected.1, "{rows} rows");
        }
        assert_eq!((program.recordings(), program.replays()), (5, 9));
    }
    Ok(())
}

/// `(x + y) y`, which needs a place for the sum.
#[program]
fn scaled<'s>(
    scope: &'s Recording<'_>,
    x: &Vector<'_, f32>,
    y: &Vector<'_, f32>,
) -> dahl::Result<Scalar<'s, f32>> {
    sum_init(scope, &mul_init(scope, &add_init(scope, x, y)?, y)?)
}

static IS_OPEN: AtomicBool = AtomicBool::new(false);

/// Waits until the gate is open.
#[codelet(RW)]
fn pass_gate(x: &mut [f32]) {
    while !IS_OPEN.load(Ordering::Acquire) {
        std::thread::yield_now();
    }
    x[0] += 1.0;
}

/// A call with a larger extent replaces the memory of one that has not begun. It waits for memory that this one keeps.
#[test]
fn a_call_waits_for_memory_that_an_earlier_one_keeps() -> dahl::Result<()> {
    // MB: the arguments of the first call 3.2 and its block 3.2; the arguments of the second one 3.6 and its block 3.6.
    let rt = Runtime::builder().cpu_workers(2).cuda_devices(0).memory_limit_mb(12).build()?;
    let mut program = Scaled::new(&rt).passes(Passes::none());
    let array = |len: usize, value: f32| rt.from_vec([len], vec![value; len]);
    let (mut x, y) = (array(400_000, 1.0)?, array(400_000, 2.0)?);
    pass_gate(&mut x)?;
    let first = program.call(&x, &y)?;
    drop((x, y)); // their memory goes when the call has ended
    let (x, y) = (array(450_000, 1.0)?, array(450_000, 2.0)?);
    let opening = std::thread::spawn(|| {
        std::thread::sleep(Duration::from_millis(50));
        IS_OPEN.store(true, Ordering::Release);
    });
    let second = program.call(&x, &y)?;
    assert_eq!((first.to_vec()?, second.to_vec()?), (vec![6.0 * 400_000.0 + 2.0], vec![6.0 * 450_000.0]));
    opening.join().expect("it only opens the gate");
    Ok(())
}

#[test]
fn all_extents_need_the_memory_of_the_largest() -> dahl::Result<()> {
    let rt = Runtime::builder().cpu_workers(1).cuda_devices(0).build()?;
    let mut program = Scaled::new(&rt).passes(Passes::none()).keeps(64);
    let mut call = |len: usize| -> dahl::Result<usize> {
        let (x, y) = (rt.from_vec([len], vec![1.0; len])?, rt.from_vec([len], vec![2.0; len])?);
        assert_eq!(program.call(&x, &y)?.to_vec()?, [6.0 * len as f32]);
        drop((x, y));
        rt.wait()?;
        let planned = program.memory_plan().all_bytes();
        assert!(planned >= 2 * len * size_of::<f32>());
        Ok(rt.memory()[0].current_bytes)
    };
    let largest = 100_000;
    let bytes = call(largest)?;
    for len in (1..=largest).step_by(largest / 40) {
        let with_another = call(len)?;
        // Neither an extent's own block nor the results of calls stay.
        assert!(with_another <= bytes, "{with_another} bytes with {len} elements, {bytes} before");
    }
    let larger = call(2 * largest)?;
    assert!(larger > bytes && larger < 3 * bytes, "{larger} bytes, and {bytes} for half of the extent");
    // When the larger ones are forgotten, the memory is too large for the others.
    for len in 1..70 {
        call(len)?;
    }
    let smaller = call(1)?;
    assert!(smaller < bytes / 4, "{smaller} bytes are kept for {bytes} before");
    drop(program);
    rt.wait()?;
    assert!(rt.memory()[0].current_bytes < bytes / 4, "the memory goes with the program");
    Ok(())
}
