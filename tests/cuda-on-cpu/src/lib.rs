//! The CUDA kernels of dahl, compiled by g++ and run on the CPU (`on_cpu.h` of `dahl-cuda`), as kernels that
//! [`compare_kernels`](dahl::testing::compare_kernels) compares with the references of the operations.
//!
//! Each launch is done three times, from the same data, with the threads and blocks in another order each time: a kernel
//! whose bits depend on it fails its task. So does one that reads or writes out of bounds, or whose threads wait at
//! different barriers.
#![allow(unsafe_code, reason = "calls kernels through pointers, as a driver does")]

mod launch;
mod parameters;

use cuda_kernels as _;
use dahl::testing::{Kernel, Views};
use launch::Instance;

unsafe extern "C" {
    fn dahl_on_cpu_failure() -> *const std::ffi::c_char;
    fn dahl_on_cpu_set_schedule(schedule: u64);
}

macro_rules! table {
    ($($name:ident $symbol:ident $kernel:literal [$($rank:expr),*] $task:literal;)*) => {
        mod entries {
            unsafe extern "C" {
                $(pub(crate) fn $symbol(parameters: *mut *mut std::ffi::c_void, plan: *mut crate::launch::Plan);)*
            }
        }

        $(
            fn $name(views: &mut Views<'_>) {
                launch::run(&Instance { kernel: $kernel, entry: entries::$symbol, ranks: &[$($rank),*], takes_task: $task }, views);
            }
        )*

        /// All kernels: with the name of the instance, `sum_axis_f32`.
        static KERNELS: &[(&str, Kernel)] = &[$((stringify!($name), Kernel::new(concat!($kernel, "_cuda"), $name))),*];
    };
}

include!(concat!(env!("CUDA_KERNELS"), "/table.rs"));

/// The kernel of this name for these element types, such as `sum_axis` for `f32`.
///
/// # Panics
/// If there is none.
pub fn kernel(name: &str, types: &[&str]) -> &'static [Kernel] {
    let instance = [&[name], types].concat().join("_");
    let found = KERNELS.iter().find(|(name, _)| *name == instance);
    std::slice::from_ref(&found.unwrap_or_else(|| panic!("there is no kernel {instance}")).1)
}
