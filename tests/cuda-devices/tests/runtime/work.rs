//! Tasks on a device, and the copies for them.

use dahl_core::ndarray::Axis;
use dahl_core::{Result, Runtime};

use crate::runtime::bed::{
    Bed, add, add_on_cpu, builder, cuda, in_seeds, map, map_self, moves, refused_on_device, scale,
};

#[test]
fn no_device_is_no_error_unless_one_is_wanted() {
    let Some(_bed) = Bed::new("devices=0") else { return };
    let rt = builder().build().expect("none is wanted");
    assert!(rt.worker_infos().iter().all(|info| info.is_cpu()));
    let error = builder().cuda_devices(1).build().expect_err("there is none").to_string();
    assert!(error.contains("cuda_devices") && error.contains("at most 0"), "{error}");
}

#[test]
fn a_device_is_a_worker_with_a_memory() {
    let Some(_bed) = Bed::new("devices=2") else { return };
    let rt = builder().build().expect("it can be had");
    let names: Vec<_> = rt.worker_infos().iter().map(|info| (info.name.as_str(), info.node)).collect();
    assert_eq!(names, [("cpu 0", 0), ("cpu 1", 0), ("cuda 0", 1), ("cuda 1", 2)]);
    let (first, second) = (&rt.worker_infos()[2].kind, &rt.worker_infos()[3].kind);
    assert_eq!(first, second, "devices of one name share performance models");
    let memories: Vec<_> = rt.memory().iter().map(|memory| memory.name.clone()).collect();
    assert_eq!(memories, ["host", "cuda 0", "cuda 1"]);
}

#[test]
fn fewer_devices_can_be_used() {
    let Some(_bed) = Bed::new("devices=2") else { return };
    assert_eq!(builder().cuda_devices(1).build().expect("it can be had").workers(), 3);
    assert_eq!(builder().cuda_devices(0).build().expect("it can be had").workers(), 2);
}

#[test]
fn what_a_device_computes_is_copied_once_each_way() {
    in_seeds(1, || {
        let rt = builder().build().expect("it can be had");
        let mut x = rt.from_vec([4, 3], (0..12).collect()).expect("it can be had");
        for add in 0..9 {
            scale(&mut x, add, cuda(0)).expect("it is right");
        }
        let expected: Vec<i64> = (0..12).map(|x| (0..9).fold(x, |x, add| 5 * x + add)).collect();
        assert_eq!(x.to_vec().expect("nothing failed"), expected);
        assert_eq!(moves(&rt), [(0, 1, 1), (1, 0, 1)]);
    });
}

/// Contiguous elements go in pieces of 4 MiB, those of a part by columns in one.
#[test]
fn large_arrays_are_copied_whole() {
    // Three pieces each way, the last of which is short; and a part of more than one piece.
    const EXTENTS: [usize; 2] = [600, 2000];
    const COLS: usize = 1000;
    let Some(_bed) = Bed::new("") else { return };
    let rt = builder().build().expect("it can be had");
    let len = EXTENTS.iter().product::<usize>() as i64;
    let mut x = rt.from_vec(EXTENTS, (0..len).collect()).expect("it can be had");
    scale(&mut x, 1, cuda(0)).expect("it is right");
    let once: Vec<i64> = (0..len).map(|x| 5 * x + 1).collect();
    assert!(x.to_vec().expect("nothing failed") == once, "an element is another");
    let mut parts = x.partition_mut(Axis(1), COLS).expect("it can be had");
    scale(&mut parts[1], 2, cuda(0)).expect("it is right");
    drop(parts);
    let expected = |(place, x): (usize, i64)| if place % EXTENTS[1] < COLS { x } else { 5 * x + 2 };
    let twice: Vec<i64> = once.into_iter().enumerate().map(expected).collect();
    assert!(x.to_vec().expect("nothing failed") == twice, "an element is another");
}

#[test]
fn a_task_of_the_cpu_waits_for_what_a_device_computes() {
    in_seeds(1, || {
        let rt = builder().build().expect("it can be had");
        let x = rt.from_vec([2, 2], vec![1, 2, 3, 4]).expect("it can be had");
        let mut on_device = rt.zeros([2, 2]).expect("it can be had");
        let mut on_cpu = rt.zeros([2, 2]).expect("it can be had");
        for _ in 0..5 {
            add(&x, &mut on_device, cuda(0)).expect("it is right");
            add_on_cpu(&on_device, &mut on_cpu).expect("it is right");
        }
        assert_eq!(on_cpu.to_vec().expect("nothing failed"), [15, 30, 45, 60]);
        assert_eq!(on_device.to_vec().expect("nothing failed"), [5, 10, 15, 20]);
    });
}

#[test]
fn elements_go_from_device_to_device() {
    in_seeds(2, || {
        let rt = builder().build().expect("it can be had");
        let mut x = rt.from_vec([1, 2], vec![1, 2]).expect("it can be had");
        scale(&mut x, 1, cuda(0)).expect("it is right");
        scale(&mut x, 2, cuda(1)).expect("it is right");
        scale(&mut x, 3, cuda(0)).expect("it is right");
        assert_eq!(x.to_vec().expect("nothing failed"), [163, 288]);
        assert_eq!(moves(&rt), [(0, 1, 1), (1, 0, 1), (1, 2, 1), (2, 1, 1)]);
    });
}

#[test]
fn a_task_in_place_writes_over_its_input() {
    in_seeds(1, || {
        let rt = builder().build().expect("it can be had");
        let x = rt.from_vec([1, 3], vec![1, 2, 3]).expect("it can be had");
        let mut y = rt.from_vec([1, 3], vec![10, 20, 30]).expect("it can be had");
        map_self(&x, &mut y, cuda(0)).expect("it is right");
        map_self(&x, &mut y, cuda(0)).expect("it is right");
        assert_eq!(y.to_vec().expect("nothing failed"), [24, 48, 72]);
    });
}

#[test]
fn what_is_only_written_is_not_copied_there() {
    in_seeds(1, || {
        let rt = builder().build().expect("it can be had");
        let x = rt.from_vec([1, 2], vec![1, 2]).expect("it can be had");
        let mut out = rt.zeros([1, 2]).expect("it can be had");
        map(&x, &x, &mut out, cuda(0)).expect("it is right");
        assert_eq!(out.to_vec().expect("nothing failed"), [8, 16]);
        assert_eq!(moves(&rt), [(0, 1, 1), (1, 0, 1)]);
    });
}

#[test]
fn arrays_outlive_the_runtime() {
    in_seeds(1, || {
        let rt = builder().build().expect("it can be had");
        let mut x = rt.from_vec([1, 2], vec![1, 2]).expect("it can be had");
        scale(&mut x, 1, cuda(0)).expect("it is right");
        drop(rt);
        assert_eq!(x.to_vec().expect("nothing failed"), [6, 11]);
    });
}

#[test]
fn what_has_no_kernel_there_is_refused_where_it_is_submitted() {
    let Some(_bed) = Bed::new("") else { return };
    let rt = builder().build().expect("it can be had");
    let (x, mut out) = (rt.zeros([1, 1]).expect("it can be had"), rt.zeros([1, 1]).expect("it can be had"));
    let error = refused_on_device(&x, &mut out);
    assert!(error.contains("cuda 0") && error.contains("cannot run it"), "{error}");
}

#[test]
fn tasks_on_a_device_have_performance_models() -> Result<()> {
    let Some(_bed) = Bed::new("") else { return Ok(()) };
    let rt: Runtime = builder().build()?;
    let mut x = rt.zeros([8, 8])?;
    for _ in 0..3 {
        scale(&mut x, 0, cuda(0))?;
    }
    rt.wait()?;
    let kind = rt.worker_infos()[2].kind.clone();
    let models = rt.performance_models();
    let of_device = models.iter().find(|model| model.worker_kind == kind).expect("it was measured");
    assert_eq!((of_device.codelet.as_str(), of_device.count), ("scale", 3));
    Ok(())
}

#[test]
fn a_prefetch_copies_what_a_task_then_finds() {
    in_seeds(1, || {
        let rt = builder().build().expect("it can be had");
        let mut x = rt.from_vec([2, 2], vec![1, 2, 3, 4]).expect("it can be had");
        x.prefetch(0);
        x.prefetch(17);
        rt.wait().expect("nothing failed");
        assert_eq!(moves(&rt), [], "a CPU worker has no memory of its own, and there is no worker 17");
        x.prefetch(cuda(0));
        x.prefetch(cuda(0));
        scale(&mut x, 1, cuda(0)).expect("it is right");
        // It was written on the device, so neither it nor its old elements are copied there.
        x.prefetch(cuda(0));
        scale(&mut x, 1, cuda(0)).expect("it is right");
        assert_eq!(x.to_vec().expect("nothing failed"), [31, 56, 81, 106]);
        assert_eq!(moves(&rt), [(0, 1, 1), (1, 0, 1)]);
    });
}

#[test]
fn a_prefetch_makes_no_room() {
    in_seeds(1, || {
        // Memory for two arrays.
        let limit_mb = f64::from(2 * 64) / f64::from(1 << 20);
        let rt = builder().cuda_limit_mb(limit_mb).build().expect("it can be had");
        let arrays: Vec<_> =
            (0..3).map(|i| rt.from_vec([1, 8], vec![i; 8]).expect("it can be had")).collect();
        arrays.iter().for_each(|array| array.prefetch(cuda(0)));
        let mut sum = rt.zeros([1, 8]).expect("it can be had");
        arrays.iter().for_each(|array| add(array, &mut sum, cuda(0)).expect("it is right"));
        assert_eq!(sum.to_vec().expect("nothing failed"), [3; 8]);
        assert!(rt.memory()[1].peak_bytes <= 2 * 64, "{:?}", rt.memory()[1]);
    });
}

#[test]
fn calls_on_a_device_are_explained() {
    let Some(_bed) = Bed::new("") else { return };
    let rt = builder().build().expect("it can be had");
    let mut x = rt.zeros([8, 8]).expect("it can be had");
    for _ in 0..5 {
        scale(&mut x, 0, cuda(0)).expect("it is right");
    }
    rt.wait().expect("nothing failed");
    let explanation = rt.explain("scale");
    let calls: Vec<_> =
        explanation.kernels.iter().map(|kernel| (kernel.worker_kind.as_str(), kernel.count)).collect();
    assert_eq!(calls, [(rt.worker_infos()[2].kind.as_str(), 5)]);
}
