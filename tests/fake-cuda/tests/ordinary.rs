//! Ordinary programs on cudarc, which must give the same results under every seed, without findings.
#![allow(unsafe_code, reason = "launches kernels and calls the driver")]

mod program;

use std::ffi::c_void;
use std::sync::atomic::{AtomicU32, Ordering};

use cudarc::driver::{CudaContext, CudaSlice, result, sys};
use program::{N, in_seeds, is_scaled, launch_scale_add, module, numbers, on_device, pinned, with};

#[test]
fn copies_and_a_kernel() {
    in_seeds("", |_| {
        let (_context, stream) = on_device(0);
        let kernel = module(&stream).load_function("plain_scale_add").unwrap();
        let x = stream.clone_htod(&numbers()).unwrap();
        let mut y = stream.alloc_zeros::<f32>(N).unwrap();
        for _ in 0..3 {
            launch_scale_add(&stream, &kernel, &x, &mut y).unwrap();
        }
        assert!(is_scaled(&stream.clone_dtoh(&y).unwrap(), 6.0));
    });
}

#[test]
fn two_streams_that_wait_for_each_other() {
    in_seeds("", |_| {
        let (context, copies) = on_device(0);
        // SAFETY: the events below order what the streams do.
        unsafe { context.disable_event_tracking() };
        let compute = context.new_stream().unwrap();
        let kernel = module(&compute).load_function("plain_scale_add").unwrap();
        let source = pinned(&context, &numbers());
        let mut target = pinned(&context, &vec![0.0; N]);
        // SAFETY: it is written below before it is read.
        let mut x = unsafe { copies.alloc::<f32>(N) }.unwrap();
        let mut y = compute.alloc_zeros::<f32>(N).unwrap();
        for _ in 0..4 {
            copies.memcpy_htod(&source, &mut x).unwrap();
            compute.wait(&copies.record_event(None).unwrap()).unwrap();
            launch_scale_add(&compute, &kernel, &x, &mut y).unwrap();
            copies.wait(&compute.record_event(None).unwrap()).unwrap();
        }
        copies.memcpy_dtoh(&y, &mut target).unwrap();
        let copied = copies.record_event(None).unwrap();
        copied.synchronize().unwrap();
        assert!(is_scaled(target.as_slice().unwrap(), 8.0));
        compute.synchronize().unwrap();
    });
}

#[test]
fn an_event_is_asked_until_it_is_there() {
    in_seeds("", |_| {
        let (_context, stream) = on_device(0);
        let x = stream.clone_htod(&numbers()).unwrap();
        let event = stream.record_event(Some(sys::CUevent_flags::CU_EVENT_DEFAULT)).unwrap();
        while !event.is_complete() {}
        let later = stream.record_event(Some(sys::CUevent_flags::CU_EVENT_DEFAULT)).unwrap();
        assert!(event.elapsed_ms(&later).unwrap() >= 0.0);
        drop(x);
    });
}

/// A host function's data: how often it was called.
unsafe extern "C" fn count(data: *mut c_void) {
    // SAFETY: the counter outlives the wait for the stream.
    let counter = unsafe { &*data.cast::<AtomicU32>() };
    counter.fetch_add(1, Ordering::Relaxed);
}

#[test]
fn host_functions_run_in_order_and_by_themselves() {
    in_seeds("", |_| {
        let (_context, stream) = on_device(0);
        let counter = AtomicU32::new(0);
        for _ in 0..5 {
            let data = (&raw const counter).cast_mut().cast();
            // SAFETY: the function is for this data, which lives until all calls are seen below.
            unsafe { result::stream::launch_host_function(stream.cu_stream(), count, data) }.unwrap();
        }
        while counter.load(Ordering::Relaxed) < 5 {
            std::thread::yield_now();
        }
        stream.synchronize().unwrap();
    });
}

#[test]
fn a_graph_is_launched_again() {
    in_seeds("", |_| {
        let (context, stream) = on_device(0);
        // SAFETY: one stream orders everything, and the fork waits for it and is waited for.
        unsafe { context.disable_event_tracking() };
        let kernel = module(&stream).load_function("plain_scale_add").unwrap();
        let x = stream.clone_htod(&numbers()).unwrap();
        let mut y = stream.alloc_zeros::<f32>(N).unwrap();
        let mut z = stream.alloc_zeros::<f32>(N).unwrap();
        let other = context.new_stream().unwrap();
        stream.synchronize().unwrap();
        stream.begin_capture(sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_GLOBAL).unwrap();
        launch_scale_add(&stream, &kernel, &x, &mut y).unwrap();
        other.join(&stream).unwrap();
        launch_scale_add(&other, &kernel, &y, &mut z).unwrap();
        stream.join(&other).unwrap();
        let flags = sys::CUgraphInstantiate_flags::CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;
        let graph = stream.end_capture(flags).unwrap().expect("something was captured");
        for _ in 0..3 {
            graph.launch().unwrap();
        }
        // y grows by 2 x each time; z by 2 y: 2 (2 + 4 + 6) x.
        assert!(is_scaled(&stream.clone_dtoh(&y).unwrap(), 6.0));
        assert!(is_scaled(&stream.clone_dtoh(&z).unwrap(), 24.0));
    });
}

#[test]
fn memory_in_the_order_of_streams() {
    in_seeds("memory_mb=1", |_| {
        let (_context, stream) = on_device(0);
        for _ in 0..8 {
            // Two are more than the device has; each is freed in the stream before the next is allocated.
            let zeros: CudaSlice<u8> = stream.alloc_zeros(700_000).unwrap();
            assert!(stream.clone_dtoh(&zeros).unwrap().iter().all(|&byte| byte == 0));
        }
        stream.synchronize().unwrap();
    });
}

#[test]
fn more_memory_than_there_is() {
    let found = with("memory_mb=1", || {
        let (context, stream) = on_device(0);
        let kept: CudaSlice<u8> = stream.alloc_zeros(700_000).unwrap();
        let error = stream.alloc_zeros::<u8>(700_000).unwrap_err();
        assert_eq!(error.0, sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY);
        assert_eq!(context.mem_get_info().unwrap(), ((1 << 20) - 700_000, 1 << 20));
        drop(kept);
    });
    assert_eq!(found, "");
}

#[test]
fn two_devices() {
    in_seeds("devices=2", |_| {
        assert_eq!(CudaContext::device_count().unwrap(), 2);
        let (first, on_first) = on_device(0);
        let (second, on_second) = on_device(1);
        assert_ne!(first.uuid().unwrap().bytes, second.uuid().unwrap().bytes);
        let x = on_first.clone_htod(&numbers()).unwrap();
        let copied = on_second.clone_dtod(&x).unwrap();
        let kernel = module(&on_second).load_function("plain_scale_add").unwrap();
        let mut y = on_second.alloc_zeros::<f32>(N).unwrap();
        launch_scale_add(&on_second, &kernel, &copied, &mut y).unwrap();
        assert!(is_scaled(&on_second.clone_dtoh(&y).unwrap(), 2.0));
    });
}

#[test]
fn the_same_order_again() {
    let order = |seed: u64| {
        let mut order = Vec::new();
        let found = with(&format!("seed={seed} races=0 uninitialised=0"), || {
            let (context, first) = on_device(0);
            // SAFETY: the test is about which of two copies comes first.
            unsafe { context.disable_event_tracking() };
            let second = context.new_stream().unwrap();
            let sources = [pinned(&context, &[1.0; 8]), pinned(&context, &[2.0; 8])];
            // SAFETY: it is written below.
            let mut x = unsafe { first.alloc::<f32>(8) }.unwrap();
            first.synchronize().unwrap();
            for _ in 0..8 {
                first.memcpy_htod(&sources[0], &mut x).unwrap();
                second.memcpy_htod(&sources[1], &mut x).unwrap();
                context.synchronize().unwrap();
                order.push(first.clone_dtoh(&x).unwrap()[0] as u8);
            }
        });
        assert_eq!(found, "");
        order
    };
    assert_eq!(order(7), order(7));
    assert!((2..20).any(|seed| order(seed).contains(&1)) && (2..20).any(|seed| order(seed).contains(&2)));
}

#[test]
fn functions_that_are_not_there() {
    let found = with("", || {
        let (_context, stream) = on_device(0);
        let module = module(&stream);
        for name in ["not_in_the_image", "not_for_the_cpu"] {
            let error = module.load_function(name).unwrap_err();
            assert_eq!(error.0, sys::CUresult::CUDA_ERROR_NOT_FOUND, "{name}");
        }
        module.load_function("plain_stray").unwrap();
    });
    assert_eq!(found, "");
}

#[test]
fn several_threads_of_a_host() {
    for settings in ["seed=0", "seed=1", "seed=2", "seed=3", "seed=4 thread=1", "seed=1 thread=1"] {
        let found = with(settings, || {
            let (context, _) = on_device(0);
            // SAFETY: each thread uses its own memory, in one stream.
            unsafe { context.disable_event_tracking() };
            std::thread::scope(|scope| {
                for thread in 0..3 {
                    let context = &context;
                    scope.spawn(move || {
                        let stream = context.new_stream().unwrap();
                        let kernel = module(&stream).load_function("plain_scale_add").unwrap();
                        let source = pinned(context, &numbers());
                        for round in 0..10 {
                            // SAFETY: it is written below before it is read.
                            let mut x = unsafe { stream.alloc::<f32>(N) }.unwrap();
                            let mut y = stream.alloc_zeros::<f32>(N).unwrap();
                            stream.memcpy_htod(&source, &mut x).unwrap();
                            launch_scale_add(&stream, &kernel, &x, &mut y).unwrap();
                            let done = stream.record_event(None).unwrap();
                            match (thread + round) % 3 {
                                0 => while !done.is_complete() {},
                                1 => done.synchronize().unwrap(),
                                _ => {}
                            }
                            assert!(is_scaled(&stream.clone_dtoh(&y).unwrap(), 2.0));
                        }
                        stream.synchronize().unwrap();
                    });
                }
            });
        });
        assert_eq!(found, "", "with {settings}");
    }
}
