//! Matrix products on a CUDA device, in turn: `matmul` as it is chosen, by its kernel in CUDA, and cuBLAS called directly, in TFLOP/s by
//! the best of the rounds. A line of JSON for each figure; `--tiny` in sizes that say nothing, to show that it works.
//!
//! `cargo bench -p dahl-benches --bench cuda_gemm`

#![allow(unsafe_code, reason = "calls cuBLAS")]

use std::ffi::{c_int, c_void};
use std::ptr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use cudarc::driver::{CudaContext, CudaSlice, CudaStream, DevicePtr, DevicePtrMut};
use dahl::ops::Transposed;
use dahl::ops::codelets::Matmul;
use dahl::prelude::*;
use dahl::{bf16, f16};
use libloading::{Library, Symbol};

const ROUNDS: usize = 5;
/// What one program is measured for in a round, about.
const AT_LEAST: Duration = Duration::from_millis(40);

type Failure = Box<dyn std::error::Error>;
type Handle = *mut c_void;
type Create = unsafe extern "C" fn(*mut Handle) -> c_int;
type SetStream = unsafe extern "C" fn(Handle, *mut c_void) -> c_int;
type Gemm = unsafe extern "C" fn(
    Handle,
    c_int,
    c_int,
    i64,
    i64,
    i64,
    *const c_void,
    u64,
    c_int,
    i64,
    u64,
    c_int,
    i64,
    *const c_void,
    u64,
    c_int,
    i64,
    c_int,
    c_int,
) -> c_int;

/// cuBLAS, called directly.
struct Cublas {
    library: Library,
    handle: Handle,
    stream: Arc<CudaStream>,
}

impl Cublas {
    fn new(context: &Arc<CudaContext>) -> Result<Self, Failure> {
        let load = |name| {
            // SAFETY: a library of CUDA's, whose initialisation has no requirements.
            unsafe { Library::new(name) }
        };
        let library = load("libcublas.so.13").or_else(|_| load("libcublas.so.12"))?;
        let stream = context.new_stream()?;
        let mut handle = ptr::null_mut();
        // SAFETY: the function has this type.
        let create: Symbol<'_, Create> = unsafe { library.get(b"cublasCreate_v2\0") }?;
        // SAFETY: room for a handle; the context is current.
        let status = unsafe { create(&raw mut handle) };
        check("cublasCreate", status)?;
        // SAFETY: the function has this type.
        let set_stream: Symbol<'_, SetStream> = unsafe { library.get(b"cublasSetStream_v2\0") }?;
        // SAFETY: the stream is the handle's context's.
        let status = unsafe { set_stream(handle, stream.cu_stream().cast()) };
        check("cublasSetStream", status)?;
        Ok(Self { library, handle, stream })
    }

    /// Of matrices in rows: the transpose of what cuBLAS sees.
    fn multiply(&self, size: usize, of: &mut Buffers) -> Result<(), Failure> {
        let (one, zero) = ([1.0_f64], [0.0_f64]);
        let (narrow_one, narrow_zero) = ([1.0_f32], [0.0_f32]);
        let (alpha, beta): (*const c_void, *const c_void) = if of.compute == 70 {
            (one.as_ptr().cast(), zero.as_ptr().cast())
        } else {
            (narrow_one.as_ptr().cast(), narrow_zero.as_ptr().cast())
        };
        let ((a, _a), (b, _b)) = (of.a.device_ptr(&self.stream), of.b.device_ptr(&self.stream));
        let (out, _out) = of.out.device_ptr_mut(&self.stream);
        let size = size as i64;
        // SAFETY: the function has this type.
        let gemm = unsafe { self.library.get::<Gemm>(b"cublasGemmEx_64\0") }?;
        // SAFETY: square matrices of this size, on the device, and factors on the host, of the types that are named.
        let status = unsafe {
            gemm(
                self.handle,
                0,
                0,
                size,
                size,
                size,
                alpha,
                b,
                of.element,
                size,
                a,
                of.element,
                size,
                beta,
                out,
                of.element,
                size,
                of.compute,
                -1,
            )
        };
        check("cublasGemmEx", status)
    }
}

fn check(call: &str, status: c_int) -> Result<(), Failure> {
    if status == 0 { Ok(()) } else { Err(format!("{call}: {status}").into()) }
}

/// The matrices on the device, and their types as cuBLAS numbers them.
struct Buffers {
    a: CudaSlice<u8>,
    b: CudaSlice<u8>,
    out: CudaSlice<u8>,
    element: c_int,
    compute: c_int,
}

impl Buffers {
    fn new<T: Real>(stream: &Arc<CudaStream>, size: usize) -> Result<Self, Failure> {
        let bytes = |numbers: Vec<T>| {
            let mut bytes = vec![0; numbers.len() * size_of::<T>()];
            let places = bytes.chunks_mut(size_of::<T>());
            numbers.into_iter().zip(places).for_each(|(number, place)| number.encode(place));
            bytes
        };
        let (element, compute) = match T::NAME {
            "f32" => (0, 68),
            "f64" => (1, 70),
            "f16" => (2, 68),
            _ => (14, 68),
        };
        let upload = |first| stream.clone_htod(&bytes(numbers::<T>(size, first)));
        let out = stream.alloc_zeros(size * size * size_of::<T>())?;
        Ok(Self { a: upload(0)?, b: upload(1)?, out, element, compute })
    }
}

/// What a device's power goes with: numbers that differ.
fn numbers<T: Real>(size: usize, first: usize) -> Vec<T> {
    (0..size * size)
        .map(|i| T::from_f64(((i * 7919 + first * 104_729) % 4001) as f64 / 1000.3 - 2.0))
        .collect()
}

/// Seconds of one call, of as many as take the time.
fn seconds(calls: &mut usize, mut run: impl FnMut(usize) -> Result<(), Failure>) -> Result<f64, Failure> {
    loop {
        let began = Instant::now();
        run(*calls)?;
        let taken = began.elapsed();
        if taken >= AT_LEAST || *calls >= 4096 {
            return Ok(taken.as_secs_f64() / *calls as f64);
        }
        *calls *= 2;
    }
}

fn measure<T: Real>(rt: &Runtime, cublas: &Cublas, sizes: &[usize]) -> Result<(), Failure> {
    let kind = rt.worker_infos().iter().find(|info| !info.is_cpu()).expect("there is a device").kind.clone();
    for &size in sizes {
        let a: Matrix<'_, T> = rt.from_vec([size, size], numbers(size, 0))?;
        let b: Matrix<'_, T> = rt.from_vec([size, size], numbers(size, 1))?;
        let mut out: Matrix<'_, T> = rt.zeros([size, size])?;
        let mut buffers = Buffers::new::<T>(&cublas.stream, size)?;
        let (mut best, mut calls) = ([f64::INFINITY; 3], [1; 3]);
        // The first round warms up.
        for round in 0..=ROUNDS {
            // A device that has just been busy may have become slower: each comes first, second and third.
            for program in [0, 1, 2].map(|place| (place + round) % 3) {
                let taken = seconds(&mut calls[program], |calls| {
                    for _ in 0..calls {
                        if program == 2 {
                            cublas.multiply(size, &mut buffers)?;
                            continue;
                        }
                        let task = Matmul::task(&a, &b, &mut out, Transposed::NEITHER).on_kind(&kind);
                        let task = if program == 1 { task.kernel("cuda") } else { task };
                        task.submit()?;
                    }
                    rt.wait()?;
                    Ok(cublas.stream.synchronize()?)
                })?;
                if round > 0 {
                    best[program] = best[program].min(taken);
                }
            }
        }
        for (program, taken) in ["dahl", "dahl, its kernel", "cuBLAS"].into_iter().zip(best) {
            let rate = 2.0 * (size as f64).powi(3) / taken / 1e12;
            let row = format!("matmul-{}-{size}", T::NAME);
            println!(r#"{{"row": "{row}", "kind": "{program}", "value": {rate}, "unit": "TFLOP/s"}}"#);
        }
    }
    Ok(())
}

fn main() -> Result<(), Failure> {
    let is_tiny = std::env::args().any(|argument| argument == "--tiny");
    let sizes: &[usize] = if is_tiny { &[16] } else { &[256, 1024, 4096, 8192] };
    let rt = Runtime::builder().cpu_workers(1).cuda_devices(1).build()?;
    let cublas = Cublas::new(&CudaContext::new(0)?)?;
    measure::<f32>(&rt, &cublas, sizes)?;
    measure::<bf16>(&rt, &cublas, sizes)?;
    measure::<f16>(&rt, &cublas, sizes)?;
    measure::<f64>(&rt, &cublas, sizes)
}
