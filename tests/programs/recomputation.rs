//! Tasks that run again, so that a program fits into less memory.

use dahl::ops::{add_init, exp_self, mul_init, relu_init, scale_init, sin_init, sum_init};
use dahl::prelude::*;

/// How many layers there are, and elements.
const LAYERS: usize = 16;
const LEN: usize = 4096;

/// The layers of a network and the way back, on which each is needed in turn. One of them is changed in place.
#[program]
fn there_and_back<'s, T: Real>(
    scope: &'s Recording<'_>,
    x: &Vector<'_, T>,
) -> dahl::Result<(Vector<'s, T>, Scalar<'s, T>)> {
    let mut layers = vec![sin_init(scope, x)?];
    for layer in 1..LAYERS {
        let last = &layers[layer - 1];
        let mut next = add_init(scope, &relu_init(scope, last)?, &sin_init(scope, last)?)?;
        if layer == LAYERS / 2 {
            exp_self(&mut next)?;
        }
        layers.push(next);
    }
    let mut gradient = scale_init(scope, &layers[LAYERS - 1], T::from_f64(0.5))?;
    for layer in layers.iter().rev() {
        gradient = mul_init(scope, &gradient, &sin_init(scope, layer)?)?;
    }
    let sum = sum_init(scope, &gradient)?;
    Ok((gradient, sum))
}

/// The bits of what it returns.
fn bits<T: Real>((gradient, sum): &(Vector<'_, T>, Scalar<'_, T>)) -> dahl::Result<Vec<u64>> {
    let values = [gradient.to_vec()?, sum.to_vec()?].concat();
    Ok(values.iter().map(|value| value.to_f64().to_bits()).collect())
}

/// Of each limit: how many tasks run again.
fn tasks_again<T: Real>(limits: &[usize], workers: usize) -> dahl::Result<Vec<usize>> {
    let rt = Runtime::builder().cpu_workers(workers).cuda_devices(0).build()?;
    let x = rt.from_vec([LEN], (0..LEN).map(|i| T::from_f64(i as f64 / 1e3 - 2.0)).collect())?;
    let mut plain = ThereAndBack::new(&rt).passes(Passes::none());
    let expected = bits(&plain.call(&x)?)?;
    let array = LEN * size_of::<T>();
    let again = limits.iter().map(|&arrays| {
        let limit = arrays * array + 4096;
        let passes = Passes::none().recomputation(true);
        let mut program = ThereAndBack::new(&rt).passes(passes).within(limit);
        for _ in 0..3 {
            assert_eq!(bits(&program.call(&x)?)?, expected, "within {arrays} arrays");
        }
        let plan = program.memory_plan();
        assert!(plan.peak_bytes() <= limit, "{plan}");
        let again = program.graph().tasks() - plain.graph().tasks();
        let report = program.explain().iter().find(|report| report.pass == "recomputation");
        let notes = &report.expect("it has a limit").notes;
        assert_eq!(again == 0, notes.is_empty(), "{notes:?}");
        assert!(notes.iter().all(|note| note.contains(" again for ")), "{notes:?}");
        Ok(again)
    });
    again.collect()
}

#[test]
fn less_memory_takes_more_tasks_and_changes_no_bit() -> dahl::Result<()> {
    for workers in [1, 3] {
        // With room for all layers none runs again; otherwise the fewer layers stay, the more.
        let again = tasks_again::<f64>(&[LAYERS + 4, 12, 9, 6], workers)?;
        assert_eq!(again[0], 0, "{again:?}");
        assert!(again.is_sorted() && again[1] > 0, "{again:?}");
        tasks_again::<f32>(&[10], workers)?;
        tasks_again::<f16>(&[10], workers)?;
        tasks_again::<bf16>(&[10], workers)?;
    }
    Ok(())
}

#[test]
fn a_limit_that_recomputation_does_not_reach_is_refused() -> dahl::Result<()> {
    let rt = Runtime::builder().cpu_workers(1).cuda_devices(0).build()?;
    let x = rt.from_vec([LEN], vec![0.5_f32; LEN])?;
    let refused =
        |passes: Passes, limit: usize| match ThereAndBack::new(&rt).passes(passes).within(limit).call(&x) {
            Ok(_) => None,
            Err(error) => Some(error.to_string()),
        };
    let array = LEN * size_of::<f32>();
    // One step uses three arrays.
    let text = refused(Passes::all().fusion(false).in_place(false), 2 * array).expect("it is too little");
    let least = format!("every order needs at least {}", 3 * array);
    assert!(text.contains("D0027") && text.contains(&least), "{text}");
    // Without the pass nothing runs again.
    assert!(refused(Passes::none().recomputation(true), 10 * array).is_none());
    assert!(refused(Passes::none(), 10 * array).is_some_and(|text| text.contains("the least possible")));
    Ok(())
}

/// What depends on an argument that changes in between cannot be computed again.
#[program]
fn with_changes<'s>(scope: &'s Recording<'_>, x: &mut Vector<'_, f64>) -> dahl::Result<Vector<'s, f64>> {
    let before: Vec<_> =
        (0..4).map(|i| scale_init(scope, &*x, f64::from(i) - 1.5)).collect::<dahl::Result<_>>()?;
    exp_self(x)?;
    let mut total = relu_init(scope, &*x)?;
    for part in before.iter().rev() {
        total = mul_init(scope, &total, part)?;
    }
    Ok(total)
}

#[test]
fn what_depends_on_a_value_that_is_gone_stays() -> dahl::Result<()> {
    let rt = Runtime::builder().cpu_workers(2).cuda_devices(0).build()?;
    let call = |limit: Option<usize>| {
        let mut x = rt.from_vec([LEN], (0..LEN).map(|i| i as f64 / 1e4).collect())?;
        let mut program = WithChanges::new(&rt).passes(Passes::none().recomputation(true));
        if let Some(limit) = limit {
            program = program.within(limit);
        }
        program.call(&mut x)?.to_vec()
    };
    let all = call(None)?;
    assert_eq!(call(Some(6 * LEN * 8))?, all);
    let refused = call(Some(4 * LEN * 8)).expect_err("four arrays are kept, beside what is computed");
    assert!(refused.to_string().contains("D0027"), "{refused}");
    Ok(())
}
