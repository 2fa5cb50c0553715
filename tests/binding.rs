//! Workers that are bound to processors.

use dahl::prelude::*;
use dahl::{Binding, Result, Runtime, Topology};

/// The processors that this thread may run on, as the system reports them; `None` if it does not.
fn allowed() -> Option<String> {
    let status = std::fs::read_to_string("/proc/thread-self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?;
    Some(line.trim().to_owned())
}

/// The number of the one processor that the thread may run on; -1 if there are several.
#[codelet(W)]
fn processor(out: &mut [i64]) {
    out[0] = allowed().and_then(|list| list.parse().ok()).unwrap_or(-1);
}

/// The processor of each worker that is bound to one; -1 for others.
fn places(rt: &Runtime) -> Result<Vec<i64>> {
    (0..rt.workers())
        .map(|worker| {
            let mut out = rt.zeros([1])?;
            Processor::task(&mut out).on(worker).submit()?;
            Ok(out.to_vec()?[0])
        })
        .collect()
}

#[test]
fn each_worker_has_a_core_of_its_own() -> Result<()> {
    if allowed().is_none() {
        println!("not compared: there is no /proc/thread-self here");
        return Ok(());
    }
    let order = Topology::of_this_machine().binding_order();
    let rt = Runtime::builder().cpu_workers(order.len()).binding(Binding::Cores).build()?;
    let expected: Vec<i64> = order.iter().map(|&number| number as i64).collect();
    assert_eq!(places(&rt)?, expected);
    let infos: Vec<_> = rt.worker_infos().iter().map(|info| info.processor).collect();
    assert_eq!(infos, order.iter().copied().map(Some).collect::<Vec<_>>());
    let last = *order.last().expect("there is one");
    let rt = Runtime::builder().cpu_workers(1).binding(Binding::Processors(vec![last])).build()?;
    assert_eq!(places(&rt)?, [last as i64]);
    Ok(())
}

#[test]
fn processors_that_there_are_not_are_an_error() {
    let build = |workers: usize, binding: Binding| {
        Runtime::builder().cpu_workers(workers).binding(binding).build().unwrap_err().to_string()
    };
    let error = build(1, Binding::Processors(vec![60_000]));
    let expected = "D0010: binding = `60000`: expected processors that there are, which 60000 is not; this process may use ";
    assert!(error.starts_with(expected), "{error}");
    let count = Topology::of_this_machine().processors().len();
    let error = build(count + 1, Binding::Cores);
    let expected =
        format!("D0010: binding = `cores`: expected a processor for each of the {} CPU workers", count + 1);
    assert!(error.starts_with(&expected), "{error}");
}
