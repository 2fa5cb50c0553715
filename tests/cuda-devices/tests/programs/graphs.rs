//! What becomes one graph, and what does not.

use dahl::ops::*;
use dahl::prelude::*;
use dahl::{Result, program};

use super::{graphs, in_seeds, numbers};

/// `sum(relu(x w + x))`; and adds `x` to `total`, and the softmax of `x w` to `rows` times -1/2.
#[program]
fn score<'s>(
    scope: &'s Recording<'_>,
    x: &Matrix<'_, f32>,
    w: &Matrix<'_, f32>,
    total: &mut Matrix<'_, f32>,
    rows: &mut Matrix<'_, f32>,
) -> Result<Scalar<'s, f32>> {
    add_self(total, x)?;
    let product = matmul_init(scope, x, w)?;
    axpy_self(&softmax_init(scope, &product, 1)?, rows, -0.5)?;
    sum_init(scope, &relu_init(scope, &add_init(scope, &product, x)?)?)
}

/// The same, submitted call by call.
fn score_by_task(
    rt: &Runtime,
    (x, w): (&Matrix<'_, f32>, &Matrix<'_, f32>),
    total: &mut Matrix<'_, f32>,
    rows: &mut Matrix<'_, f32>,
) -> Result<f32> {
    let arena = rt.arena();
    add_self(total, x)?;
    let product = matmul_init(&arena, x, w)?;
    axpy_self(&softmax_init(&arena, &product, 1)?, rows, -0.5)?;
    Ok(sum_init(&arena, &relu_init(&arena, &add_init(&arena, &product, x)?)?)?.to_vec()?[0])
}

#[test]
fn a_program_is_one_graph() {
    in_seeds(0..6, |rt, bed| {
        let mut score = Score::new(rt).passes(Passes::none());
        let array = |seed| rt.from_vec([9, 9], numbers(81, seed));
        let w = array(2)?;
        let (mut total, mut expected_total) = (array(3)?, array(3)?);
        let (mut rows, mut expected_rows) = (array(4)?, array(4)?);
        // Each call has another `x`, at another address.
        for call in 0..4 {
            let x = array(10 + call)?;
            let expected = score_by_task(rt, (&x, &w), &mut expected_total, &mut expected_rows)?;
            rt.wait()?;
            let before = bed.calls("launch");
            let actual = score.call(&x, &w, &mut total, &mut rows)?;
            rt.wait()?;
            if bed.is_fake() {
                assert_eq!(bed.calls("launch") - before, 1, "one launch for call {call}");
            }
            assert_eq!(actual.to_vec()?, [expected], "call {call}");
        }
        assert_eq!(total.to_vec()?, expected_total.to_vec()?);
        assert_eq!(rows.to_vec()?, expected_rows.to_vec()?);
        let reports = score.explain().iter().map(|report| report.to_string()).collect::<Vec<_>>().join("\n");
        assert!(reports.contains("device: 1 tasks"), "{reports}");
        let counts = graphs(rt);
        assert_eq!((counts.instantiated, counts.launches, counts.kept), (1, 4, 1), "{counts:?}");
        assert!(counts.updated > 0, "{counts:?}");
        drop(score);
        assert_eq!(graphs(rt).kept, 0);
        Ok(())
    });
}

/// Half of the rows of `x` are doubled, and the others squared, in parts.
#[program]
fn in_parts(_scope: &Recording<'_>, x: &mut Matrix<'_, f64>) -> Result<()> {
    let mut parts = x.partition_mut(Axis(0), 2)?;
    let [one, other] = parts.iter_mut().collect::<Vec<_>>().try_into().expect("there are two parts");
    scale_self(one, 2.0)?;
    square_self(other)
}

#[test]
fn parts_are_used_where_they_are() {
    in_seeds(0..4, |rt, _| {
        let mut in_parts = InParts::new(rt);
        let mut x = rt.from_vec([4, 32], numbers::<f64>(128, 1))?;
        let values = numbers::<f64>(128, 1);
        let expected = values.iter().enumerate().map(|(i, x)| if i < 64 { 2.0 * x } else { x * x });
        in_parts.call(&mut x)?;
        assert_eq!(x.to_vec()?, expected.collect::<Vec<_>>());
        assert_eq!(graphs(rt).launches, 1);
        Ok(())
    });
}

/// Zeros take the place of a value that is discarded, and a constant stays what it is.
#[program]
fn discards<'s>(
    scope: &'s Recording<'_>,
    x: &Vector<'_, f32>,
    sums: &mut Vector<'_, f32>,
) -> Result<Vector<'s, f32>> {
    sums.invalidate()?;
    add_self(sums, x)?;
    let constant = scope.arena().from_slice([4], &[1.0_f32, 2.0, 3.0, 4.0])?;
    let mut begun = scope.arena().zeros([4])?;
    add_self(&mut begun, &constant)?;
    add_init(scope, &begun, x)
}

#[test]
fn each_replay_begins_with_the_same_values() {
    in_seeds(0..4, |rt, _| {
        let mut discards = Discards::new(rt).passes(Passes::none());
        let x = rt.from_vec([4], vec![0.5_f32, 0.25, -1.0, 8.0])?;
        let mut sums = rt.from_vec([4], vec![7.0_f32; 4])?;
        for _ in 0..3 {
            assert_eq!(discards.call(&x, &mut sums)?.to_vec()?, [1.5, 2.25, 2.0, 12.0]);
            assert_eq!(sums.to_vec()?, [0.5, 0.25, -1.0, 8.0]);
        }
        assert_eq!(graphs(rt).launches, 3);
        Ok(())
    });
}

#[test]
fn the_memory_of_a_program_is_what_its_plan_says() {
    in_seeds(1..2, |rt, _| {
        let mut score = Score::new(rt).passes(Passes::none());
        let array = |seed| rt.from_vec([64, 64], numbers(64 * 64, seed));
        let (x, w, mut total, mut rows) = (array(1)?, array(2)?, array(3)?, array(4)?);
        let used = || {
            rt.memory().iter().find(|node| node.name.contains("cuda")).map_or(0, |node| node.current_bytes)
        };
        drop(score.call(&x, &w, &mut total, &mut rows)?);
        rt.wait()?;
        let with = used();
        let planned = score.memory_plan().peak_bytes();
        drop(score);
        rt.wait()?;
        let of_program = with - used();
        // Beside it: what kernels use for themselves, and the result.
        assert!((planned..planned + (64 << 10)).contains(&of_program), "{of_program} and {planned}");
        Ok(())
    });
}
