//! Programs with many tasks between meetings: the ranks compare them in rounds, and keep two rounds at most.

use dahl_core::ranks::Kept;
use dahl_core::{Runtime, RuntimeBuilder};

use super::kernels::{V, mix, scale};
use crate::launch::on_ranks;

/// The tasks of a round, and what a rank keeps at most.
const ROUND: usize = Kept::ROUND;
const MOST: usize = 2 * ROUND;

fn builder() -> RuntimeBuilder {
    Runtime::builder().cpu_workers(1).cuda_devices(0)
}

/// Tasks of rank 1 on an array that is made for each few of them.
fn tasks(rt: &Runtime, count: usize) -> dahl_core::Result<V> {
    let mut x: V = rt.zeros([1])?;
    for task in 0..count {
        if task % 100 == 0 {
            x = rt.zeros([1])?;
        }
        scale(&mut x, 1.0, Some(1))?;
    }
    Ok(x)
}

/// Rank 0 neither runs these tasks nor has their arrays. What it keeps of them is the same if there are two rounds more.
pub(crate) fn what_a_rank_keeps_does_not_grow() {
    let kept = |count: usize| {
        on_ranks(2, 1, builder, |rt| {
            let _last = tasks(rt, count)?;
            Ok(rt.kept_of_ranks().map(|kept| (kept.submissions, kept.arrays)))
        })
    };
    let of_rank_0 = |count| Some(kept(count)?.expect("no rank fails")[0].expect("there are ranks"));
    // Every process begins every run.
    let [few, many] = [0, 2].map(|rounds| of_rank_0(MOST + 5000 + rounds * ROUND));
    let Some((submissions, arrays)) = few else { return };
    assert_eq!(many, few);
    assert_eq!(submissions, ROUND + 5000, "a round that has ended, and what came after it");
    assert_eq!(arrays, 1, "the last one");
}

/// No rank reads a value: the difference is an error of a submission.
pub(crate) fn a_difference_is_found_without_a_meeting() {
    let ran = on_ranks(3, 1, builder, |rt| {
        let (mut x, y): (V, V) = (rt.zeros([1])?, rt.zeros([1])?);
        for task in 0..10 * ROUND {
            if task == 5 && rt.rank() == 1 {
                mix(&y, &y, &mut x, Some(1))?;
            } else {
                scale(&mut x, 1.0, Some(1))?;
            }
            assert!(task < MOST, "rank {} goes on for ever", rt.rank());
        }
        Ok(())
    });
    let Some(ran) = ran else { return };
    let text = ran.expect_err("the programs differ").to_string();
    assert!(text.contains("the programs of the ranks differ"), "{text}");
    assert!(text.contains("scale, submitted at") && text.contains("mix, submitted at"), "{text}");
}

/// The last round of one rank ends at a meeting, that of another later.
pub(crate) fn a_program_that_ends_early_differs_in_a_round() {
    let ran = on_ranks(2, 1, builder, |rt| tasks(rt, ROUND + 10 + rt.rank() * MOST).map(drop));
    let Some(ran) = ran else { return };
    let text = ran.expect_err("the programs differ").to_string();
    assert!(text.contains("the programs of the ranks differ"), "{text}");
    assert!(text.contains("scale, submitted at") && text.contains("wait at"), "{text}");
}
