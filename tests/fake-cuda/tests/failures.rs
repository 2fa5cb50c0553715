//! Failures on demand.
#![allow(unsafe_code, reason = "launches kernels")]

mod program;

use cudarc::driver::{CudaContext, sys};
use program::{N, launch_scale_add, module, numbers, on_device, with};

type Code = sys::CUresult;

/// The results of five launches, and of the wait after each.
fn launches(settings: &str) -> Vec<(Option<Code>, Option<Code>)> {
    let mut results = Vec::new();
    let found = with(settings, || {
        let (_context, stream) = on_device(0);
        let kernel = module(&stream).load_function("plain_scale_add").unwrap();
        let x = stream.clone_htod(&numbers()).unwrap();
        let mut y = stream.alloc_zeros::<f32>(N).unwrap();
        stream.synchronize().unwrap();
        for _ in 0..5 {
            let launched = launch_scale_add(&stream, &kernel, &x, &mut y).err().map(|error| error.0);
            results.push((launched, stream.synchronize().err().map(|error| error.0)));
        }
    });
    assert_eq!(found, "");
    results
}

#[test]
fn one_launch() {
    let failed = (Some(Code::CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES), None);
    let fine = (None, None);
    assert_eq!(launches("fail=launch:3"), [fine, fine, failed, fine, fine]);
    assert_eq!(launches("fail=launch:2-3"), [fine, failed, failed, fine, fine]);
    assert_eq!(launches("fail=launch@1:2"), [fine; 5]);
    let timeout = (Some(Code::CUDA_ERROR_LAUNCH_TIMEOUT), None);
    assert_eq!(launches("fail=launch:1=702"), [timeout, fine, fine, fine, fine]);
}

#[test]
fn an_illegal_address_stays() {
    let fine = (None, None);
    let stays = Some(Code::CUDA_ERROR_ILLEGAL_ADDRESS);
    assert_eq!(
        launches("fail=fault:2"),
        [fine, (None, stays), (stays, stays), (stays, stays), (stays, stays)]
    );
}

#[test]
fn a_device_is_lost_and_the_other_goes_on() {
    let found = with("devices=2 fail=lost@1:12", || {
        let (_first, on_first) = on_device(0);
        let (_second, on_second) = on_device(1);
        let lost = (0..100).find_map(|_| on_second.clone_htod(&numbers()).err());
        assert_eq!(lost.unwrap().0, Code::CUDA_ERROR_UNKNOWN);
        assert_eq!(on_second.synchronize().unwrap_err().0, Code::CUDA_ERROR_UNKNOWN);
        let x = on_first.clone_htod(&numbers()).unwrap();
        assert_eq!(on_first.clone_dtoh(&x).unwrap(), numbers());
        assert_eq!(CudaContext::new(1).unwrap_err().0, Code::CUDA_ERROR_DEVICE_UNAVAILABLE);
    });
    assert!(!found.contains("device 0"), "{found}");
}

#[test]
fn memory_of_the_device_and_the_host() {
    with("fail=alloc:2,host_alloc:1", || {
        let (context, stream) = on_device(0);
        let first = stream.alloc_zeros::<f32>(N).unwrap();
        assert_eq!(stream.alloc_zeros::<f32>(N).unwrap_err().0, Code::CUDA_ERROR_OUT_OF_MEMORY);
        stream.alloc_zeros::<f32>(N).unwrap();
        // SAFETY: nothing is read of it.
        let pinned = unsafe { context.alloc_pinned::<f32>(N) };
        assert_eq!(pinned.err().unwrap().0, Code::CUDA_ERROR_OUT_OF_MEMORY);
        drop(first);
    });
}

#[test]
fn no_device() {
    with("devices=0", || assert_eq!(CudaContext::new(0).unwrap_err().0, Code::CUDA_ERROR_NO_DEVICE));
    with("fail=init:1", || {
        assert_eq!(CudaContext::new(0).unwrap_err().0, Code::CUDA_ERROR_NO_DEVICE);
        CudaContext::new(0).unwrap();
    });
}
