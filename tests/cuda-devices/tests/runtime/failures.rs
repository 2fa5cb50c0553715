//! Failures of a device, and what continues to work.

use crate::runtime::bed::{Bed, UNLUCKY, add, add_on_cpu, builder, cuda, fill, in_seeds, scale};

/// Memory on each device for two arrays of eight numbers, in units of 2^20 bytes.
const TWO_ARRAYS: f64 = 128.0 / (1 << 20) as f64;

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
fn a_kernel_that_may_still_write_its_verdict_has_the_memory_for_it() {
    let Some(bed) = Bed::new("") else { return };
    // The first runtime of a process measures its device, which uses events.
    drop(builder().build().expect("it can be had"));
    drop(bed);
    for (call, last) in [("event", 40), ("launch", 3)] {
        for nth in 1..=last {
            let Some(bed) = Bed::new(&format!("fail={call}:{nth}=701")) else { return };
            let rt = builder().build().expect("devices are left out if need be");
            let mut x = rt.zeros([1, 4]).expect("it can be had");
            for _ in 0..3 {
                let _ = scale(&mut x, UNLUCKY, cuda(0));
            }
            let _ = x.to_vec();
            let _ = rt.wait();
            drop((x, rt));
            assert_eq!(bed.findings(), "", "{call} {nth}");
        }
    }
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
        // Elements that were not only on the lost device are still valid, and the other workers go on.
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
                crate::runtime::bed::add_anywhere(&one, &mut x).expect("it is right");
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
    // No release of CUDA has had this code: a newer one may return codes that dahl does not know.
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

#[test]
fn what_cannot_land_for_want_of_memory_is_not_lost() {
    let Some(bed) = Bed::new("") else { return };
    // The first runtime of a process measures its device, which uses memory of the host.
    drop(builder().build().expect("it can be had"));
    drop(bed);
    for seed in 0..8 {
        // Nothing is copied to the device, so arrays that are evicted are the first to need memory of the host. Of the
        // two arrays on the device, one cannot be evicted, then neither can.
        for (refused, has_room) in [("1", true), ("1-2", false)] {
            let Some(bed) = Bed::new(&format!("seed={seed} fail=host_alloc:{refused}")) else { return };
            let rt = builder().cuda_limit_mb(TWO_ARRAYS).build().expect("it can be had");
            let [mut first, mut second, mut third] =
                [(); 3].map(|()| rt.zeros([1, 8]).expect("it can be had"));
            fill(&mut first, 1, cuda(0)).expect("it is right");
            fill(&mut second, 2, cuda(0)).expect("it is right");
            rt.wait().expect("there is room for two");
            fill(&mut third, 3, cuda(0)).expect("it is right");
            assert_eq!(rt.wait().is_ok(), has_room, "seed {seed}");
            let asked = bed.calls("host_alloc");
            match third.to_vec() {
                Ok(third) => assert!(has_room && third == [3; 8], "seed {seed}: {third:?}"),
                Err(error) => assert!(!has_room && error.to_string().contains("out of memory"), "{error}"),
            }
            assert_eq!(first.to_vec().expect("it is not lost"), [1; 8], "seed {seed}");
            assert_eq!(second.to_vec().expect("it is not lost"), [2; 8], "seed {seed}");
            assert_eq!(asked, 2, "seed {seed}: neither was left out");
            // Now both have valid copies on the host, so either can be evicted.
            fill(&mut third, 4, cuda(0)).expect("it is right");
            assert_eq!(third.to_vec().expect("nothing failed"), [4; 8], "seed {seed}");
            drop((first, second, third, rt));
            assert_eq!(bed.findings(), "", "seed {seed}");
        }
    }
}

#[test]
fn elements_on_their_way_home_arrive_though_another_device_is_lost() {
    for seed in 0..8 {
        // The second kernel of the other device faults.
        let Some(bed) = Bed::new(&format!("seed={seed} devices=2 fail=fault@1:2")) else { return };
        let rt = builder().cuda_limit_mb(TWO_ARRAYS).build().expect("it can be had");
        let [mut x, mut y, mut z, mut unlucky] = [(); 4].map(|()| rt.zeros([1, 8]).expect("it can be had"));
        let before = bed.calls("copy");
        // Both devices have a copy, of which that of the first is valid; it is the least recently used there, so it is
        // evicted.
        fill(&mut x, 5, cuda(1)).expect("it is right");
        fill(&mut x, 6, cuda(0)).expect("it is right");
        rt.wait().expect("nothing failed");
        fill(&mut y, 7, cuda(0)).expect("it is right");
        fill(&mut z, 8, cuda(0)).expect("it is right");
        rt.wait().expect("nothing failed");
        assert_eq!(bed.calls("copy") - before, 1, "seed {seed}: it is on its way home");
        fill(&mut unlucky, 9, cuda(1)).expect("it is right");
        let error = unlucky.to_vec().expect_err("its device is lost").to_string();
        assert!(error.contains("cuda 1"), "seed {seed}: {error}");
        while rt.wait().is_err() {}
        assert_eq!(x.to_vec().expect("it was on its way"), [6; 8], "seed {seed}");
        assert_eq!(y.to_vec().expect("nothing failed"), [7; 8], "seed {seed}");
        assert_eq!(z.to_vec().expect("nothing failed"), [8; 8], "seed {seed}");
    }
}
