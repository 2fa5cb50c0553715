//! Programs on a device whose tasks fail, whose arguments have no value, or which the device cannot run.

use dahl::ops::*;
use dahl::prelude::*;
use dahl::{Result, program};

use super::{graphs, in_seeds, numbers};

/// The cross-entropy of `logits`; and twice `other`, which does not depend on it.
#[program]
fn losses<'s>(
    scope: &'s Recording<'_>,
    logits: &Matrix<'_, f32>,
    labels: &Vector<'_, u32>,
    other: &Vector<'_, f32>,
    sums: &mut Scalar<'_, f32>,
) -> Result<(Scalar<'s, f32>, Vector<'s, f32>)> {
    let loss = cross_entropy_init(scope, logits, labels, 0.25)?;
    add_self(sums, &loss)?;
    Ok((loss, scale_init(scope, other, 2.0)?))
}

#[test]
fn what_depends_on_a_failed_task_has_no_value_and_the_next_replay_has() {
    in_seeds(0..6, |rt, _| {
        let mut losses = Losses::new(rt).passes(Passes::none());
        let logits = rt.from_vec([4, 3], numbers(12, 1))?;
        let other = rt.from_vec([2], vec![1.0_f32, -3.0])?;
        let (right, wrong) =
            (rt.from_vec([4], vec![0_u32, 1, 2, 0])?, rt.from_vec([4], vec![0_u32, 7, 2, 0])?);
        let mut sums = rt.zeros([])?;
        let (loss, _) = losses.call(&logits, &right, &other, &mut sums)?;
        let expected = loss.to_vec()?;
        let (loss, doubled) = losses.call(&logits, &wrong, &other, &mut sums)?;
        let error = loss.to_vec().expect_err("a label is out of range").to_string();
        assert!(error.contains("cross_entropy") && error.contains("out of range"), "{error}");
        assert_eq!(doubled.to_vec()?, [2.0, -6.0], "it depends on nothing that failed");
        let error = sums.to_vec().expect_err("the loss was added to it").to_string();
        assert!(error.contains("out of range"), "{error}");
        // What has no value leaves nothing to add to: the tasks run one by one.
        let (loss, _) = losses.call(&logits, &right, &other, &mut sums)?;
        assert_eq!(loss.to_vec()?, expected);
        assert!(sums.to_vec().is_err());
        let mut sums = rt.zeros([])?;
        let (loss, _) = losses.call(&logits, &right, &other, &mut sums)?;
        assert_eq!((loss.to_vec()?, sums.to_vec()?), (expected.clone(), expected));
        assert_eq!(graphs_after_failure(rt), 3, "all but the call without a value");
        Ok(())
    });
}

/// The rows of `x` in two parts: those of `source` that each index says.
#[program]
fn selects(
    _scope: &Recording<'_>,
    source: &Matrix<'_, f32>,
    indices: &[Matrix<'_, u32>],
    x: &mut Matrix<'_, f32>,
) -> Result<()> {
    let mut parts = x.partition_mut(Axis(0), 2)?;
    parts.iter_mut().zip(indices).try_for_each(|(part, index)| gather(source, index, part, 0))
}

#[test]
fn a_failure_in_one_part_leaves_the_whole_array_without_a_value() {
    in_seeds(0..4, |rt, _| {
        let mut selects = Selects::new(rt);
        let source = rt.from_vec([3, 16], numbers(48, 1))?;
        let index = |value: u32| rt.from_vec([2, 16], vec![value; 32]);
        let mut x = rt.zeros([4, 16])?;
        selects.call(&source, &[index(1)?, index(2)?], &mut x)?;
        let rows = x.to_vec()?;
        assert_eq!(rows[..16], numbers::<f32>(48, 1)[16..32]);
        for indices in [[index(9)?, index(2)?], [index(1)?, index(9)?]] {
            let mut x = rt.zeros([4, 16])?;
            selects.call(&source, &indices, &mut x)?;
            let error = x.to_vec().expect_err("an index is out of range").to_string();
            assert!(error.contains("gather"), "{error}");
        }
        assert_eq!(graphs_after_failure(rt), 3);
        Ok(())
    });
}

/// The launches of graphs.
fn graphs_after_failure(rt: &Runtime) -> u64 {
    let _ = rt.wait(); // a task has failed
    rt.statistics().graphs[0].launches
}

#[test]
fn a_device_without_room_leaves_the_tasks_to_others() {
    let bed = crate::networks::Bed::new();
    if !bed.is_fake() {
        return;
    }
    bed.reset(1);
    let rt =
        Runtime::builder().cpu_workers(1).cuda_devices(1).cuda_limit_mb(0.01).build().expect("it can be had");
    let mut losses = Losses::new(&rt);
    let logits = rt.from_vec([400, 30], numbers(12_000, 1)).expect("there is room");
    let labels = rt.from_vec([400], vec![2_u32; 400]).expect("there is room");
    let other = rt.from_vec([2], vec![1.0_f32, -3.0]).expect("there is room");
    let mut sums = rt.zeros([]).expect("there is room");
    let (_, doubled) = losses.call(&logits, &labels, &other, &mut sums).expect("it is right");
    assert_eq!(doubled.to_vec().expect("nothing fails"), [2.0, -6.0]);
    assert!(sums.to_vec().expect("nothing fails")[0] > 0.0);
    assert_eq!(graphs(&rt).launches, 0);
}
