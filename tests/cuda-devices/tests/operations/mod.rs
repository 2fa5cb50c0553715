//! Operations on a CUDA device by libraries and by their kernels: both give the CPU's results, in every form and type;
//! and where reductions are combined.

mod convolutions;
mod gradients;
mod products;
mod reductions;

use dahl::prelude::*;
use dahl::{Result, RuntimeBuilder};
use fake_cuda::FakeDriver;

/// Runs the test on the fake driver, reset for each seed, which is an order of the work in streams; or once on the
/// driver of the machine.
fn in_seeds(test: impl Fn(&Runtime, usize, &dyn Fn() -> String) -> Result<()>) {
    with_settings("", Runtime::builder, test);
}

/// As [`in_seeds`], with settings of the fake driver and the runtime.
fn with_settings(
    settings: &str,
    builder: impl Fn() -> RuntimeBuilder,
    test: impl Fn(&Runtime, usize, &dyn Fn() -> String) -> Result<()>,
) {
    let driver = fake_cuda::driver();
    if driver.is_none() && !settings.is_empty() {
        return eprintln!("not tested: the machine's driver has no settings");
    }
    for seed in 0..4 {
        if let Some(fake) = driver.as_ref() {
            fake.reset(&format!("seed={seed} {settings}"));
            asked(fake);
        }
        let rt = match builder().cpu_workers(1).cuda_devices(1).build() {
            Ok(rt) => rt,
            Err(error) if driver.is_none() => return eprintln!("not tested: {error}"),
            Err(error) => panic!("{error}"),
        };
        let device = rt.worker_infos().iter().position(|info| !info.is_cpu()).expect("there is one");
        let told = || driver.as_ref().map_or_else(String::new, asked);
        test(&rt, device, &told).expect("nothing fails");
        drop(rt);
        match driver.as_ref() {
            Some(fake) => assert_eq!(fake.findings(), "", "seed {seed}"),
            None => return,
        }
    }
}

/// The requests to the libraries since the last call of this, a line for each product or convolution.
fn asked(fake: &FakeDriver) -> String {
    fake.products() + &fake.convolutions()
}

/// The kernels of operations that were measured on the device, except for the kernels that end a reduction.
fn measured(rt: &Runtime) -> Vec<String> {
    rt.wait().expect("nothing fails"); // elements may be home before what computed them is measured
    let models = rt.performance_models();
    let on_device = models.iter().filter(|row| row.worker_kind != "cpu");
    let kernels = on_device.map(|row| row.kernel.to_string());
    let mut kernels: Vec<_> = kernels.filter(|kernel| kernel != "fold" && kernel != "finish").collect();
    kernels.sort();
    kernels.dedup();
    kernels
}

/// Small whole numbers, whose sums of products are exact in every type.
fn numbers<T: Real>(count: usize, first: usize) -> Vec<T> {
    (first..first + count).map(|i| T::from_f64([1.0, -2.0, 3.0, 0.0, -1.0, 2.0, 0.0][i * i % 7])).collect()
}

const CPU: usize = 0;
