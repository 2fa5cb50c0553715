//! What fails on a device, and what goes on.

use crate::bed::{Bed, UNLUCKY, add, add_on_cpu, builder, cuda, in_seeds, scale};

#[test]
fn a_kernel_says_itself_that_it_failed() {
    in_seeds(1, || {
        let rt = builder().build().expect("it can be had");
        let mut x = rt.zeros([1, 4]).expect("it can be had");
        let mut other = rt.zeros([1, 4]).expect("it can be had");
        scale(&mut x, UNLUCKY, cuda(0)).expect("it is right");
        scale(&mut other, 1, cuda(0)).expect("it is right");
        add(&other, &mut x, cuda(0)).expect("it is right");
        let error = x.to_vec().expect_err("it failed").to_string();
        assert!(error.contains("scale: its kernel failed on cuda 0"), "{error}");
        assert!(error.contains("the index or label at 0 is out of range"), "{error}");
        assert_eq!(other.to_vec().expect("nothing failed"), [1; 4]);
    });
}

#[test]
fn a_launch_that_is_refused_fails_its_task_alone() {
    // Error 701: too many resources requested for launch.
    let Some(bed) = Bed::new("fail=launch:1=701") else { return };
    let rt = builder().build().expect("it can be had");
    let one = rt.from_vec([1, 4], vec![1; 4]).expect("it can be had");
    let mut x = rt.zeros([1, 4]).expect("it can be had");
    let mut other = rt.zeros([1, 4]).expect("it can be had");
    add(&one, &mut x, cuda(0)).expect("it is right");
    add(&one, &mut other, cuda(0)).expect("it is right");
    let error = x.to_vec().expect_err("it failed").to_string();
    assert!(error.contains("cuLaunchKernel") && error.contains("add"), "{error}");
    assert_eq!(other.to_vec().expect("nothing failed"), [1; 4]);
    drop((one, x, other, rt));
    assert_eq!(bed.findings(), "");
}

#[test]
fn the_run_goes_on_without_a_lost_device() {
    for seed in 0..8 {
        let Some(_bed) = Bed::new(&format!("seed={seed} devices=2 fail=fault:2")) else { return };
        let rt = builder().build().expect("it can be had");
        let one = rt.from_vec([1, 4], vec![1; 4]).expect("it can be had");
        let mut x = rt.zeros([1, 4]).expect("it can be had");
        let mut y = rt.zeros([1, 4]).expect("it can be had");
        add(&one, &mut x, cuda(0)).expect("it is right");
        add(&one, &mut x, cuda(0)).expect("it is right");
        let error = x.to_vec().expect_err("the second kernel met a fault").to_string();
        assert!(error.contains("cuda 0"), "seed {seed}: {error}");
        let _ = rt.wait();
        // What the device did not have alone is there still, and who is left goes on.
        add(&one, &mut y, cuda(1)).expect("it is right");
        add_on_cpu(&one, &mut y).expect("it is right");
        assert_eq!(y.to_vec().expect("nothing failed"), [2; 4]);
        let refused = add(&one, &mut y, cuda(0)).expect_err("it is lost").to_string();
        assert!(refused.contains("cannot run it"), "{refused}");
        while rt.wait().is_err() {}
    }
}

#[test]
fn work_for_any_worker_goes_on_where_a_device_is_lost() {
    for seed in 0..8 {
        let Some(_bed) = Bed::new(&format!("seed={seed} fail=fault:3")) else { return };
        let rt = builder().build().expect("it can be had");
        let one = rt.from_vec([1, 4], vec![1; 4]).expect("it can be had");
        let sums: Vec<_> = (0..40)
            .map(|_| {
                let mut x = rt.zeros([1, 4]).expect("it can be had");
                crate::bed::add_anywhere(&one, &mut x).expect("it is right");
                x
            })
            .collect();
        let results: Vec<_> = sums.iter().map(|x| x.to_vec()).collect();
        assert!(results.iter().flatten().all(|x| *x == [1; 4]), "seed {seed}");
        assert!(results.iter().filter(|result| result.is_ok()).count() >= 30, "seed {seed}: most go on");
        while rt.wait().is_err() {}
    }
}

#[test]
fn an_error_that_the_bindings_do_not_know_loses_the_device_and_is_said_by_number() {
    // No release of CUDA has had it: a newer one may return what dahl was not built with.
    let Some(_bed) = Bed::new("fail=launch:1=54321") else { return };
    let rt = builder().build().expect("it can be had");
    let one = rt.from_vec([1, 4], vec![1; 4]).expect("it can be had");
    let mut x = rt.zeros([1, 4]).expect("it can be had");
    add(&one, &mut x, cuda(0)).expect("it is right");
    let error = x.to_vec().expect_err("it failed").to_string();
    assert!(error.contains("cuLaunchKernel: error 54321"), "{error}");
    let refused = add(&one, &mut x, cuda(0)).expect_err("the device is lost").to_string();
    assert!(refused.contains("cannot run it"), "{refused}");
    while rt.wait().is_err() {}
}
