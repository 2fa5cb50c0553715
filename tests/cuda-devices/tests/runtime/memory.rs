//! The memory of a device, and evictions.

use crate::runtime::bed::{M, add, add_anywhere, builder, cuda, in_seeds};

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
