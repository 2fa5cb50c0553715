//! Branches and loops under steps.

use dahl::ops::{add_value_self, greater, greater_init, norm_init, scale_self};
use dahl::prelude::*;
use dahl_nn::prelude::*;

/// Halves `x` until its norm is at most `limit`.
#[program]
fn halve(step: &Step<'_>, x: &mut Vector<'_, f64>, limit: &Scalar<'_, f64>) -> dahl::Result<()> {
    let arena = step.detached();
    let mut goes_on = greater_init(arena, &norm_init(arena, &*x)?, limit)?;
    arena.repeat_while(&mut goes_on, |arena, goes_on| {
        scale_self(x, 0.5)?;
        greater(&norm_init(arena, &*x)?, limit, goes_on)
    })
}

#[program]
fn under_the_tape(step: &Step<'_>, x: &mut Scalar<'_, f64>) -> dahl::Result<()> {
    step.repeat_while(x, |_, x| add_value_self(x, -1.0))
}

#[test]
fn a_step_that_learns_has_them_detached() -> dahl::Result<()> {
    let rt = Runtime::builder().cpu_workers(2).build()?;
    let limit = rt.from_vec([], vec![1.0])?;
    let mut program = Halve::new(&rt);
    for (start, end) in [(8.0, 1.0), (3.0, 0.75), (0.5, 0.5)] {
        let mut x = rt.from_vec([2], vec![start, 0.0])?;
        program.call(&mut x, &limit)?;
        assert_eq!(x.to_vec()?, [end, 0.0]);
    }
    assert_eq!(program.recordings(), 1);

    let mut x = rt.from_vec([], vec![2.0])?;
    let submitted = Step::learning(&rt).branch(&x, |_, _| Ok(()));
    for error in [submitted, UnderTheTape::new(&rt).call(&mut x)] {
        let error = error.expect_err("it is under a tape").to_string();
        assert!(error.contains("`step.detached()`") && error.contains("flow.rs:"), "{error}");
    }
    assert_eq!(x.to_vec()?, [2.0]);
    Ok(())
}

#[test]
fn rounds_of_a_step_that_evaluates_draw_numbers_one_after_the_other() -> dahl::Result<()> {
    let rt = Runtime::builder().cpu_workers(1).build()?;
    let step = Step::evaluating(&rt);
    let mut rounds = rt.from_vec([], vec![3.0_f64])?;
    let mut drawn = vec![step.numbers(1)];
    step.repeat_while(&mut rounds, |step, rounds| {
        drawn.push(step.numbers(2));
        add_value_self(rounds, -1.0)
    })?;
    drawn.push(step.numbers(1));
    let offsets: Vec<u64> = drawn.iter().map(|numbers| numbers.offset).collect();
    assert_eq!(offsets, [0, 1, 3, 5, 7]);
    Ok(())
}
