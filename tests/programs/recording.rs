//! Recordings and replays: what is kept, what is recorded anew, and what a replay is for the rest of the runtime.

use dahl::ops::{add_init, add_self, matmul_init, mul_init, scale_init, sum_init};
use dahl::prelude::*;

/// `x * factor + y`, and adds `x` to `total`.
#[program]
fn step<'s, T: Real>(
    scope: &'s Recording<'_>,
    x: &Vector<'_, T>,
    y: &Vector<'_, T>,
    total: &mut Vector<'_, T>,
    factor: T,
) -> dahl::Result<(Vector<'s, T>, Scalar<'s, T>)> {
    add_self(total, x)?;
    let sum = add_init(scope, &scale_init(scope, x, factor)?, y)?;
    let total = sum_init(scope, &sum)?;
    Ok((sum, total))
}

fn counting(rt: &Runtime, len: usize, start: f64) -> Vector<'static, f64> {
    rt.from_vec([len], (0..len).map(|i| start + i as f64).collect()).expect("it fits")
}

#[test]
fn a_replay_has_the_results_of_the_function() -> dahl::Result<()> {
    let rt = Runtime::builder().cpu_workers(2).build()?;
    let (mut x, y) = (counting(&rt, 5, 1.0), counting(&rt, 5, 10.0));
    let mut total = rt.zeros([5])?;
    let mut step = Step::new(&rt);
    let mut expected = vec![0.0; 5];
    for round in 0..4 {
        let (sum, all) = step.call(&x, &y, &mut total, 2.0)?;
        let values: Vec<f64> = x.to_vec()?.iter().zip(y.to_vec()?).map(|(x, y)| 2.0 * x + y).collect();
        expected.iter_mut().zip(x.to_vec()?).for_each(|(total, x)| *total += x);
        assert_eq!(sum.to_vec()?, values, "round {round}");
        assert_eq!(all.to_vec()?, [values.iter().sum::<f64>()]);
        x.write()?[0] += 0.5; // between replays arrays are used as ever
    }
    assert_eq!(total.to_vec()?, expected);
    assert_eq!((step.recordings(), step.replays()), (1, 3));
    Ok(())
}

#[test]
fn calls_do_not_wait_for_each_other() -> dahl::Result<()> {
    let rt = Runtime::builder().cpu_workers(2).build()?;
    let (x, y) = (counting(&rt, 3, 1.0), counting(&rt, 3, 1.0));
    let mut total = rt.zeros([3])?;
    let mut step = Step::new(&rt);
    let results = (0..50).map(|_| step.call(&x, &y, &mut total, 1.0)).collect::<dahl::Result<Vec<_>>>()?;
    assert!(results.iter().all(|(sum, _)| sum.to_vec().is_ok_and(|sum| sum == [2.0, 4.0, 6.0])));
    assert_eq!(total.to_vec()?, [50.0, 100.0, 150.0]);
    Ok(())
}

#[test]
fn other_shapes_and_values_are_recorded_and_kept() -> dahl::Result<()> {
    let rt = Runtime::builder().cpu_workers(1).build()?;
    let mut step = Step::new(&rt).keeps(2);
    let mut call = |len: usize, factor: f64| -> dahl::Result<(u64, u64)> {
        let (x, y, mut total) = (counting(&rt, len, 0.0), counting(&rt, len, 0.0), rt.zeros([len])?);
        let (sum, _) = step.call(&x, &y, &mut total, factor)?;
        assert_eq!(sum.to_vec()?, (0..len).map(|i| factor * i as f64 + i as f64).collect::<Vec<_>>());
        Ok((step.recordings(), step.replays()))
    };
    assert_eq!(call(3, 2.0)?, (1, 0));
    assert_eq!(call(4, 2.0)?, (2, 0));
    assert_eq!(call(3, 2.0)?, (2, 1), "both shapes are kept");
    assert_eq!(call(3, 5.0)?, (3, 1), "a plain value is a part of the recording");
    assert_eq!(
        call(4, 2.0)?,
        (4, 1),
        "two are kept: the one that was not called for the longest time has gone"
    );
    Ok(())
}

#[test]
fn results_outlive_the_program() -> dahl::Result<()> {
    let rt = Runtime::builder().cpu_workers(2).build()?;
    let (sum, total) = {
        let (x, y) = (counting(&rt, 4, 0.0), counting(&rt, 4, 1.0));
        let mut total = rt.zeros([4])?;
        Step::new(&rt).call(&x, &y, &mut total, 1.0)?
    };
    assert_eq!(sum.to_vec()?, [1.0, 3.0, 5.0, 7.0]);
    assert_eq!(total.to_vec()?, [16.0]);
    Ok(())
}

/// Fails if `x` has a negative element.
#[codelet(R, W, shape(out = x))]
fn root(x: &[f64], out: &mut [f64]) {
    for (x, out) in x.iter().zip(out) {
        assert!(*x >= 0.0, "{x} has no root");
        *out = x.sqrt();
    }
}

/// The sum of the roots of `x`; the sum of `y`.
#[program]
fn roots<'s>(
    scope: &'s Recording<'_>,
    x: &Vector<'_, f64>,
    y: &Vector<'_, f64>,
) -> dahl::Result<(Scalar<'s, f64>, Scalar<'s, f64>)> {
    Ok((sum_init(scope, &root_init(scope, x)?)?, sum_init(scope, &mul_init(scope, y, y)?)?))
}

#[test]
fn a_failure_spoils_what_depends_on_it_and_no_later_replay() -> dahl::Result<()> {
    let rt = Runtime::builder().cpu_workers(2).build()?;
    let mut x = counting(&rt, 3, 1.0);
    let y = counting(&rt, 3, 0.0);
    let mut roots = Roots::new(&rt);
    for bad in [false, true, false, true] {
        x.write()?[1] = if bad { -4.0 } else { 4.0 };
        let (sum, other) = roots.call(&x, &y)?;
        assert_eq!(other.to_vec()?, [5.0]);
        match (bad, sum.to_vec()) {
            (false, values) => assert_eq!(values?, [1.0 + 2.0 + 3.0_f64.sqrt()]),
            (true, values) => {
                let error = values.expect_err("a root failed").to_string();
                assert!(error.contains("-4 has no root") && error.contains("recording.rs"), "{error}");
            }
        }
    }
    rt.wait() // the failures have been reported
}

/// Halves of the rows of `x` times `w`, side by side, into the rows of `out`.
#[program]
fn by_parts<T: Real>(
    scope: &Recording<'_>,
    x: &Matrix<'_, T>,
    w: &Matrix<'_, T>,
    out: &mut Matrix<'_, T>,
) -> dahl::Result<()> {
    let parts = x.partition(Axis(0), 2)?;
    let mut outs = out.partition_mut(Axis(0), 2)?;
    for (x, out) in parts.iter().zip(outs.iter_mut()) {
        dahl::ops::copy(&matmul_init(scope, x, w)?, out)?;
    }
    Ok(())
}

#[test]
fn parts_of_arguments_are_replayed() -> dahl::Result<()> {
    let rt = Runtime::builder().cpu_workers(2).build()?;
    let x = rt.from_vec([5, 2], (0..10).map(f64::from).collect())?;
    let w = rt.from_vec([2, 2], vec![1.0, 2.0, 3.0, 4.0])?;
    let expected = matmul_init(&rt.arena(), &x, &w)?.to_vec()?;
    let mut program = ByParts::new(&rt);
    for _ in 0..3 {
        let mut out = rt.zeros([5, 2])?;
        program.call(&x, &w, &mut out)?;
        assert_eq!(out.to_vec()?, expected);
    }
    assert_eq!(program.recordings(), 1);
    assert_eq!(program.graph().tasks(), 6);
    Ok(())
}

/// A step of gradient descent on the mean of `(x w)^2`.
#[program]
fn descend<'s, T: Real>(
    scope: &'s Recording<'_>,
    x: &Matrix<'_, T>,
    w: &mut Matrix<'_, T>,
) -> dahl::Result<Scalar<'s, T>> {
    let tape = scope.tape();
    let y = matmul_init(&tape, x, &*w)?;
    let loss = sum_init(&tape, &mul_init(&tape, &y, &y)?)?;
    let by_w = tape.gradients(&loss, &*w)?;
    dahl::ops::axpy_self(&by_w, w, T::from_f64(-0.01))?;
    scale_init(scope, &loss, T::ONE)
}

#[test]
fn gradients_are_recorded() -> dahl::Result<()> {
    let rt = Runtime::builder().cpu_workers(2).build()?;
    let x = rt.from_vec([3, 2], vec![1.0, -2.0, 0.5, 3.0, 2.0, 1.0])?;
    let start = vec![1.0, 2.0, -1.0, 0.5];
    let (mut w, mut by_hand) = (rt.from_vec([2, 2], start.clone())?, rt.from_vec([2, 2], start)?);
    let mut program = Descend::new(&rt);
    for _ in 0..10 {
        let loss = program.call(&x, &mut w)?.to_vec()?;
        let tape = rt.tape();
        let y = matmul_init(&tape, &x, &by_hand)?;
        let expected = sum_init(&tape, &mul_init(&tape, &y, &y)?)?;
        let gradient = tape.gradients(&expected, &by_hand)?.to_vec()?;
        assert_eq!(loss, expected.to_vec()?);
        by_hand.write()?.iter_mut().zip(gradient).for_each(|(w, gradient)| *w += -0.01 * gradient);
        assert_eq!(w.to_vec()?, by_hand.to_vec()?, "the same bits");
    }
    assert_eq!((program.recordings(), program.replays()), (1, 9));
    Ok(())
}
