//! The memory of a device, and evictions.

use crate::runtime::bed::{Bed, M, add, add_anywhere, add_on_cpu, builder, cuda, fill, in_seeds};

/// The size of `lines` lines of 64 bytes, in units of 2^20 bytes.
fn lines(lines: u32) -> f64 {
    f64::from(64 * lines) / f64::from(1 << 20)
}

#[test]
fn dirty_copies_land_when_they_make_room() {
    in_seeds(1, || {
        let rt = builder().cuda_limit_mb(lines(2)).build().expect("it can be had");
        let one = rt.from_vec([1, 8], vec![1; 8]).expect("it can be had");
        let mut arrays: Vec<M<'_>> = (0..6).map(|_| rt.zeros([1, 8]).expect("it can be had")).collect();
        for _ in 0..4 {
            for x in &mut arrays {
                add(&one, x, cuda(0)).expect("it is right");
            }
        }
        for x in &arrays {
            assert_eq!(x.to_vec().expect("nothing failed"), [4; 8]);
        }
        assert!(rt.memory()[1].peak_bytes <= 2 * 64, "{:?}", rt.memory()[1]);
        drop(arrays);
        drop(one);
        rt.wait().expect("nothing failed");
        assert_eq!(rt.memory()[1].current_bytes, 0);
    });
}

#[test]
fn what_does_not_fit_runs_on_the_cpu_if_it_may() {
    in_seeds(1, || {
        let rt = builder().cuda_limit_mb(lines(1)).build().expect("it can be had");
        let one = rt.from_vec([1, 8], vec![1; 8]).expect("it can be had");
        let mut x = rt.zeros([1, 8]).expect("it can be had");
        let error = add(&one, &mut x, cuda(0)).and_then(|()| x.to_vec()).expect_err("it must run there");
        let error = error.to_string();
        assert!(error.contains("out of memory") && error.contains("in the memory of `cuda 0`"), "{error}");
        let mut y = rt.zeros([1, 8]).expect("it can be had");
        add_anywhere(&one, &mut y).expect("it is right");
        assert_eq!(y.to_vec().expect("a CPU worker has room"), [1; 8]);
        while rt.wait().is_err() {}
    });
}

#[test]
fn what_is_on_its_way_home_goes_back_to_a_device_without_a_wait() {
    for seed in 0..4 {
        // Back to the device that it comes from, and to another one.
        for target in 0..2 {
            let Some(bed) = Bed::new(&format!("seed={seed} devices=2")) else { return };
            let rt = builder().cuda_limit_mb(lines(2)).build().expect("it can be had");
            let [mut x, mut y, mut z, mut sum] = [(); 4].map(|()| rt.zeros([1, 8]).expect("it can be had"));
            fill(&mut x, 1, cuda(0)).expect("it is right");
            fill(&mut y, 2, cuda(0)).expect("it is right");
            rt.wait().expect("there is room for two");
            let held = bed.hold_downloads();
            // The first one makes room.
            let copies = bed.calls("copy");
            fill(&mut z, 3, cuda(0)).expect("it is right");
            assert!(held.comes(|| bed.calls("copy") > copies), "seed {seed}");
            let launches = bed.calls("launch");
            add(&x, &mut sum, cuda(target)).expect("it is right");
            let came = held.comes(|| bed.calls("launch") > launches);
            drop(held);
            assert!(came, "seed {seed}");
            // At home it arrives as well.
            add_on_cpu(&x, &mut sum).expect("it is right");
            assert_eq!(sum.to_vec().expect("nothing failed"), [2; 8], "seed {seed}");
            for (array, value) in [(&x, 1), (&y, 2), (&z, 3)] {
                assert_eq!(array.to_vec().expect("nothing failed"), [value; 8], "seed {seed}");
            }
            drop((x, y, z, sum, rt));
            assert_eq!(bed.findings(), "", "seed {seed}");
        }
    }
}

#[test]
fn staging_buffers_are_not_used_again_before_they_are_read() {
    // Arrays go to and fro between two devices with room for one: each copy home is also sent to a device.
    in_seeds(2, || {
        let rt = builder().cuda_limit_mb(lines(2)).build().expect("it can be had");
        let mut arrays: Vec<M<'_>> =
            (0..4).map(|i| rt.from_vec([1, 8], vec![i; 8]).expect("it can be had")).collect();
        let mut sums: Vec<M<'_>> = (0..4).map(|_| rt.zeros([1, 8]).expect("it can be had")).collect();
        for round in 0..6 {
            for (i, x) in arrays.iter_mut().enumerate() {
                fill(x, (10 * round + i) as i64, cuda((i + round) % 2)).expect("it is right");
            }
            for (i, (x, sum)) in arrays.iter().zip(&mut sums).enumerate() {
                add(x, sum, cuda((i + round + 1) % 2)).expect("it is right");
            }
        }
        for (i, sum) in sums.iter().enumerate() {
            assert_eq!(sum.to_vec().expect("nothing failed"), [150 + 6 * i as i64; 8]);
        }
    });
}
