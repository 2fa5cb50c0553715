//! Kernels that are compiled while the program runs, by the fake NVRTC.
#![allow(unsafe_code, reason = "launches kernels and calls the driver")]

mod program;

use cudarc::driver::{DevicePtr, DevicePtrMut, sys};
use dahl_cuda::nvrtc::{Error, Nvrtc, Target};
use program::{in_seeds, on_device, with};

const SOURCE: &str = r#"
#include "dahl.cuh"
using namespace dahl;

extern "C" __global__ void __launch_bounds__(64) turned(View<const float, 2> input, View<float, 2> out) {
    for (size_t i = first_index(); i < input.extent(0) * input.extent(1); i += grid_threads()) {
        size_t row = i / input.extent(1), col = i % input.extent(1);
        out.at(col, row) = input.at(row, col);
    }
}
"#;

/// `View<float, 2>`
#[derive(Clone, Copy)]
#[repr(C)]
struct View {
    data: sys::CUdeviceptr,
    extents: [u64; 2],
    strides: [i64; 2],
}

fn compile() -> Vec<u8> {
    let nvrtc = Nvrtc::load().unwrap();
    assert_eq!(nvrtc.version(), (13, 999));
    nvrtc.compile(SOURCE, Target::Machine(90)).unwrap()
}

/// Transposes a matrix of 3 x 5 into one of 5 x `columns`; returns the result of the launch and the wait for it.
fn turn(code: &[u8], columns: u64) -> Result<(), sys::CUresult> {
    let (_context, stream) = on_device(0);
    let mut module = std::ptr::null_mut();
    // SAFETY: the image is whole.
    unsafe { sys::cuModuleLoadData(&mut module, code.as_ptr().cast()) }.result().unwrap();
    let mut function = std::ptr::null_mut();
    // SAFETY: the module is loaded and the name ends in zero.
    unsafe { sys::cuModuleGetFunction(&mut function, module, c"turned".as_ptr()) }.result().unwrap();
    let numbers: Vec<f32> = (0..15).map(|i| i as f32).collect();
    let input = stream.clone_htod(&numbers).unwrap();
    let mut out = stream.alloc_zeros::<f32>(15).unwrap();
    let mut views = [
        View { data: input.device_ptr(&stream).0, extents: [3, 5], strides: [5, 1] },
        View { data: out.device_ptr_mut(&stream).0, extents: [5, columns], strides: [3, 1] },
    ];
    let mut parameters = views.each_mut().map(|view| std::ptr::from_mut(view).cast());
    // SAFETY: the parameters are the kernel's. Their memory is large enough, unless that is what is tested.
    let launched = unsafe {
        sys::cuLaunchKernel(
            function,
            1,
            1,
            1,
            64,
            1,
            1,
            0,
            stream.cu_stream(),
            parameters.as_mut_ptr(),
            std::ptr::null_mut(),
        )
    };
    launched.result().unwrap();
    stream.synchronize().map_err(|error| error.0)?;
    let turned = stream.clone_dtoh(&out).unwrap();
    assert!((0..15).all(|i| turned[i] == ((i % 3) * 5 + i / 3) as f32));
    // SAFETY: nothing uses it any more.
    unsafe { sys::cuModuleUnload(module) }.result().unwrap();
    Ok(())
}

#[test]
fn a_kernel_is_compiled_and_runs() {
    let mut code = Vec::new();
    with("", || code = compile());
    in_seeds("", |_| turn(&code, 3).unwrap());
}

#[test]
fn a_view_that_is_larger_than_its_memory() {
    let found = with("", || {
        assert_eq!(turn(&compile(), 4), Err(sys::CUresult::CUDA_ERROR_ILLEGAL_ADDRESS));
    });
    assert!(
        found.contains(
            "kernel turned gets an illegal address, parameter 1: bytes 0 to 64 of 60 bytes of device 0"
        ),
        "{found}"
    );
}

#[test]
fn a_view_that_is_smaller_than_what_is_written() {
    let found = with("", || {
        assert_eq!(turn(&compile(), 2), Err(sys::CUresult::CUDA_ERROR_LAUNCH_FAILED));
    });
    assert!(
        found.contains("kernel turned") && found.contains("index 2 of axis 1 is not below the extent 2"),
        "{found}"
    );
}

#[test]
fn a_text_that_is_wrong() {
    with("", || {
        let refused = Nvrtc::load()
            .unwrap()
            .compile("#include \"dahl.cuh\"\nvoid f() { no_such(); }", Target::Machine(90));
        assert!(matches!(&refused, Err(Error::Refused(log)) if log.contains("no_such")), "{refused:?}");
    });
}
