//! Ranks whose programs differ, that panic, or whose tasks fail: all ranks end, with the cause.

use dahl_core::ndarray::Axis;
use dahl_core::{Runtime, RuntimeBuilder};

use super::kernels::{V, mix, scale};
use crate::launch::on_ranks;

fn builder() -> RuntimeBuilder {
    Runtime::builder().cpu_workers(1).cuda_devices(0)
}

/// The failure, unless there are too few ranks.
fn failure(ranks: usize, program: impl Fn(&Runtime) -> dahl_core::Result<()> + Sync) -> Option<String> {
    Some(on_ranks(ranks, 1, builder, program)?.expect_err("a rank fails").to_string())
}

pub(crate) fn the_first_task_that_differs_is_named_with_both_lines() {
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
    let Some(text) = text else { return };
    assert!(text.contains("the programs of the ranks differ"), "{text}");
    let (scale, mix) = (text.find("scale, submitted at"), text.find("mix, submitted at"));
    assert!(scale.is_some() && mix.is_some(), "{text}");
    // The two tasks, and the read that found out.
    assert_eq!(text.matches("failures.rs").count(), 3, "{text}");
}

pub(crate) fn arguments_that_differ_are_an_error() {
    let text = failure(2, |rt| {
        let mut x: V = rt.zeros([3])?;
        scale(&mut x, 1.0, None)?;
        scale(&mut x, rt.rank() as f32, None)?;
        x.read().map(drop)
    });
    let Some(text) = text else { return };
    assert!(text.contains("scale, submitted at"), "{text}");
    assert!(text.contains("with other arrays, shapes, arguments or ranks"), "{text}");
}

pub(crate) fn a_rank_that_ends_early_is_named() {
    let text = failure(2, |rt| {
        let mut x: V = rt.zeros([3])?;
        scale(&mut x, 1.0, Some(1))?;
        if rt.rank() == 0 { x.read().map(drop) } else { Ok(()) }
    });
    let Some(text) = text else { return };
    assert!(text.contains("read of array 0 at") && text.contains("wait at"), "{text}");
}

pub(crate) fn the_others_end_with_the_cause_of_a_rank_that_panics() {
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
    let Some(text) = text else { return };
    assert!(text.contains("out of paper"), "{text}");
}

pub(crate) fn a_task_that_fails_has_no_value_on_any_rank() {
    let text = failure(3, |rt| {
        let (mut x, mut y): (V, V) = (rt.zeros([3])?, rt.zeros([3])?);
        scale(&mut x, 5000.0, Some(2))?;
        mix(&x, &x, &mut y, Some(1))?;
        let error = y.read().map(drop).expect_err("a task has failed");
        assert!(error.to_string().contains("too large"), "{error}");
        Err(error)
    });
    let Some(text) = text else { return };
    assert!(text.contains("too large"), "{text}");
}

pub(crate) fn a_rank_that_cannot_take_pieces_lets_their_sender_end() {
    let results = on_ranks(2, 1, builder, |rt| {
        let (mut x, zeros): (V, V) = (rt.zeros([6000])?, rt.zeros([6000])?);
        scale(&mut x, 5000.0, Some(0))?;
        let error = x.read().map(drop).expect_err("a task has failed");
        assert!(error.to_string().contains("too large"), "{error}");
        let _ = rt.wait();
        // The owner has a value again. The other rank keeps the failure, and is sent two pieces.
        mix(&zeros, &zeros, &mut x, Some(0))?;
        {
            let mut parts = x.partition_mut(Axis(0), 3000)?;
            for part in 0..parts.len() {
                scale(&mut parts[part], 1.0, Some(0))?;
            }
        }
        let read = x.to_vec();
        match rt.rank() {
            0 => assert_eq!(read?, [1.0; 6000]),
            _ => drop(read),
        }
        let _ = rt.wait();
        Ok(())
    });
    results.map(|results| results.expect("no rank waits for ever"));
}

pub(crate) fn there_is_no_rank_beyond_the_last() {
    let text = failure(2, |rt| {
        let mut x: V = rt.zeros([3])?;
        scale(&mut x, 1.0, Some(2))
    });
    let Some(text) = text else { return };
    assert!(text.contains("there is no rank 2, but 2 from 0 on"), "{text}");
}

pub(crate) fn the_owner_of_an_array_can_be_set() {
    let results = on_ranks(3, 7, builder, |rt| {
        let mut x: V = rt.zeros([3])?;
        rt.set_owner(&x, 2)?;
        scale(&mut x, 1.0, None)?;
        rt.wait()?;
        assert_eq!(rt.statistics().tasks.completed > 0, rt.rank() == 2, "only rank 2 has run it");
        assert_eq!(x.to_vec()?, [1.0; 3]);
        Ok(())
    });
    if let Some(results) = results {
        results.expect("no rank fails");
    }
}
