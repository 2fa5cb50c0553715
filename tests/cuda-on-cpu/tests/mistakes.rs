//! Mistakes in kernels that a run on the CPU finds.

use cuda_on_cpu::kernel;
use dahl::ops;
use dahl::prelude::*;
use dahl::testing::submit_to;

/// The failure of a kernel that is to copy `len` numbers.
fn failure_of_copy(name: &str, len: usize) -> String {
    let rt = Runtime::builder().cpu_workers(1).build().unwrap();
    let numbers: Vec<f32> = (0..len).map(|i| i as f32 + 1.0).collect();
    let input = rt.from_vec([len], numbers).unwrap();
    let mut out: Vector<f32> = rt.zeros([len]).unwrap();
    submit_to(ops::codelets::Copy::task(&input, &mut out), &kernel(name, &["f32"])[0]).unwrap();
    match out.to_vec() {
        Ok(_) => String::new(),
        Err(error) => error.to_string(),
    }
}

#[track_caller]
fn assert_says(failure: &str, parts: &[&str]) {
    for part in parts {
        assert!(failure.contains(part), "`{part}` is not in: {failure}");
    }
}

#[test]
fn a_barrier_that_lacks() {
    assert_says(&failure_of_copy("lacks_barrier", 100), &["lacks_barrier", "other bits"]);
    assert_says(&failure_of_copy("lacks_last_barrier", 200), &["lacks_last_barrier", "other bits"]);
    assert_eq!(failure_of_copy("has_barrier", 100), "");
}

#[test]
fn barriers_that_differ() {
    let failure = failure_of_copy("barriers_in_branches", 100);
    let parts = [
        "barriers_in_branches",
        "different barriers",
        "32 (thread 0 and others) at mistakes.cu:",
        "32 (thread 1 and others)",
    ];
    assert_says(&failure, &parts);
}

#[test]
fn threads_that_end_before_a_barrier() {
    let failure = failure_of_copy("ends_before_barrier", 9);
    assert_says(
        &failure,
        &["different barriers", "9 (thread 0 and others) at mistakes.cu:", "55 (thread 9 and others) ended"],
    );
}

#[test]
fn a_shuffle_in_which_some_take_no_part() {
    assert_says(
        &failure_of_copy("shuffle_of_some", 9),
        &["different barriers", "7 (thread 0 and others) in a warp", "25 (thread 7 and others) ended"],
    );
}

#[test]
fn an_index_out_of_bounds() {
    let failure = failure_of_copy("one_too_far", 9);
    assert_says(
        &failure,
        &["one_too_far", "thread (9, 0, 0)", "index 9 of axis 0 is not below the extent 9"],
    );
}

#[test]
fn blocks_that_depend_on_each_other() {
    assert_says(&failure_of_copy("reads_other_block", 2), &["other bits"]);
}

#[test]
fn floats_added_in_any_order() {
    let rt = Runtime::builder().cpu_workers(1).build().unwrap();
    let numbers: Vec<f32> = (0..64).map(|i| if i == 0 { 1.0e8 } else { 1.0 + i as f32 }).collect();
    let input = rt.from_vec([64], numbers).unwrap();
    let mut out: Scalar<f32> = rt.zeros([]).unwrap();
    submit_to(ops::codelets::Sum::task(&input, &mut out), &kernel("atomic_sum", &["f32"])[0]).unwrap();
    assert_says(&out.to_vec().unwrap_err().to_string(), &["atomic_sum", "other bits"]);
}

#[test]
fn an_index_or_label_out_of_range() {
    let rt = Runtime::builder().cpu_workers(1).build().unwrap();
    let input = rt.from_vec([3, 2], vec![1.0_f32; 6]).unwrap();
    let indices = rt.from_vec([4], vec![0_u32, 2, 3, 9]).unwrap();
    let mut rows: Matrix<f32> = rt.zeros([4, 2]).unwrap();
    submit_to(
        ops::codelets::GatherRows::task(&input, &indices, &mut rows),
        &kernel("gather_rows", &["f32"])[0],
    )
    .unwrap();
    assert_says(&rows.to_vec().unwrap_err().to_string(), &["gather_rows", "at 2 is out of range"]);

    for label in [-1_i64, 2] {
        let labels = rt.from_vec([3], vec![0, 1, label]).unwrap();
        let mut loss: Scalar<f32> = rt.zeros([]).unwrap();
        let task = ops::codelets::CrossEntropy::task(&input, &labels, &mut loss, 1.0);
        submit_to(task, &kernel("cross_entropy", &["f32", "i64"])[0]).unwrap();
        assert_says(&loss.to_vec().unwrap_err().to_string(), &["cross_entropy", "at 2 is out of range"]);
    }
}
