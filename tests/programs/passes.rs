//! What each pass does, and that it changes no bit.

use dahl::ops::{add_init, exp_init, mul_init, neg_init, relu_init, sum_init};
use dahl::prelude::*;

/// Has a task that nobody uses, and one thing computed twice.
#[program]
fn wasteful<'s, T: Real>(
    scope: &'s Recording<'_>,
    x: &Vector<'_, T>,
    y: &Vector<'_, T>,
) -> dahl::Result<(Vector<'s, T>, Scalar<'s, T>)> {
    let _unused = exp_init(scope, &neg_init(scope, y)?)?;
    let once = mul_init(scope, x, y)?;
    let twice = mul_init(scope, x, y)?;
    let other = mul_init(scope, y, x)?;
    let sum = add_init(scope, &relu_init(scope, &once)?, &relu_init(scope, &twice)?)?;
    let total = sum_init(scope, &add_init(scope, &sum, &other)?)?;
    Ok((sum, total))
}

fn run(passes: Passes) -> dahl::Result<(usize, Vec<u64>, String)> {
    let rt = Runtime::builder().cpu_workers(2).build()?;
    let x = rt.from_vec([700], (0..700).map(|i| f64::from(i) / 7.0 - 41.0).collect())?;
    let y = rt.from_vec([700], (0..700).map(|i| 3.0 - f64::from(i) / 11.0).collect())?;
    let mut program = Wasteful::new(&rt).passes(passes);
    let mut bits = Vec::new();
    for _ in 0..2 {
        let (sum, total) = program.call(&x, &y)?;
        bits = sum.to_vec()?.iter().chain(&total.to_vec()?).map(|value| value.to_bits()).collect();
    }
    let reports = program.explain().iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
    Ok((program.graph().tasks(), bits, reports))
}

#[test]
fn each_pass_does_something_and_changes_no_bit() -> dahl::Result<()> {
    let (tasks, bits, reports) = run(Passes::none())?;
    assert_eq!((tasks, reports.as_str()), (10, ""));
    for (passes, expected, says) in [
        (Passes::none().dead_tasks(true), 8, "dead tasks: 8 tasks, 10 before"),
        (Passes::none().common_subexpressions(true), 8, "common subexpressions: 8 tasks, 10 before"),
        (Passes::none().fusion(true), 3, "fusion: 3 tasks, 10 before"),
        (Passes::none().reductions(true), 9, "add+sum of tests/programs/passes.rs:"),
        (Passes::all(), 1, "passes.rs:"),
    ] {
        let (tasks, other, reports) = run(passes)?;
        assert_eq!(tasks, expected, "{reports}");
        assert!(reports.contains(says), "{reports}");
        assert_eq!(other, bits, "{passes:?}");
    }
    Ok(())
}

/// Makes one constant three times, and another one that is as large.
#[program]
fn constants<'s>(scope: &'s Recording<'_>, x: &Vector<'_, f64>) -> dahl::Result<Vector<'s, f64>> {
    let constant = |last: f64| scope.arena().from_slice([2], &[1.5, last]);
    let (one, same, too, other) = (constant(0.0)?, constant(0.0)?, constant(0.0)?, constant(-0.0)?);
    let product = mul_init(scope, &mul_init(scope, x, &one)?, &same)?;
    add_init(scope, &mul_init(scope, &product, &too)?, &mul_init(scope, x, &other)?)
}

#[test]
fn equal_constants_are_one() -> dahl::Result<()> {
    let rt = Runtime::builder().cpu_workers(2).build()?;
    let x = rt.from_vec([2], vec![2.0, -3.0])?;
    let mut results = Vec::new();
    for (passes, arrays) in [(Passes::none(), 8), (Passes::none().constants(true), 6)] {
        let mut program = Constants::new(&rt).passes(passes);
        for _ in 0..3 {
            let bits: Vec<_> = program.call(&x)?.to_vec()?.into_iter().map(f64::to_bits).collect();
            results.push(bits);
        }
        // Four products, of which each takes 16 bytes, at multiples of 64, and the constants. The sum is the result.
        assert_eq!(program.memory_plan().sum_bytes(), arrays * 64, "{}", program.memory_plan());
    }
    assert!(results.iter().all(|result| *result == [9.75_f64.to_bits(), 0.0_f64.to_bits()]), "{results:?}");
    Ok(())
}

/// Maps and a softmax of constants; what is made of them is small, but for the last.
#[program]
fn computed<'s, T: Real>(scope: &'s Recording<'_>, x: &Matrix<'_, T>) -> dahl::Result<Matrix<'s, T>> {
    let values: Vec<T> = (0..6).map(|i| T::from_f64(f64::from(i) / 3.0 - 0.7)).collect();
    let constant = scope.arena().from_slice([1, 6], &values)?;
    let zeros = scope.arena().zeros([1, 6])?;
    let shares = dahl::ops::softmax_init(scope, &exp_init(scope, &constant)?, 1)?;
    let sum = dahl::ops::sum_axis_init(scope, &add_init(scope, &shares, &zeros)?, 1)?;
    let large = add_init(scope, &sum, &scope.arena().zeros([1, 600_000])?)?;
    let last = dahl::ops::slice_init(scope, &large, 1, 599_994, 6)?;
    mul_init(scope, &mul_init(scope, x, &shares)?, &last)
}

fn check_computed<T: Real>() -> dahl::Result<()> {
    let rt = Runtime::builder().cpu_workers(2).build()?;
    let x = rt.from_vec([2, 6], (0..12).map(|i| T::from_f64(f64::from(i) - 3.3)).collect())?;
    let mut results = Vec::new();
    for passes in [Passes::none(), Passes::none().constants(true), Passes::all()] {
        let mut program = Computed::new(&rt).passes(passes);
        for _ in 0..3 {
            let values = program.call(&x)?.to_vec()?;
            results.push(values.into_iter().map(|value| value.to_f64().to_bits()).collect::<Vec<_>>());
        }
        let report = program.explain().first().map(ToString::to_string).unwrap_or_default();
        let is_on = passes != Passes::none();
        assert_eq!(report.contains("softmax of") && report.contains("is computed once"), is_on, "{report}");
        assert_eq!(report.contains("stays: what it computes of constants has"), is_on, "{report}");
        if passes == Passes::none().constants(true) {
            // The large sum, its slice, and the two products.
            assert_eq!(program.graph().tasks(), 4, "{}", program.graph());
        }
    }
    assert!(results.iter().all(|result| *result == results[0]), "{}", T::NAME);
    Ok(())
}

#[test]
fn tasks_of_constants_are_computed_once_with_the_same_bits() -> dahl::Result<()> {
    check_computed::<f16>()?;
    check_computed::<bf16>()?;
    check_computed::<f32>()?;
    check_computed::<f64>()
}

/// The value of `y` changes between two tasks that look the same.
#[program]
fn changing<'s, T: Real>(
    scope: &'s Recording<'_>,
    x: &Vector<'_, T>,
    y: &mut Vector<'_, T>,
) -> dahl::Result<Vector<'s, T>> {
    let before = mul_init(scope, x, &*y)?;
    dahl::ops::add_self(y, x)?;
    let after = mul_init(scope, x, &*y)?;
    add_init(scope, &before, &after)
}

#[test]
fn tasks_on_other_values_are_kept() -> dahl::Result<()> {
    let rt = Runtime::builder().cpu_workers(2).build()?;
    let x = rt.from_vec([2], vec![1.0, 2.0])?;
    let mut y = rt.from_vec([2], vec![10.0, 20.0])?;
    let mut program = Changing::new(&rt);
    // x y + x (x + y)
    assert_eq!(program.call(&x, &mut y)?.to_vec()?, [10.0 + 11.0, 40.0 + 44.0]);
    assert_eq!(program.call(&x, &mut y)?.to_vec()?, [11.0 + 12.0, 44.0 + 48.0]);
    assert_eq!(y.to_vec()?, [12.0, 24.0]);
    Ok(())
}

/// Maps that read what another one is about to overwrite, and that write one array twice.
#[program]
fn overwriting<T: Real>(scope: &Recording<'_>, x: &Vector<'_, T>, z: &mut Vector<'_, T>) -> dahl::Result<()> {
    let before = exp_init(scope, &*z)?;
    dahl::ops::neg(&before, z)?;
    let between = relu_init(scope, &add_init(scope, &*z, x)?)?;
    dahl::ops::abs(&between, z)
}

#[test]
fn maps_that_overwrite_an_array_keep_their_order() -> dahl::Result<()> {
    let rt = Runtime::builder().cpu_workers(2).build()?;
    let x = rt.from_vec([3], vec![1.0, 2.0, -3.0])?;
    let mut results = Vec::new();
    for passes in [Passes::none(), Passes::all()] {
        let mut z = rt.from_vec([3], vec![0.0, 0.5, -1.0])?;
        let mut program = Overwriting::new(&rt).passes(passes);
        for _ in 0..3 {
            program.call(&x, &mut z)?;
            results.push(z.to_vec()?);
            z.invalidate()?;
        }
    }
    assert_eq!(results[..3], results[3..]);
    assert_eq!(results[1], [0.0, 1.0, 0.0]);
    Ok(())
}

/// Computes one thing twice, and reads parts of the second.
#[program]
fn twice_in_parts<'s, T: Real>(scope: &'s Recording<'_>, x: &Vector<'_, T>) -> dahl::Result<Scalar<'s, T>> {
    let (_one, other) = (relu_init(scope, x)?, relu_init(scope, x)?);
    let parts = other.partition_into(Axis(0), 2)?;
    let (first, second) = (sum_init(scope, &parts[0])?, sum_init(scope, &parts[1])?);
    add_init(scope, &first, &second)
}

#[test]
fn arrays_in_parts_are_not_merged() -> dahl::Result<()> {
    let rt = Runtime::builder().cpu_workers(2).build()?;
    let x = rt.from_vec([4], vec![1.0, -2.0, 3.0, 4.0])?;
    let mut program = TwiceInParts::new(&rt);
    for _ in 0..2 {
        assert_eq!(program.call(&x)?.to_vec()?, [8.0]);
    }
    Ok(())
}

/// Of which nothing is left.
#[program]
fn useless<T: Real>(scope: &Recording<'_>, x: &Vector<'_, T>) -> dahl::Result<()> {
    exp_init(scope, x).map(drop)
}

/// Has no task that a worker runs.
#[program]
fn forgets(_scope: &Recording<'_>, x: &mut Vector<'_, f64>) -> dahl::Result<()> {
    x.invalidate()
}

#[test]
fn programs_without_tasks_end() -> dahl::Result<()> {
    let rt = Runtime::builder().cpu_workers(2).build()?;
    let mut x = rt.from_vec([2], vec![1.0, 2.0])?;
    let (mut useless, mut forgets) = (Useless::new(&rt), Forgets::new(&rt));
    for _ in 0..20_000 {
        useless.call(&x)?;
        forgets.call(&mut x)?;
    }
    assert_eq!(x.to_vec()?, [0.0, 0.0]);
    rt.wait()
}

#[test]
fn plans_share_memory_and_hold_their_peak() -> dahl::Result<()> {
    /// A chain of `2 n` maps and sums, whose arrays live shortly.
    #[program]
    fn long<'s, T: Real>(scope: &'s Recording<'_>, x: &Vector<'_, T>) -> dahl::Result<Vector<'s, T>> {
        let mut y = relu_init(scope, x)?;
        for _ in 0..10 {
            y = add_init(scope, &mul_init(scope, &y, x)?, &y)?;
        }
        neg_init(scope, &y)
    }
    let rt = Runtime::builder().cpu_workers(2).build()?;
    let x = rt.from_vec([1000], (0..1000).map(|i| f64::from(i) / 1e4).collect())?;
    let mut results = Vec::new();
    for tight in [false, true] {
        let mut program = Long::new(&rt).passes(Passes::none());
        if tight {
            program = program.tight();
        }
        for _ in 0..3 {
            results.push(program.call(&x)?.to_vec()?);
        }
        let plan = program.memory_plan();
        assert_eq!(plan.sum_bytes(), 21 * 8000);
        assert_eq!(plan.peak_bytes(), 3 * 8000, "{plan}");
        assert_eq!(plan.lower_bound_bytes(), 3 * 8000);
    }
    assert!(results.iter().all(|result| *result == results[0]));
    Ok(())
}

/// Four wide arrays, each of which a small one is made of. In the order of the recording all are there at one time.
#[program]
fn wide<'s>(scope: &'s Recording<'_>, x: &Vector<'_, f64>) -> dahl::Result<Scalar<'s, f64>> {
    let (a, b, c) = (exp_init(scope, x)?, relu_init(scope, x)?, neg_init(scope, x)?);
    let d = mul_init(scope, x, x)?;
    let sums = [&a, &b, &c, &d].map(|wide| sum_init(scope, wide));
    let [a, b, c, d] = sums;
    add_init(scope, &add_init(scope, &a?, &b?)?, &add_init(scope, &c?, &d?)?)
}

/// Schedulers that run the newest, the oldest or any task that is ready do not need more than the plan has.
#[test]
fn tight_plans_choose_an_order_and_hold_under_any_scheduler() -> dahl::Result<()> {
    let values: Vec<f64> = (0..1000).map(|i| f64::from(i) / 1e3 - 0.5).collect();
    let mut results = Vec::new();
    for (scheduler, workers) in [("ws", 1), ("eager", 3), ("random", 3), ("lws", 4)] {
        let rt = Runtime::builder().cpu_workers(workers).scheduler(scheduler).cuda_devices(0).build()?;
        let x = rt.from_vec([1000], values.clone())?;
        let mut plain = Wide::new(&rt).passes(Passes::none());
        let mut tight = Wide::new(&rt).passes(Passes::none()).tight();
        results.push(plain.call(&x)?.to_vec()?);
        for _ in 0..20 {
            results.push(tight.call(&x)?.to_vec()?);
        }
        let (plain, plan) = (plain.memory_plan(), tight.memory_plan());
        assert!(plain.peak_bytes() >= 4 * 8000, "{plain}");
        assert!(plan.peak_bytes() < 8000 + 16 * 64, "{plan}");
        assert!(plan.is_optimal() && plan.least_bytes() == plan.peak_bytes(), "{plan}");
        assert!(!plan.extra_edges().is_empty(), "{plan}");
        let peak = plan.peak_bytes();
        results.push(Wide::new(&rt).passes(Passes::none()).within(peak).call(&x)?.to_vec()?);
        let refused =
            Wide::new(&rt).passes(Passes::none()).within(peak - 1).call(&x).expect_err("too little");
        let text = refused.to_string();
        let fact = format!(
            "its arrays need {peak} bytes, which is the least possible: more than its limit of {}",
            peak - 1
        );
        assert!(text.contains("D0027") && text.contains(&fact), "{text}");
    }
    assert!(results.iter().all(|result| *result == results[0]));
    Ok(())
}
