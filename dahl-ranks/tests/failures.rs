//! Ranks whose programs differ, that panic, or whose tasks fail: all ranks end, with the cause.

use dahl_core::{Runtime, RuntimeBuilder};

use crate::kernels::{V, mix, scale};

fn builder() -> RuntimeBuilder {
    Runtime::builder().cpu_workers(1).cuda_devices(0)
}

fn failure(ranks: usize, program: impl Fn(&Runtime) -> dahl_core::Result<()> + Sync) -> String {
    dahl_ranks::threads(ranks, 1, builder, program).expect_err("a rank fails").to_string()
}

#[test]
fn the_first_task_that_differs_is_named_with_both_lines() {
    let text = failure(3, |rt| {
        let (mut x, y): (V, V) = (rt.zeros([3])?, rt.zeros([3])?);
        scale(&mut x, 1.0, None)?;
        if rt.rank() == 1 {
            scale(&mut x, 2.0, None)?;
        } else {
            mix(&y, &y, &mut x, Some(1))?;
        }
        x.read().map(drop)
    });
    assert!(text.contains("the programs of the ranks differ"), "{text}");
    let (scale, mix) = (text.find("scale, submitted at"), text.find("mix, submitted at"));
    assert!(scale.is_some() && mix.is_some(), "{text}");
    // The two tasks, and the read that found out.
    assert_eq!(text.matches("failures.rs").count(), 3, "{text}");
}

#[test]
fn a_rank_that_ends_early_is_named() {
    let text = failure(2, |rt| {
        let mut x: V = rt.zeros([3])?;
        scale(&mut x, 1.0, Some(1))?;
        if rt.rank() == 0 { x.read().map(drop) } else { Ok(()) }
    });
    assert!(text.contains("read of array 0 at") && text.contains("wait at"), "{text}");
}

#[test]
fn the_others_end_with_the_cause_of_a_rank_that_panics() {
    let text = failure(3, |rt| {
        let (mut x, mut y): (V, V) = (rt.zeros([3])?, rt.zeros([3])?);
        if rt.rank() == 2 {
            std::panic::resume_unwind(Box::new("out of paper"));
        }
        scale(&mut x, 1.0, Some(2))?;
        // It waits for a value from the rank that has ended.
        mix(&x, &x, &mut y, Some(0))?;
        let error = y.read().map(drop).expect_err("a rank has failed");
        assert!(error.to_string().contains("rank 2 failed: out of paper"), "{error}");
        Err(error)
    });
    assert!(text.contains("out of paper"), "{text}");
}

#[test]
fn a_task_that_fails_has_no_value_on_any_rank() {
    let text = failure(3, |rt| {
        let (mut x, mut y): (V, V) = (rt.zeros([3])?, rt.zeros([3])?);
        scale(&mut x, 5000.0, Some(2))?;
        mix(&x, &x, &mut y, Some(1))?;
        let error = y.read().map(drop).expect_err("a task has failed");
        assert!(error.to_string().contains("too large"), "{error}");
        Err(error)
    });
    assert!(text.contains("too large"), "{text}");
}

#[test]
fn there_is_no_rank_beyond_the_last() {
    let text = failure(2, |rt| {
        let mut x: V = rt.zeros([3])?;
        scale(&mut x, 1.0, Some(2))
    });
    assert!(text.contains("there is no rank 2, but 2 from 0 on"), "{text}");
}

#[test]
fn the_owner_of_an_array_can_be_set() {
    let ran = std::sync::atomic::AtomicUsize::new(0);
    dahl_ranks::threads(3, 7, builder, |rt| {
        let mut x: V = rt.zeros([3])?;
        rt.set_owner(&x, 2)?;
        scale(&mut x, 1.0, None)?;
        rt.wait()?;
        let tasks = rt.statistics().tasks.completed;
        ran.fetch_add((tasks as usize) << (8 * rt.rank()), std::sync::atomic::Ordering::Relaxed);
        assert_eq!(x.to_vec()?, [1.0; 3]);
        Ok(())
    })
    .expect("no rank fails");
    assert_eq!(ran.into_inner(), 1 << 16, "only rank 2 has run it");
}
