//! Bodies of branches and loops in which tasks fail.

use dahl::ops::*;
use dahl::prelude::*;
use dahl::{Result, program};

use super::{in_seeds, numbers};

/// As long as `left` says: the elements of `source` at `index` are in `x`, which is then added to `total`.
#[program]
fn selects(
    scope: &Recording<'_>,
    one: &Scalar<'_, f32>,
    source: &Matrix<'_, f32>,
    index: &Matrix<'_, u32>,
    left: &mut Scalar<'_, f32>,
    x: &mut Matrix<'_, f32>,
    total: &mut Matrix<'_, f32>,
) -> Result<()> {
    scope.repeat_while(left, |_, left| {
        gather(source, index, x, 0)?;
        axpy_self(one, left, -1.0)
    })?;
    add_self(total, x)
}

#[test]
fn a_task_of_a_body_that_fails_ends_the_loop_and_leaves_without_a_value_what_bodies_may_change() {
    in_seeds(0..4, |rt, bed| {
        let mut selects = Selects::new(rt).passes(Passes::none());
        let (one, source) = (rt.from_vec([], vec![1.0_f32])?, rt.from_vec([3, 16], numbers(48, 1))?);
        for (index, rounds) in [(1_u32, 3), (7, 3), (2, 2), (9, 0)] {
            let index_of_all = rt.from_vec([2, 16], vec![index; 32])?;
            let mut left = rt.from_vec([], vec![rounds as f32])?;
            let (mut x, mut total) = (rt.zeros([2, 16])?, rt.zeros([2, 16])?);
            let before = bed.calls("body");
            selects.call(&one, &source, &index_of_all, &mut left, &mut x, &mut total)?;
            let fails = index > 2 && rounds > 0;
            assert_eq!(rt.wait().is_err(), fails, "a body that did not run has not failed");
            for result in [left.to_vec(), x.to_vec(), total.to_vec()] {
                match result {
                    Ok(_) => assert!(!fails),
                    Err(error) => assert!(fails && error.to_string().contains("gather"), "{error}"),
                }
            }
            if bed.is_fake() {
                assert_eq!(
                    bed.calls("body") - before,
                    if fails { 1 } else { rounds },
                    "a failure ends the loop"
                );
            }
        }
        Ok(())
    });
}

/// A loss; and beside it `x` grows as often as `left` says.
#[program]
fn apart<'s>(
    scope: &'s Recording<'_>,
    one: &Scalar<'_, f32>,
    logits: &Matrix<'_, f32>,
    labels: &Vector<'_, u32>,
    left: &mut Scalar<'_, f32>,
    x: &mut Scalar<'_, f32>,
) -> Result<Scalar<'s, f32>> {
    let loss = cross_entropy_init(scope, logits, labels, 0.25)?;
    scope.repeat_while(left, |_, left| {
        add_self(x, one)?;
        axpy_self(one, left, -1.0)
    })?;
    Ok(loss)
}

#[test]
fn a_loop_that_does_not_depend_on_a_failed_task_goes_on() {
    in_seeds(0..4, |rt, bed| {
        let mut apart = Apart::new(rt).passes(Passes::none());
        let (one, logits) = (rt.from_vec([], vec![1.0_f32])?, rt.from_vec([4, 3], numbers(12, 1))?);
        let labels = rt.from_vec([4], vec![0_u32, 7, 2, 0])?;
        let (mut left, mut x) = (rt.from_vec([], vec![5.0_f32])?, rt.zeros([])?);
        let loss = apart.call(&one, &logits, &labels, &mut left, &mut x)?;
        assert!(loss.to_vec().is_err(), "a label is out of range");
        assert_eq!((left.to_vec()?, x.to_vec()?), (vec![0.0], vec![5.0]));
        if bed.is_fake() {
            assert_eq!(bed.calls("body"), 5);
        }
        Ok(())
    });
}

/// Halves the loss of `logits` as long as it is not zero, and changes `x` by whether it was; the condition fails if a label is
/// out of range.
#[program]
fn depends<'s>(
    scope: &'s Recording<'_>,
    logits: &Matrix<'_, f32>,
    other: &Vector<'_, f32>,
    labels: &Vector<'_, u32>,
    x: &mut Vector<'_, f32>,
) -> Result<(Scalar<'s, f32>, Vector<'s, f32>)> {
    let mut loss = cross_entropy_init(scope, logits, labels, 0.25)?;
    scope.branch(&loss, |_, holds| scale_self(x, if holds { 2.0 } else { 3.0 }))?;
    scope.repeat_while(&mut loss, |_, loss| scale_self(loss, 0.0))?;
    Ok((loss, scale_init(scope, other, 2.0)?))
}

#[test]
fn a_condition_that_has_failed_lets_no_body_run() {
    in_seeds(0..4, |rt, bed| {
        let mut depends = Depends::new(rt).passes(Passes::none());
        let logits = rt.from_vec([4, 3], numbers(12, 1))?;
        let other = rt.from_vec([2], vec![1.0_f32, -3.0])?;
        for (label, fails) in [(1_u32, false), (7, true), (2, false)] {
            let labels = rt.from_vec([4], vec![0_u32, label, 2, 0])?;
            let mut x = rt.from_vec([1], vec![5.0_f32])?;
            let before = bed.calls("body");
            let (loss, doubled) = depends.call(&logits, &other, &labels, &mut x)?;
            assert_eq!(rt.wait().is_err(), fails);
            assert_eq!(doubled.to_vec()?, [2.0, -6.0]);
            if fails {
                for error in
                    [loss.to_vec().expect_err("a label is out of range"), x.to_vec().expect_err("too")]
                {
                    assert!(error.to_string().contains("cross_entropy"), "{error}");
                }
            } else {
                assert_eq!((loss.to_vec()?, x.to_vec()?), (vec![0.0], vec![10.0]));
            }
            if bed.is_fake() {
                assert_eq!(bed.calls("body") - before, if fails { 0 } else { 2 });
            }
        }
        Ok(())
    });
}
