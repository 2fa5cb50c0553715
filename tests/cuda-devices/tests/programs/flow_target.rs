//! Where a program with loops runs under a scheduler that compares durations.

use dahl::Result;
use dahl::prelude::*;

use super::flow::{CountDown, of_call};
use crate::networks::Bed;

/// A loop of many rounds takes longer as a graph than one of few rounds elsewhere, which says nothing of either.
#[test]
fn the_rounds_of_a_loop_do_not_decide_where_a_program_runs() -> Result<()> {
    let bed = Bed::new();
    bed.reset_with(0, "");
    let rt = match Runtime::builder().cpu_workers(1).cuda_devices(1).scheduler("dmda").build() {
        Ok(rt) => rt,
        Err(error) if !bed.is_fake() => {
            eprintln!("not tested: {error}");
            return Ok(());
        }
        Err(error) => return Err(error),
    };
    let mut count_down = CountDown::new(&rt).passes(Passes::none());
    let (one, step) = (rt.from_vec([], vec![1.0_f32])?, rt.from_vec([1], vec![1.0_f32])?);
    for rounds in [300, 300, 300, 0, 1, 2, 0, 1, 2, 300] {
        let (mut x, mut left) = (rt.zeros([1])?, rt.from_vec([], vec![rounds as f32])?);
        let [launches, ..] = of_call(&rt, &bed, || count_down.call(&one, &step, &mut left, &mut x))?;
        assert_eq!(x.to_vec()?, [rounds as f32]);
        if bed.is_fake() {
            assert_eq!(launches, 1, "{rounds} rounds");
        }
    }
    drop((one, step));
    drop(count_down);
    drop(rt);
    assert_eq!(bed.findings(), "");
    Ok(())
}
