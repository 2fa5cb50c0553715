//! The workers of the tasks that a reduction adds to the submitted ones.

use std::num::NonZeroUsize;

use dahl::ops::codelets::SumAxis;
use dahl::prelude::*;
use dahl::{Result, Task, f16};

use super::{CPU, in_seeds, numbers};

/// The sums along the columns of five matrices; `send` chooses the worker of each contribution.
fn sums(rt: &Runtime, send: impl for<'t> Fn(Task<'t>, usize) -> Task<'t>) -> Result<Vec<f16>> {
    let mut out: Matrix<'_, f16> = rt.from_vec([1, 3], numbers(3, 1))?;
    out.set_leaf_len(NonZeroUsize::MIN);
    for i in 0..5 {
        let x: Matrix<'_, f16> = rt.from_vec([4, 3], numbers(12, i))?;
        send(SumAxis::task(&x, &mut out, 0), i).submit()?;
    }
    out.to_vec()
}

/// The kernels that combined contributions, each with the number of calls on the CPU and elsewhere.
fn added(rt: &Runtime) -> Result<Vec<(String, [u64; 2])>> {
    rt.wait()?;
    let models = rt.performance_models();
    let on = |kernel: &str, is_cpu: bool| {
        let rows = models.iter().filter(|row| row.kernel == kernel && (row.worker_kind == "cpu") == is_cpu);
        rows.map(|row| row.count).sum::<u64>()
    };
    Ok(["fold", "finish"].map(|kernel| (kernel.to_owned(), [on(kernel, true), on(kernel, false)])).into())
}

#[test]
fn contributions_are_combined_where_they_were_sent() {
    in_seeds(|rt, device, _| {
        let found = sums(rt, |task, _| task.on(device))?;
        assert_eq!(added(rt)?, [("fold".to_owned(), [0, 4]), ("finish".to_owned(), [0, 1])]);
        let home = rt.transfers().iter().filter(|total| total.to == 0).map(|total| total.count).sum::<u64>();
        assert_eq!(home, 1, "the sums, when they are read");
        assert_eq!(found, sums(rt, |task, _| task.on(CPU))?);
        assert_eq!(added(rt)?, [("fold".to_owned(), [4, 4]), ("finish".to_owned(), [1, 1])]);
        let kind = &rt.worker_infos()[device].kind;
        assert_eq!(found, sums(rt, |task, _| task.on_kind(kind))?);
        assert_eq!(added(rt)?, [("fold".to_owned(), [4, 8]), ("finish".to_owned(), [1, 2])]);
        Ok(())
    });
}

#[test]
fn contributions_of_several_workers_are_combined_anywhere() {
    in_seeds(|rt, device, _| {
        let found = sums(rt, |task, i| task.on([device, CPU][i % 2]))?;
        let added: u64 = added(rt)?.iter().flat_map(|(_, counts)| counts).sum();
        assert_eq!(added, 5);
        assert_eq!(found, sums(rt, |task, _| task.on(CPU))?);
        Ok(())
    });
}
