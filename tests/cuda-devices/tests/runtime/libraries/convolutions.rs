//! Convolutions by cuDNN: the requests, the choice of the algorithm, and the fallback if there is none.

use dahl_core::{Real, Result, Runtime, bf16, f16};

use super::convolution::{Arrays, Case, DATA, FILTER, FORWARD, SMALL, is_absent};
use crate::runtime::bed::{Bed, builder, cuda, in_seeds};

const CASES: [Case; 5] = [
    SMALL,
    Case { stride: [2, 3], padding: [0, 1], ..SMALL },
    Case { input: [1, 1, 4, 4], filters: [1, 1, 4, 4], stride: [1, 1], padding: [0, 0] },
    Case { input: [3, 2, 5, 5], filters: [2, 2, 3, 3], stride: [1, 1], padding: [2, 1] },
    Case { input: [2, 4, 1, 7], filters: [3, 4, 1, 1], stride: [1, 2], padding: [0, 0] },
];

/// Compares all cases of a direction on the device and on the CPU; returns their number.
fn compare<T: Real, O: Real, const WAY: usize>(rt: &Runtime) -> Result<usize> {
    let keeps: &[bool] = if WAY == FILTER { &[false, true] } else { &[false] };
    for (case, &keep) in CASES.into_iter().flat_map(|case| keeps.iter().map(move |keep| (case, keep))) {
        let mut expected = Arrays::<T, O>::new::<WAY>(rt, case)?;
        let mut found = Arrays::<T, O>::new::<WAY>(rt, case)?;
        expected.task::<WAY>(keep).on(0).submit()?;
        found.task::<WAY>(keep).on(cuda(0)).submit()?;
        // Small whole numbers: the sums are exact.
        assert_eq!(found.out.to_vec()?, expected.out.to_vec()?, "{} {WAY} {case:?} {keep}", T::NAME);
    }
    Ok(CASES.len() * keeps.len())
}

fn every_direction<T: Real>(rt: &Runtime) -> usize {
    let compared = [compare::<T, T, FORWARD>(rt), compare::<T, T, DATA>(rt), compare::<T, T, FILTER>(rt)];
    compared.map(|count| count.expect("nothing failed")).iter().sum()
}

#[test]
fn every_direction_and_type() {
    in_seeds(1, || {
        let rt = builder().build().expect("it can be had");
        if is_absent(&rt) {
            return;
        }
        every_direction::<f32>(&rt);
        every_direction::<f64>(&rt);
        every_direction::<f16>(&rt);
        every_direction::<bf16>(&rt);
    });
}

/// Runs a direction on the device.
fn run<T: Real, const WAY: usize>(rt: &Runtime, case: Case, keep: bool) -> Result<Vec<T>> {
    let mut arrays = Arrays::<T, T>::new::<WAY>(rt, case)?;
    arrays.task::<WAY>(keep).on(cuda(0)).submit()?;
    arrays.out.to_vec()
}

/// Runs a direction on any worker, and checks the result.
fn run_somewhere<T: Real, const WAY: usize>(rt: &Runtime, case: Case) {
    let mut expected = Arrays::<T, T>::new::<WAY>(rt, case).expect("it can be had");
    let mut found = Arrays::<T, T>::new::<WAY>(rt, case).expect("it can be had");
    expected.task::<WAY>(false).on(0).submit().expect("it is right");
    found.task::<WAY>(false).submit().expect("it is right");
    assert_eq!(found.out.to_vec().expect("nothing failed"), expected.out.to_vec().expect("nothing failed"));
}

#[test]
fn cudnn_is_told_shapes_types_and_algorithms_of_the_same_bits() {
    let Some(bed) = Bed::new("") else { return };
    let rt = builder().build().expect("it can be had");
    let strided = CASES[1];
    for _ in 0..2 {
        run::<f32, FORWARD>(&rt, SMALL, false).expect("nothing failed");
        run::<bf16, DATA>(&rt, strided, false).expect("nothing failed");
        run::<f64, FILTER>(&rt, SMALL, true).expect("nothing failed");
        // 1 is PRECOMP_GEMM, which adds without atomics; math 3 is without TF32, 1 with tensor cores.
        assert_eq!(
            bed.convolutions(),
            "forward 2x3x6x5 by 4x3x3x2 to 2x4x6x4, stride 1x1, padding 1x0, \
             f32 in f32, algorithm 1, math 3, workspace 768, beta 0\n\
             backward data 2x3x6x5 by 4x3x3x2 to 2x4x2x2, stride 2x3, padding 0x1, \
             bf16 in f32, algorithm 1, math 1, workspace 288, beta 0\n\
             backward filter 2x3x6x5 by 4x3x3x2 to 2x4x6x4, stride 1x1, padding 1x0, \
             f64 in f64, algorithm 1, math 0, workspace 288, beta 1\n"
        );
    }
}

#[test]
fn tf32_is_for_who_asks_for_it() {
    let Some(bed) = Bed::new("") else { return };
    let one = Case { input: [1; 4], filters: [1; 4], stride: [1; 2], padding: [0; 2] };
    // 1 - 2^-12 needs more than 10 bits of fraction.
    let fine: f32 = 1.0 - 1.0 / 4096.0;
    for (allowed, expected, math) in [(false, fine, 3), (true, 1.0 - 1.0 / 2048.0, 0)] {
        let rt = builder().cuda_tf32(allowed).build().expect("it can be had");
        let mut arrays = Arrays::<f32, f32>::new::<FORWARD>(&rt, one).expect("it can be had");
        arrays.fill(fine.into(), 1.0).expect("nothing reads it");
        arrays.task::<FORWARD>(false).on(cuda(0)).submit().expect("it is right");
        assert_eq!(arrays.out.to_vec().expect("nothing failed"), [expected]);
        let told = bed.convolutions();
        assert!(told.contains(&format!("f32 in f32, algorithm 1, math {math}")), "{told}");
    }
}

#[test]
fn its_work_is_in_the_order_of_the_stream() {
    in_seeds(2, || {
        let rt = builder().build().expect("it can be had");
        if is_absent(&rt) {
            return;
        }
        let [mut expected, mut found] =
            [(); 2].map(|()| Arrays::<f32, f32>::new::<FILTER>(&rt, SMALL).expect("it can be had"));
        for step in 0..5 {
            // Each adds to the result of the one before, from device to device.
            expected.task::<FILTER>(true).on(0).submit().expect("it is right");
            found.task::<FILTER>(true).on(cuda(step % 2)).submit().expect("it is right");
        }
        let expected = expected.out.to_vec().expect("nothing failed");
        assert_eq!(found.out.to_vec().expect("nothing failed"), expected);
        drop(found);
        // The tasks have their own workspaces.
        let memory = rt.memory();
        let left = memory[1..].iter().flat_map(|node| node.holders.iter().map(|holder| holder.what));
        assert_eq!(left.collect::<Vec<_>>(), Vec::<&str>::new());
    });
}

#[test]
fn algorithms_are_taken_that_there_is_room_for() {
    let Some(bed) = Bed::new("") else { return };
    let case = Case { filters: [16, 3, 3, 2], ..SMALL };
    // A sixteenth is 655 bytes. The fastest needs 3,072 for the output, and the only one for the gradient 1,152.
    let rt = builder().cuda_limit_mb(0.01).build().expect("it can be had");
    run::<f32, FORWARD>(&rt, case, false).expect("nothing failed");
    let told = bed.convolutions();
    assert!(told.contains("algorithm 0, math 3, workspace 0"), "{told}");
    let error = run::<f32, DATA>(&rt, case, false).expect_err("there is no room for any").to_string();
    assert!(error.contains("adds up products in 655 bytes or less, among 5"), "{error}");
    assert_eq!(bed.convolutions(), "");
}

#[test]
fn a_call_that_fails_fails_its_task_alone_and_algorithms_are_asked_for_once() {
    // The calls are: the handle, the algorithms, and two convolutions; then the third.
    let Some(bed) = Bed::new("fail=library:5=5000") else { return };
    let rt = builder().build().expect("it can be had");
    let results: Vec<_> = (0..4).map(|_| run::<f32, FORWARD>(&rt, SMALL, false)).collect();
    let error = results[2].as_ref().expect_err("it failed").to_string();
    let said = "by_cudnn: cudnnConvolutionForward: CUDNN_STATUS_EXECUTION_FAILED (5000)";
    assert!(error.contains(said), "{error}");
    let right = results[0].as_ref().expect("it did not fail");
    for other in [1, 3] {
        assert_eq!(results[other].as_ref().expect("it did not fail"), right);
    }
    drop(rt);
    assert_eq!(bed.convolutions().lines().count(), 3);
    assert_eq!(bed.findings(), "");
}

#[test]
fn algorithms_that_cannot_be_had_fail_the_task_and_are_asked_for_again() {
    let Some(bed) = Bed::new("fail=library:2=4000") else { return };
    let rt = builder().build().expect("it can be had");
    let error = run::<f32, DATA>(&rt, SMALL, false).expect_err("it failed").to_string();
    assert!(error.contains("cudnnGetConvolutionBackwardDataAlgorithm_v7"), "{error}");
    run::<f32, DATA>(&rt, SMALL, false).expect("it does not fail again");
    assert_eq!(bed.convolutions().lines().count(), 1);
}

#[test]
fn what_cudnn_does_not_support_the_cpu_does() {
    // Status 3002: a shape that is not supported. The library said so for this one, and is not asked again.
    let Some(bed) = Bed::new("fail=library:2=3002") else { return };
    let rt = builder().build().expect("it can be had");
    for _ in 0..2 {
        let error = run::<f32, FORWARD>(&rt, SMALL, false).expect_err("the device has no other kernel");
        assert!(error.to_string().contains("cudnnGetConvolutionForwardAlgorithm_v7"), "{error}");
    }
    for _ in 0..8 {
        run_somewhere::<f32, FORWARD>(&rt, SMALL);
    }
    assert_eq!(bed.convolutions(), "");
    run::<f32, FORWARD>(&rt, CASES[1], false).expect("another shape it has");
    assert_eq!(bed.convolutions().lines().count(), 1);
}

#[test]
fn what_cudnn_cannot_be_told_the_cpu_does() {
    let Some(bed) = Bed::new("") else { return };
    let rt = builder().build().expect("it can be had");
    let mut sums = Arrays::<f16, f32>::new::<FILTER>(&rt, SMALL).expect("it can be had");
    sums.task::<FILTER>(true).on(cuda(0)).submit().expect("the device has cuDNN");
    let error = sums.out.to_vec().expect_err("it has no such sums").to_string();
    assert!(error.contains("arrays of different types (f16, f32, f16)"), "{error}");
    let none = Case { input: [0, 3, 6, 5], ..SMALL };
    let error = run::<f32, FILTER>(&rt, none, true).expect_err("it has no such images").to_string();
    assert!(error.contains("a convolution of nothing"), "{error}");
    for _ in 0..8 {
        run_somewhere::<f32, FILTER>(&rt, none);
    }
    assert_eq!(bed.convolutions(), "");
}

#[test]
fn a_cudnn_that_does_not_want_the_device_is_left_out() {
    // Status 1001: not initialised. The first call makes the handle.
    let Some(bed) = Bed::new("fail=library:1=1001") else { return };
    let rt = builder().build().expect("it can be had");
    run::<f32, FORWARD>(&rt, SMALL, false).expect_err("it is refused there");
    for _ in 0..8 {
        run_somewhere::<f32, FORWARD>(&rt, SMALL);
    }
    // From now on this is known, and no worker takes it.
    let mut arrays = Arrays::<f32, f32>::new::<FORWARD>(&rt, SMALL).expect("it can be had");
    assert!(arrays.task::<FORWARD>(false).on(cuda(0)).submit().is_err());
    assert_eq!(bed.convolutions(), "");
}
