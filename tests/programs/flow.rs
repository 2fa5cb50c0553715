//! Branches and loops in programs of operations.

use dahl::ops::{add_self, greater_init, mul_init, relu_init};
use dahl::prelude::*;

use super::descend::{Descend, descend_under};

fn check<T: Real>(passes: Passes, tight: bool) -> dahl::Result<()> {
    let rt = Runtime::builder().cpu_workers(2).build()?;
    let values = |factor: f64| (0..50).map(|i| T::from_f64(factor * f64::from(i % 7) - 1.0)).collect();
    let target: Vector<'_, T> = rt.from_vec([50], values(0.5))?;
    let one = rt.from_vec([], vec![T::ONE])?;
    let mut descend = Descend::new(&rt).passes(passes);
    if tight {
        descend = descend.tight();
    }
    for tolerance in [1e-2, 1e3, 0.5] {
        let tolerance = rt.from_vec([], vec![T::from_f64(tolerance)])?;
        let (mut x, mut submitted): (Vector<'_, T>, Vector<'_, T>) =
            (rt.from_vec([50], values(-2.0))?, rt.from_vec([50], values(-2.0))?);
        descend.call(&target, &one, &tolerance, &mut x)?;
        descend_under(&rt.arena(), &target, &one, &tolerance, &mut submitted)?;
        let bits = |x: &Vector<'_, T>| -> dahl::Result<Vec<u64>> {
            Ok(x.to_vec()?.into_iter().map(|x| x.to_f64().to_bits()).collect())
        };
        assert_eq!(bits(&x)?, bits(&submitted)?, "{passes:?}");
        let distance = x.to_vec()?.into_iter().zip(target.to_vec()?);
        let distance: f64 = distance.map(|(x, target)| (x.to_f64() - target.to_f64()).powi(2)).sum();
        assert!(distance.sqrt() <= tolerance.to_vec()?[0].to_f64() * 1.01);
    }
    assert_eq!((descend.recordings(), descend.replays()), (1, 2));
    Ok(())
}

#[test]
fn a_loop_until_a_norm_is_small_has_the_bits_of_what_is_submitted() -> dahl::Result<()> {
    check::<f32>(Passes::all(), false)?;
    check::<f64>(Passes::all(), true)?;
    check::<f64>(Passes::none(), false)
}

/// Adds the sum of `x` to `total` if that is positive; a dead branch besides.
#[program]
fn conditional(
    scope: &Recording<'_>,
    x: &Vector<'_, f64>,
    zero: &Scalar<'_, f64>,
    total: &mut Scalar<'_, f64>,
) -> dahl::Result<()> {
    let sum = dahl::ops::sum_init(scope, x)?;
    let is_positive = greater_init(scope, &sum, zero)?;
    let mut unused = scope.arena().zeros([])?;
    scope.branch(&is_positive, |_, _| add_self(&mut unused, &sum))?;
    scope.branch(&is_positive, |scope, holds| match holds {
        true => add_self(total, &relu_init(scope, &mul_init(scope, &sum, &sum)?)?),
        false => Ok(()),
    })
}

#[test]
fn bodies_are_fused_and_dead_branches_go() -> dahl::Result<()> {
    let rt = Runtime::builder().cpu_workers(2).cuda_devices(0).build()?;
    let zero = rt.zeros([])?;
    let (mut all, mut none) = (Conditional::new(&rt), Conditional::new(&rt).passes(Passes::none()));
    for program in [&mut all, &mut none] {
        let mut total = rt.zeros([])?;
        for x in [3.0, -2.0, 0.5] {
            let x = rt.from_vec([2], vec![x, 0.0])?;
            program.call(&x, &zero, &mut total)?;
        }
        assert_eq!(total.to_vec()?, [9.25]);
    }
    let names = |program: &Conditional| -> Vec<&'static str> {
        program.graph().steps().iter().map(|step| step.codelet()).collect()
    };
    assert_eq!(names(&none).iter().filter(|name| **name == "branch").count(), 2);
    assert_eq!(names(&all).iter().filter(|name| **name == "branch").count(), 1);
    let bodies = all.graph().steps().iter().flat_map(|step| step.bodies()).map(|body| body.tasks());
    assert_eq!(bodies.collect::<Vec<_>>(), [2, 0], "two maps are one, and the sum is added");
    let notes: Vec<_> = all.explain().iter().flat_map(|report| report.notes.clone()).collect();
    assert!(notes.iter().any(|note| note.starts_with("in `then` of the branch of ")), "{notes:?}");
    Ok(())
}
