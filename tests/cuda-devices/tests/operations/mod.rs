//! Operations on a CUDA device by libraries and by their kernels: each of the CPU's result, in every form and type; and
//! where their reductions are combined.

mod convolutions;
mod products;
mod reductions;

use cuda_stand_in::StandIn;
use dahl::prelude::*;
use dahl::{Result, RuntimeBuilder};

/// Begins anew on the stand-in for each seed, which is an order of what streams hold; once on the driver of a machine.
fn in_seeds(test: impl Fn(&Runtime, usize, &dyn Fn() -> String) -> Result<()>) {
    with_settings("", Runtime::builder, test);
}

/// As [`in_seeds`], with settings of the stand-in and the runtime.
fn with_settings(
    settings: &str,
    builder: impl Fn() -> RuntimeBuilder,
    test: impl Fn(&Runtime, usize, &dyn Fn() -> String) -> Result<()>,
) {
    let driver = cuda_stand_in::driver();
    if driver.is_none() && !settings.is_empty() {
        return eprintln!("not tested: the machine's driver has no settings");
    }
    for seed in 0..4 {
        if let Some(stand_in) = driver.as_ref() {
            stand_in.reset(&format!("seed={seed} {settings}"));
            asked(stand_in);
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
            Some(stand_in) => assert_eq!(stand_in.findings(), "", "seed {seed}"),
            None => return,
        }
    }
}

/// What the libraries were asked for since this was asked last, a line for each product or convolution.
fn asked(stand_in: &StandIn) -> String {
    stand_in.products() + &stand_in.convolutions()
}

/// The kernels of operations that were measured on the device: not what ends a reduction.
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
