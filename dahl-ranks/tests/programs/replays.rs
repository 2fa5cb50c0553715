//! Programs that are recorded and replayed: a replay is one task of a rank.

use dahl::ops::{add_init, mul_init, sub_init, sum_init};
use dahl::prelude::*;
use dahl_core::CodeletStatistics;

use super::kernels::{V, mix, scale};
use crate::launch::on_ranks;

fn builder() -> dahl::RuntimeBuilder {
    Runtime::builder().cpu_workers(1).cuda_devices(0)
}

/// `total = 0.7 total + add`, and `sum(x w + total)`.
#[program]
fn score<'s>(
    scope: &'s Recording<'_>,
    x: &Vector<'_, f32>,
    w: &Vector<'_, f32>,
    total: &mut Vector<'_, f32>,
    add: f32,
) -> dahl::Result<Scalar<'s, f32>> {
    scale(total, add, None)?;
    sum_init(scope, &add_init(scope, &mul_init(scope, x, w)?, total)?)
}

/// Calls of a program between tasks, all of them on changing ranks: the values, and how many tasks ran here.
fn train(rt: &Runtime) -> dahl::Result<(Vec<u32>, u64)> {
    let (x, mut w): (V, V) = (rt.from_vec([4], vec![1.0, -2.0, 3.5, 0.25])?, rt.from_vec([4], vec![0.3; 4])?);
    let mut totals: [V; 2] = [rt.zeros([4])?, rt.zeros([4])?];
    let mut values = Vec::new();
    let mut score = Score::new(rt);
    for call in 0..12 {
        let total = &mut totals[call % 2];
        let loss = match call % 3 {
            // Where `total` is owned.
            0 => score.call(&x, &w, total, 0.5)?,
            _ => rt.on_rank(call % rt.ranks(), || score.call(&x, &w, total, 0.5))?,
        };
        mix(&totals[0], &totals[1], &mut w, Some((call + 1) % rt.ranks()))?;
        if call % 4 == 3 {
            values.extend(loss.to_vec()?);
        }
    }
    assert_eq!((score.recordings(), score.replays()), (1, 11), "every rank records, and once");
    for total in &totals {
        values.extend(total.to_vec()?);
    }
    values.extend(w.to_vec()?);
    rt.wait()?;
    let is_of_program = |of: &&CodeletStatistics| !of.module.ends_with("message") && of.codelet != "score";
    let tasks = rt.statistics().codelets.iter().filter(is_of_program).map(|of| of.count).sum();
    Ok((values.into_iter().map(f32::to_bits).collect(), tasks))
}

pub(crate) fn replays_have_the_bits_of_one_runtime() {
    let rt = builder().build().expect("a runtime");
    let (expected, _) = train(&rt).expect("every call is right");
    // On this network: a simulated machine fuses less.
    let mut of_one_rank = None;
    for ranks in [1, 2, 3, 4] {
        let Some(ran) = on_ranks(ranks, ranks as u64, builder, train) else { continue };
        let ran = ran.expect("no rank fails");
        ran.iter().for_each(|(values, _)| assert_eq!(*values, expected, "{ranks} ranks"));
        if ran.len() == ranks {
            let all: u64 = ran.iter().map(|(_, tasks)| tasks).sum();
            assert_eq!(
                all,
                *of_one_rank.get_or_insert(all),
                "{ranks} ranks: each replay runs on one of them"
            );
        }
    }
}

/// `x + .. + x`, as often as the plain value says.
#[program]
fn doubled<'s>(scope: &'s Recording<'_>, x: &Vector<'_, f32>, times: u32) -> dahl::Result<Vector<'s, f32>> {
    let mut sum = add_init(scope, x, x)?;
    for _ in 1..times {
        sum = add_init(scope, &sum, x)?;
    }
    mul_init(scope, &sum, x)
}

pub(crate) fn recordings_that_differ_name_the_first_task() {
    let ran = on_ranks(2, 1, builder, |rt| {
        let x: V = rt.zeros([3])?;
        let sum = Doubled::new(rt).call(&x, 2 + rt.rank() as u32)?;
        sum.read().map(drop)
    });
    let Some(ran) = ran else { return };
    let text = ran.expect_err("the recordings differ").to_string();
    assert!(text.contains("the programs of the ranks differ"), "{text}");
    assert!(text.contains("mul, submitted at") && text.contains("add, submitted at"), "{text}");
}

/// All ranks have both recordings, and call different ones.
pub(crate) fn calls_that_differ_are_named() {
    let ran = on_ranks(2, 1, builder, |rt| {
        let x: V = rt.zeros([3])?;
        let mut doubled = Doubled::new(rt);
        for times in [2, 3, 2 + rt.rank() as u32] {
            doubled.call(&x, times)?;
        }
        let sum = doubled.call(&x, 2)?;
        sum.read().map(drop)
    });
    let Some(ran) = ran else { return };
    let text = ran.expect_err("the third calls differ").to_string();
    assert!(text.contains("doubled, submitted at"), "{text}");
    assert!(text.contains("with other arrays, shapes, arguments or ranks"), "{text}");
}

/// `x - y`, or `y - x`: the same task on other arrays.
#[program]
fn difference<'s>(
    scope: &'s Recording<'_>,
    x: &Vector<'_, f32>,
    y: &Vector<'_, f32>,
    is_turned: bool,
) -> dahl::Result<Vector<'s, f32>> {
    let (x, y) = if is_turned { (y, x) } else { (x, y) };
    sub_init(scope, x, y)
}

pub(crate) fn recordings_of_other_arguments_name_the_task() {
    let ran = on_ranks(2, 1, builder, |rt| {
        let (x, y): (V, V) = (rt.zeros([3])?, rt.zeros([3])?);
        let of_both = Difference::new(rt).call(&x, &y, rt.rank() == 1)?;
        of_both.read().map(drop)
    });
    let Some(ran) = ran else { return };
    let text = ran.expect_err("one rank subtracts x from y").to_string();
    assert!(text.contains("sub, submitted at") && text.contains("with other arrays"), "{text}");
}

/// What a replay reads of a sharded array comes for it, and goes after it.
pub(crate) fn sharded_arguments_come_for_a_replay() {
    let ran = on_ranks(2, 1, builder, |rt| {
        let (arena, mut x): (_, V) = (rt.arena(), rt.from_vec([4096], vec![1.5; 4096])?);
        rt.set_owner(&x, 0)?;
        scale(&mut x, 0.5, None)?;
        arena.set_sharded(&mut x, true);
        let before = rt.sent_messages();
        let mut doubled = Doubled::new(rt);
        for _ in 0..3 {
            rt.on_rank(1, || doubled.call(&x, 1))?;
        }
        let sent = rt.sent_messages();
        Ok((sent.count - before.count, sent.bytes - before.bytes, doubled.call(&x, 1)?.to_vec()?[7]))
    });
    let Some(ran) = ran else { return };
    let ran = ran.expect("no rank fails");
    ran.iter().for_each(|(.., value)| assert_eq!(*value, 2.0 * 1.55 * 1.55));
    if let [(3, bytes, _), _] = ran[..] {
        assert_eq!(bytes, 3 * 4 * 4096, "each replay receives it");
    } else {
        assert_eq!(ran.len(), 1, "rank 0 sends it three times: {ran:?}");
    }
}

/// `x` on a rank, in a program.
#[program]
fn placed(_scope: &Recording<'_>, x: &mut Vector<'_, f32>, rank: usize) -> dahl::Result<()> {
    scale(x, 1.0, Some(rank))
}

pub(crate) fn no_task_of_a_program_is_placed() {
    for rank in [0, 1] {
        let ran = on_ranks(2, 1, builder, |rt| {
            let mut x: V = rt.zeros([3])?;
            Placed::new(rt).call(&mut x, rank)
        });
        let Some(ran) = ran else { continue }; // every process begins every run
        let text = ran.expect_err("a program runs on one rank").to_string();
        assert!(text.contains("scale: a program runs on one rank"), "{text}");
    }
}

/// A value that a kernel refuses.
#[program]
fn fails<'s>(scope: &'s Recording<'_>, x: &mut Vector<'_, f32>) -> dahl::Result<Scalar<'s, f32>> {
    scale(x, 5000.0, None)?;
    sum_init(scope, x)
}

pub(crate) fn a_task_of_a_replay_that_fails_has_no_value_on_any_rank() {
    let ran = on_ranks(3, 1, builder, |rt| {
        let mut x: V = rt.zeros([3])?;
        let sum = rt.on_rank(1, || Fails::new(rt).call(&mut x))?;
        let error = sum.to_vec().expect_err("a task has failed");
        assert!(error.to_string().contains("too large"), "{error}");
        Err::<(), _>(error)
    });
    let Some(ran) = ran else { return };
    let text = ran.expect_err("a task has failed").to_string();
    assert!(text.contains("too large"), "{text}");
}
