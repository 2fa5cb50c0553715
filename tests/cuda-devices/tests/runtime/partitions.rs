//! Splits and joins of arrays that are on devices, and who waits for them.

use dahl_core::ndarray::Axis;

use crate::runtime::bed::{Bed, Flag, Gate, add_on_cpu, builder, cuda, fill, map, scale, scale_and_tell};

/// Orders of what streams hold: at once, as late as possible, and two that are drawn.
const SEEDS: std::ops::Range<u64> = 0..4;

#[test]
fn a_device_is_given_work_while_a_join_waits_for_it() {
    for seed in SEEDS {
        let Some(bed) = Bed::new(&format!("seed={seed}")) else { return };
        let rt = builder().build().expect("it can be had");
        let mut x = rt.from_vec([1, 2], vec![1, 2]).expect("it can be had");
        let mut whole = rt.zeros([2, 2]).expect("it can be had");
        let mut sum = rt.zeros([2, 2]).expect("it can be had");
        let mut other = rt.zeros([1, 2]).expect("it can be had");
        let gate = Gate::before(&mut x);
        for part in whole.partition_mut(Axis(0), 1).expect("there is such an axis").iter_mut() {
            map(&x, &x, part, cuda(0)).expect("it is right");
        }
        add_on_cpu(&whole, &mut sum).expect("it is right");
        map(&x, &x, &mut other, cuda(0)).expect("it is right");
        let before = bed.calls("launch");
        let held = bed.hold_downloads();
        drop(gate);
        let came = held.comes(|| bed.calls("launch") - before == 3);
        drop(held);
        assert_eq!(sum.to_vec().expect("nothing failed"), [8, 16, 8, 16], "seed {seed}");
        assert_eq!(other.to_vec().expect("nothing failed"), [8, 16], "seed {seed}");
        assert!(came, "seed {seed}");
        drop((x, whole, sum, other, rt));
        assert_eq!(bed.findings(), "", "seed {seed}");
    }
}

#[test]
fn a_join_starts_all_its_copies_before_it_waits_for_one() {
    for seed in SEEDS {
        let Some(bed) = Bed::new(&format!("seed={seed}")) else { return };
        let rt = builder().build().expect("it can be had");
        let mut x = rt.from_vec([1, 2], vec![1, 2]).expect("it can be had");
        let mut whole = rt.zeros([3, 2]).expect("it can be had");
        let mut sum = rt.zeros([3, 2]).expect("it can be had");
        let gate = Gate::before(&mut x);
        for part in whole.partition_mut(Axis(0), 1).expect("there is such an axis").iter_mut() {
            map(&x, &x, part, cuda(0)).expect("it is right");
        }
        add_on_cpu(&whole, &mut sum).expect("it is right");
        let before = bed.calls("copy");
        let held = bed.hold_downloads();
        drop(gate);
        // `x` goes to the device, three parts come back.
        let came = held.comes(|| bed.calls("copy") - before == 4);
        drop(held);
        assert_eq!(sum.to_vec().expect("nothing failed"), [8, 16, 8, 16, 8, 16], "seed {seed}");
        assert!(came, "seed {seed}");
        drop((x, whole, sum, rt));
        assert_eq!(bed.findings(), "", "seed {seed}");
    }
}

#[test]
fn no_worker_waits_for_a_join() {
    for seed in SEEDS {
        let Some(bed) = Bed::new(&format!("seed={seed} devices=2")) else { return };
        // One worker of the CPU, which the gate needs first.
        let rt = builder().cpu_workers(1).build().expect("it can be had");
        let devices = [1, 2];
        let mut x = rt.from_vec([1, 2], vec![1, 2]).expect("it can be had");
        let [mut whole, mut sum] = [(); 2].map(|()| rt.zeros([2, 2]).expect("it can be had"));
        let mut other = rt.zeros([1, 2]).expect("it can be had");
        let gate = Gate::before(&mut x);
        let mut parts = whole.partition_mut(Axis(0), 1).expect("there is such an axis");
        for (part, device) in parts.iter_mut().zip(devices) {
            map(&x, &x, part, device).expect("it is right");
        }
        drop(parts);
        add_on_cpu(&whole, &mut sum).expect("it is right");
        let copies = bed.calls("copy");
        let held = bed.hold_downloads();
        drop(gate);
        // `x` goes to both devices, a part comes back from each.
        let began = held.comes(|| bed.calls("copy") - copies == 4);
        let flag = Flag::default();
        scale_and_tell(&mut other, 0, &flag).expect("it is right");
        let came = held.comes(|| flag.is_up());
        drop(held);
        assert_eq!(sum.to_vec().expect("nothing failed"), [8, 16, 8, 16], "seed {seed}");
        assert!(began && came, "seed {seed}: {began}, {came}");
        drop((x, whole, sum, other, rt));
        assert_eq!(bed.findings(), "", "seed {seed}");
    }
}

#[test]
fn who_opens_a_partition_does_not_wait_for_its_elements() {
    for seed in SEEDS {
        let Some(bed) = Bed::new(&format!("seed={seed}")) else { return };
        let rt = builder().build().expect("it can be had");
        let mut whole = rt.zeros([2, 2]).expect("it can be had");
        fill(&mut whole, 3, cuda(0)).expect("it is right");
        rt.wait().expect("nothing failed");
        let held = bed.hold_downloads();
        let flag = Flag::default();
        let came = std::thread::scope(|scope| {
            scope.spawn(|| {
                let mut parts = whole.partition_mut(Axis(0), 1).expect("there is such an axis");
                parts.iter_mut().for_each(|part| scale(part, 1, cuda(0)).expect("it is right"));
                flag.put_up();
            });
            let came = held.comes(|| flag.is_up());
            drop(held);
            came
        });
        assert_eq!(whole.to_vec().expect("nothing failed"), [16; 4], "seed {seed}");
        assert!(came, "seed {seed}");
        drop((whole, rt));
        assert_eq!(bed.findings(), "", "seed {seed}");
    }
}

#[test]
fn a_join_is_run_though_all_workers_of_the_cpu_are_held() {
    for seed in SEEDS {
        let Some(bed) = Bed::new(&format!("seed={seed}")) else { return };
        let rt = builder().cpu_workers(1).build().expect("it can be had");
        let [mut whole, mut own] = [[2, 2], [1, 2]].map(|shape| rt.zeros(shape).expect("it can be had"));
        for part in whole.partition_mut(Axis(0), 1).expect("there is such an axis").iter_mut() {
            fill(part, 3, 1).expect("it is right");
        }
        rt.wait().expect("nothing failed");
        let gate = Gate::before(&mut own);
        // The only one is held until this has been read.
        assert_eq!(whole.to_vec().expect("nothing failed"), [3; 4], "seed {seed}");
        drop(gate);
        drop((whole, own, rt));
        assert_eq!(bed.findings(), "", "seed {seed}");
    }
}

#[test]
fn what_is_handed_over_outlives_the_runtime() {
    for seed in SEEDS {
        let Some(bed) = Bed::new(&format!("seed={seed}")) else { return };
        let rt = builder().build().expect("it can be had");
        let mut whole = rt.zeros([2, 2]).expect("it can be had");
        for round in 0..2 {
            fill(&mut whole, 3, cuda(0)).expect("it is right");
            for part in whole.partition_mut(Axis(0), 1).expect("there is such an axis").iter_mut() {
                scale(part, round, cuda(0)).expect("it is right");
            }
        }
        drop(rt);
        // The join is submitted when the workers have left.
        assert_eq!(whole.to_vec().expect("nothing failed"), [16; 4], "seed {seed}");
        drop(whole);
        assert_eq!(bed.findings(), "", "seed {seed}");
    }
}

#[test]
fn parts_that_were_lost_with_their_device_leave_the_whole_without_a_value() {
    for seed in SEEDS {
        // The second kernel of the other device meets a fault.
        let Some(bed) = Bed::new(&format!("seed={seed} devices=2 fail=fault@1:2")) else { return };
        let rt = builder().build().expect("it can be had");
        let [mut whole, mut sum] = [(); 2].map(|()| rt.zeros([3, 2]).expect("it can be had"));
        let mut parts = whole.partition_mut(Axis(0), 1).expect("there is such an axis");
        for (part, device) in parts.iter_mut().zip([0, 1, 1]) {
            fill(part, 3, cuda(device)).expect("it is right");
        }
        drop(parts);
        add_on_cpu(&whole, &mut sum).expect("it is right");
        let error = sum.to_vec().expect_err("a device is lost").to_string();
        assert!(error.contains("cuda 1"), "seed {seed}: {error}");
        while rt.wait().is_err() {}
        drop((whole, sum, rt));
        assert_eq!(bed.findings().lines().filter(|line| !line.contains("fault")).count(), 0, "seed {seed}");
    }
}

#[test]
fn a_large_join_takes_its_staging_buffers_in_turn() {
    let Some(bed) = Bed::new("seed=0") else { return };
    let rt = builder().build().expect("it can be had");
    // Parts of 16 MiB, of which two begin their way at once, in buffers of 4 MiB.
    let columns = 2 << 20;
    let mut whole = rt.zeros([5, columns]).expect("it can be had");
    for (value, part) in (1..).zip(whole.partition_mut(Axis(0), 1).expect("there is such an axis").iter_mut())
    {
        fill(part, value, cuda(0)).expect("it is right");
    }
    rt.wait().expect("nothing failed");
    let before = bed.calls("host_alloc");
    let sums: Vec<i64> = {
        let whole = whole.read().expect("nothing failed");
        whole.rows().into_iter().map(|row| row.iter().sum()).collect()
    };
    assert_eq!(sums, [1, 2, 3, 4, 5].map(|value| value * columns as i64));
    // Those that have come are copied home while the next ones are on their way.
    let buffers = bed.calls("host_alloc") - before;
    assert!((8..=16).contains(&buffers), "{buffers} for 20 pieces");
    drop((whole, rt));
    assert_eq!(bed.findings(), "");
}
