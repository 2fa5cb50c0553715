//! Runs a program on the fake driver: one at a time, each after a reset.
#![allow(dead_code, reason = "each test program uses some of it")]

use std::sync::{Arc, Mutex, OnceLock};

use cudarc::driver::{
    CudaContext, CudaFunction, CudaModule, CudaSlice, CudaStream, DriverError, LaunchConfig, PinnedHostSlice,
    PushKernelArg,
};
use cudarc::nvrtc::Ptx;
use fake_cuda::FakeDriver;

/// A module's description of the kernels that these tests launch.
const IMAGE: &str = "\
.version 8.0
.target sm_75
.address_size 64
.visible .entry plain_scale_add(.param .u64 x) { ret; }
.visible .entry plain_copy(.param .u64 x) { ret; }
.visible .entry plain_stray(.param .u64 x) { ret; }
.visible .entry not_for_the_cpu(.param .u64 x) { ret; }
";

/// The elements of the arrays.
pub(crate) const N: usize = 1000;

static DRIVER: OnceLock<FakeDriver> = OnceLock::new();

/// The number of calls of a kind since the program began.
pub(crate) fn calls(kind: &str) -> u64 {
    DRIVER.get_or_init(FakeDriver::load).calls(kind)
}

/// Runs `program` with these settings; returns the findings.
pub(crate) fn with(settings: &str, program: impl FnOnce()) -> String {
    static ALONE: Mutex<()> = Mutex::new(());
    let _alone = ALONE.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let fake = DRIVER.get_or_init(FakeDriver::load);
    fake.reset(settings);
    program();
    fake.findings_and_left()
}

/// Runs a correct program under many seeds: there must be no findings.
pub(crate) fn in_seeds(settings: &str, program: impl Fn(u64)) {
    for seed in 0..20 {
        let found = with(&format!("seed={seed} {settings}"), || program(seed));
        assert_eq!(found, "", "with the seed {seed}");
    }
}

/// A context and a stream of a device.
pub(crate) fn on_device(ordinal: usize) -> (Arc<CudaContext>, Arc<CudaStream>) {
    let context = CudaContext::new(ordinal).unwrap();
    let stream = context.new_stream().unwrap();
    (context, stream)
}

/// The module of the tests' kernels.
pub(crate) fn module(stream: &Arc<CudaStream>) -> Arc<CudaModule> {
    stream.context().load_module(Ptx::from_src(IMAGE)).unwrap()
}

/// Pinned memory with this content.
pub(crate) fn pinned(context: &Arc<CudaContext>, content: &[f32]) -> PinnedHostSlice<f32> {
    // SAFETY: it is written here.
    let mut pinned = unsafe { context.alloc_pinned_with_flags(content.len(), 0) }.unwrap();
    pinned.as_mut_slice().unwrap().copy_from_slice(content);
    pinned
}

/// 0, 1, 2 and so on.
pub(crate) fn numbers() -> Vec<f32> {
    (0..N).map(|i| i as f32).collect()
}

/// Whether `values` are the numbers times `factor`.
pub(crate) fn is_scaled(values: &[f32], factor: f32) -> bool {
    values.iter().zip(numbers()).all(|(&value, number)| value == factor * number)
}

/// `y += 2 x`
pub(crate) fn launch_scale_add(
    stream: &CudaStream,
    kernel: &CudaFunction,
    x: &CudaSlice<f32>,
    y: &mut CudaSlice<f32>,
) -> Result<(), DriverError> {
    let mut launch = stream.launch_builder(kernel);
    launch.arg(x).arg(y).arg(&2.0_f32).arg(&N);
    // SAFETY: the arguments are those of the kernel, which stays within the N elements of both.
    unsafe { launch.launch(LaunchConfig::for_num_elems(N as u32)) }.map(|_| ())
}
