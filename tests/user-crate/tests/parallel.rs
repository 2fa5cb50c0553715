//! Kernels on several cores, declared in a user's crate: every one that promises equal bits has them.

use dahl::prelude::*;
use dahl::{Result, TeamPolicy};
use user_crate::{Norm, norm_init, witch_init, witch_self};

fn numbers<T: Real>(count: usize) -> Vec<T> {
    (0..count).map(|i| T::from_f64((i * 7919 % 4001) as f64 / 1000.3 - 2.0)).collect()
}

/// The results of every kernel that promises equal bits, as text, which shows every bit.
fn results<T: Real>(rt: &Runtime) -> Result<Vec<String>> {
    let arena = rt.arena();
    let mut results = Vec::new();
    for len in [1, 5_000, 40_001] {
        let mut x = arena.from_slice([len], &numbers::<T>(len))?;
        results.push(format!("{:?}", norm_init(&arena, &x)?.to_vec()?));
        for kernel in ["rust", "norm_by_two", "norm_of_parts"] {
            let mut out = arena.zeros([])?;
            Norm::task(&x, &mut out).kernel(kernel).submit()?;
            results.push(format!("{:?}", out.to_vec()?));
        }
        results.push(format!("{:?}", witch_init(&arena, &x)?.to_vec()?));
        witch_self(&mut x)?;
        results.push(format!("{:?}", x.to_vec()?));
    }
    Ok(results)
}

fn same_bits<T: Real>() -> Result<()> {
    let expected = results::<T>(&Runtime::builder().cpu_workers(1).kernels("first").build()?)?;
    for norms in expected.chunks(6) {
        assert!(norms[1..4].iter().all(|norm| *norm == norms[0]), "{:?}", &norms[..4]);
    }
    for workers in 1..=4 {
        for teams in [TeamPolicy::Always, TeamPolicy::Measured, TeamPolicy::Never] {
            let rt = Runtime::builder().cpu_workers(workers).teams(teams).build()?;
            for _ in 0..3 {
                assert!(results::<T>(&rt)? == expected, "{}: {workers} workers, {teams:?}", T::NAME);
            }
        }
    }
    Ok(())
}

#[test]
fn equal_kernels_are_equal() -> Result<()> {
    same_bits::<f32>()?;
    same_bits::<f64>()?;
    same_bits::<bf16>()
}

#[test]
fn by_default_only_they_are_candidates() -> Result<()> {
    let rt = Runtime::builder().cpu_workers(2).kernels("equal").build()?;
    let arena = rt.arena();
    let x = arena.from_slice([50_000], &numbers::<f32>(50_000))?;
    for _ in 0..60 {
        norm_init(&arena, &x)?;
        rt.wait()?;
    }
    let choices = rt.kernel_choices();
    let row = choices.rows.iter().find(|row| row.codelet == "norm").expect("it has a choice");
    let mut measured: Vec<_> =
        row.trials.iter().filter(|trial| !trial.late).map(|trial| trial.kernel).collect();
    measured.dedup();
    assert_eq!(measured, ["rust", "norm_by_two", "norm_of_parts", "rust", "norm_of_parts"], "{choices}");
    Ok(())
}
