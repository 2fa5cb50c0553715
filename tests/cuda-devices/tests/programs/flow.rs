//! Branches and loops of programs on a device, which decides them itself.

use dahl::ops::*;
use dahl::prelude::*;
use dahl::{Result, program};

use super::descend::{Descend, descend_under};
use super::{graphs, in_seeds, numbers, with_settings};
use crate::networks::Bed;

/// What a call makes the host do: launches, copies, and how many bodies the device runs meanwhile.
fn of_call(rt: &Runtime, bed: &Bed, call: impl FnOnce() -> Result<()>) -> Result<[u64; 3]> {
    let counts = || ["launch", "copy", "body"].map(|kind| bed.calls(kind));
    rt.wait()?;
    let before = counts();
    call()?;
    rt.wait()?;
    let after = counts();
    Ok([0, 1, 2].map(|kind| after[kind] - before[kind]))
}

fn descends<T: Real>(rt: &Runtime, bed: &Bed) -> Result<()> {
    let values = |factor: f64| (0..50).map(|i| T::from_f64(factor * f64::from(i % 7) - 1.0)).collect();
    let target: Vector<'_, T> = rt.from_vec([50], values(0.5))?;
    let one = rt.from_vec([], vec![T::ONE])?;
    let mut descend = Descend::new(rt).passes(Passes::none());
    for tolerance in [0.5, 1e3, 1e-1] {
        let tolerance = rt.from_vec([], vec![T::from_f64(tolerance)])?;
        // Each call has another `x`, at another address.
        let (mut x, mut submitted): (Vector<'_, T>, Vector<'_, T>) =
            (rt.from_vec([50], values(-2.0))?, rt.from_vec([50], values(-2.0))?);
        descend_under(&rt.arena(), &target, &one, &tolerance, &mut submitted)?;
        let [launches, _, bodies] = of_call(rt, bed, || descend.call(&target, &one, &tolerance, &mut x))?;
        if bed.is_fake() {
            assert_eq!(launches, 1, "one graph");
            assert_eq!(bodies > 0, tolerance.to_vec()?[0].to_f64() < 1e3);
        }
        let bits = |x: &Vector<'_, T>| -> Result<Vec<u64>> {
            Ok(x.to_vec()?.into_iter().map(|x| x.to_f64().to_bits()).collect())
        };
        assert_eq!(bits(&x)?, bits(&submitted)?);
    }
    let counts = graphs(rt);
    assert_eq!((counts.instantiated, counts.launches), (1, 3), "{counts:?}");
    Ok(())
}

#[test]
fn a_branch_in_a_loop_has_the_bits_of_what_is_submitted() {
    in_seeds(0..3, descends::<f32>);
    in_seeds(3..5, descends::<f64>);
}

/// Adds `step` to `x` as often as `left` says.
#[program]
fn count_down(
    scope: &Recording<'_>,
    one: &Scalar<'_, f32>,
    step: &Vector<'_, f32>,
    left: &mut Scalar<'_, f32>,
    x: &mut Vector<'_, f32>,
) -> Result<()> {
    scope.repeat_while(left, |_, left| {
        add_self(x, step)?;
        axpy_self(one, left, -1.0)
    })
}

#[test]
fn the_host_does_as_much_for_a_hundred_rounds_as_for_none() {
    in_seeds(0..4, |rt, bed| {
        let mut count_down = CountDown::new(rt).passes(Passes::none());
        let (one, step) = (rt.from_vec([], vec![1.0_f32])?, rt.from_vec([3], vec![1.0_f32, 2.0, 0.5])?);
        let mut work = Vec::new();
        for rounds in [1, 0, 100, 3] {
            let mut x = rt.zeros([3])?;
            let mut left = rt.from_vec([], vec![rounds as f32])?;
            let [launches, copies, bodies] =
                of_call(rt, bed, || count_down.call(&one, &step, &mut left, &mut x))?;
            assert_eq!(
                (left.to_vec()?, x.to_vec()?),
                (vec![0.0], [1.0, 2.0, 0.5].map(|x| x * rounds as f32).to_vec())
            );
            if bed.is_fake() {
                assert_eq!((launches, bodies), (1, rounds));
                work.push(copies);
            }
        }
        // The first call also makes the graph.
        assert!(work.iter().skip(1).all(|copies| *copies == work[1]), "{work:?}");
        assert_eq!(graphs(rt).launches, 4);
        Ok(())
    });
}

#[test]
fn a_driver_without_conditional_nodes_leaves_the_decision_to_the_host() {
    with_settings("version=12030", 0..3, |rt, bed| {
        if !bed.is_fake() {
            return Ok(());
        }
        let mut count_down = CountDown::new(rt).passes(Passes::none());
        let (one, step) = (rt.from_vec([], vec![1.0_f32])?, rt.from_vec([1], vec![2.0_f32])?);
        for rounds in [2, 5] {
            let mut x = rt.zeros([1])?;
            let mut left = rt.from_vec([], vec![rounds as f32])?;
            let [_, _, bodies] = of_call(rt, bed, || count_down.call(&one, &step, &mut left, &mut x))?;
            assert_eq!((left.to_vec()?, x.to_vec()?, bodies), (vec![0.0], vec![2.0 * rounds as f32], 0));
        }
        let reports = count_down.explain().iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
        let reason = "`repeat_while` decides on the host: the driver is of CUDA 12.3, and conditional nodes are of 12.4";
        assert!(reports.contains(reason), "{reports}");
        assert_eq!(graphs(rt).launches, 7, "each round is a graph");
        Ok(())
    });
}

#[test]
fn a_graph_that_the_driver_refuses_leaves_the_decision_to_the_host() {
    // One after the other, the calls that make the graph: as a driver that does not support them.
    for call in 1..10 {
        with_settings(&format!("fail=graph:{call}=801"), 1..3, |rt, bed| {
            if !bed.is_fake() {
                return Ok(());
            }
            let mut count_down = CountDown::new(rt).passes(Passes::none());
            let (one, step) = (rt.from_vec([], vec![1.0_f32])?, rt.from_vec([1], vec![2.0_f32])?);
            for rounds in [3, 2] {
                let mut x = rt.zeros([1])?;
                let mut left = rt.from_vec([], vec![rounds as f32])?;
                count_down.call(&one, &step, &mut left, &mut x)?;
                assert_eq!(
                    (left.to_vec()?, x.to_vec()?),
                    (vec![0.0], vec![2.0 * rounds as f32]),
                    "call {call}"
                );
            }
            Ok(())
        });
    }
}

#[test]
fn a_device_that_is_lost_while_a_body_runs_leaves_nothing_that_it_changed() {
    with_settings("fail=fault:6", 0..3, |rt, bed| {
        if !bed.is_fake() {
            return Ok(());
        }
        let mut count_down = CountDown::new(rt).passes(Passes::none());
        let (one, step) = (rt.from_vec([], vec![1.0_f32])?, rt.from_vec([1], vec![2.0_f32])?);
        let (mut x, mut left) = (rt.zeros([1])?, rt.from_vec([], vec![10.0_f32])?);
        count_down.call(&one, &step, &mut left, &mut x)?;
        assert!(rt.wait().is_err());
        assert!(x.to_vec().is_err() && left.to_vec().is_err());
        // The CPU is left.
        let (mut x, mut left) = (rt.zeros([1])?, rt.from_vec([], vec![4.0_f32])?);
        count_down.call(&one, &step, &mut left, &mut x)?;
        assert_eq!((left.to_vec()?, x.to_vec()?), (vec![0.0], vec![8.0]));
        Ok(())
    });
}

/// Two branches on one element, of which the first has no second body, and the second no first one.
#[program]
fn branches(scope: &Recording<'_>, condition: &Scalar<'_, f32>, x: &mut Vector<'_, f32>) -> Result<()> {
    scope.branch(condition, |_, holds| if holds { scale_self(x, 2.0) } else { Ok(()) })?;
    scope.branch(condition, |_, holds| if holds { Ok(()) } else { square_self(x) })?;
    scope.branch(condition, |_, holds| if holds { square_self(x) } else { scale_self(x, -1.0) })
}

#[test]
fn a_branch_is_true_unless_its_element_is_a_zero() {
    in_seeds(0..4, |rt, bed| {
        let mut branches = Branches::new(rt).passes(Passes::none());
        for (element, holds) in
            [(1.0_f32, true), (0.0, false), (f32::NAN, true), (-0.0, false), (f32::MIN_POSITIVE / 4.0, true)]
        {
            let mut x = rt.from_vec([2], vec![3.0_f32, -1.0])?;
            let condition = rt.from_vec([], vec![element])?;
            let [launches, _, bodies] = of_call(rt, bed, || branches.call(&condition, &mut x))?;
            assert_eq!(x.to_vec()?, if holds { [36.0, 4.0] } else { [-9.0, -1.0] }, "{element}");
            if bed.is_fake() {
                assert_eq!((launches, bodies), (1, 2), "{element}");
            }
        }
        Ok(())
    });
}

/// Each round adds 1 to `x[0]` if `element` holds, which then becomes `element - falls`.
#[program]
fn becomes(
    scope: &Recording<'_>,
    one: &Scalar<'_, f32>,
    falls: &Scalar<'_, f32>,
    left: &mut Scalar<'_, f32>,
    element: &mut Scalar<'_, f32>,
    x: &mut Scalar<'_, f32>,
) -> Result<()> {
    scope.repeat_while(left, |scope, left| {
        scope
            .branch(&*element, |_, holds| if holds { add_self(x, one) } else { axpy_self(one, x, 100.0) })?;
        axpy_self(falls, element, -1.0)?;
        axpy_self(one, left, -1.0)
    })
}

#[test]
fn an_element_becomes_zero_or_nan_while_a_loop_runs() {
    in_seeds(0..4, |rt, bed| {
        let mut becomes = Becomes::new(rt).passes(Passes::none());
        let scalar = |value: f32| rt.from_vec([], vec![value]);
        let one = scalar(1.0)?;
        // Falls to 0 and below; is 0 first; is NaN from the second round on.
        for (element, falls, expected) in [
            (2.0_f32, 1.0_f32, 4.0 - 1.0 + 100.0),
            (0.0, 5.0, 3.0 + 100.0),
            (f32::INFINITY, f32::INFINITY, 4.0),
        ] {
            let (mut left, mut element, mut x) = (scalar(4.0)?, scalar(element)?, scalar(0.0)?);
            let falls = scalar(falls)?;
            let call = || becomes.call(&one, &falls, &mut left, &mut element, &mut x);
            let [launches, _, bodies] = of_call(rt, bed, call)?;
            assert_eq!(x.to_vec()?, [expected]);
            if bed.is_fake() {
                assert_eq!((launches, bodies), (1, 8), "four rounds, each with one body of a branch");
            }
        }
        Ok(())
    });
}

/// Multiplies `x` by `w` as often as `left` says, in halves of its rows, and beside that `y` by `w`. Both are calls of a library.
#[program]
fn powers(
    scope: &Recording<'_>,
    one: &Scalar<'_, f32>,
    w: &Matrix<'_, f32>,
    y: &mut Matrix<'_, f32>,
    left: &mut Scalar<'_, f32>,
    x: &mut Matrix<'_, f32>,
) -> Result<()> {
    powers_under(scope, (one, w), y, left, x)
}

fn powers_under(
    scope: &(impl ControlFlow + Scope<codelets::Matmul>),
    (one, w): (&Scalar<'_, f32>, &Matrix<'_, f32>),
    y: &mut Matrix<'_, f32>,
    left: &mut Scalar<'_, f32>,
    x: &mut Matrix<'_, f32>,
) -> Result<()> {
    scope.repeat_while(left, |scope, left| {
        let product = matmul_init(scope, &*x, w)?;
        let mut halves = x.partition_mut(Axis(0), 8)?;
        let [first, second] = halves.iter_mut().collect::<Vec<_>>().try_into().expect("there are two parts");
        scale_self(first, 0.5)?;
        square_self(second)?;
        drop(halves);
        axpy_self(&product, x, -0.25)?;
        axpy_self(one, left, -1.0)
    })?;
    let product = matmul_init(scope, &*y, w)?;
    axpy_self(&product, y, 0.5)
}

#[test]
fn a_body_calls_libraries_and_cuts_arrays_into_parts() {
    in_seeds(0..6, |rt, bed| {
        let mut powers = Powers::new(rt).passes(Passes::none());
        let array = |seed| rt.from_vec([16, 16], numbers(256, seed));
        let (one, w) = (rt.from_vec([], vec![1.0_f32])?, array(1)?);
        for rounds in [3.0_f32, 0.0, 5.0] {
            let [mut x, mut expected_x, mut y, mut expected_y] = [array(2)?, array(2)?, array(3)?, array(3)?];
            let (mut left, mut expected_left) =
                (rt.from_vec([], vec![rounds])?, rt.from_vec([], vec![rounds])?);
            powers_under(&rt.arena(), (&one, &w), &mut expected_y, &mut expected_left, &mut expected_x)?;
            let call = || powers.call(&one, &w, &mut y, &mut left, &mut x);
            let [launches, _, bodies] = of_call(rt, bed, call)?;
            assert_eq!(x.to_vec()?, expected_x.to_vec()?);
            assert_eq!(y.to_vec()?, expected_y.to_vec()?);
            if bed.is_fake() {
                assert_eq!((launches, bodies), (1, rounds as u64));
            }
        }
        Ok(())
    });
}
