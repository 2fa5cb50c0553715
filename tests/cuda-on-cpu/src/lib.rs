//! The CUDA kernels of dahl, compiled by g++ and run on the CPU (`on_cpu.h` of `dahl-cuda`), as kernels that
//! [`compare_kernels`](dahl::testing::compare_kernels) compares with the references of the operations.
//!
//! Each task runs three times, from the same data, with another order of threads and blocks each time. A kernel whose
//! bits depend on the order fails its task, and so does one that reads or writes out of bounds, or whose threads wait
//! at different barriers. The launches are those of the runtime for a device: from the same tables, by the same
//! arithmetic.
#![allow(unsafe_code, reason = "calls kernels through pointers, as a driver does")]

mod launch;
mod parameters;

use cuda_kernels as _;
use dahl::testing::Kernel;

unsafe extern "C" {
    fn dahl_on_cpu_failure() -> *const std::ffi::c_char;
    fn dahl_on_cpu_set_schedule(schedule: u64);
}

/// The entry points of the kernels of one folder, by name.
macro_rules! entries {
    ($($name:ident $symbol:ident;)*) => {
        unsafe extern "C" {
            $(fn $symbol(grid: *const u32, block: *const u32, shared_bytes: usize, parameters: *mut *mut std::ffi::c_void);)*
        }

        static ENTRIES: &[(&str, $crate::launch::Entry)] = &[$((stringify!($name), $symbol)),*];
    };
}

/// The kernels of one folder for each of their types, by name: `sum_axis_f32`.
macro_rules! instances {
    ($($name:ident $kernel:ident [$($element:ty),*];)*) => {
        $(
            fn $name(views: &mut dahl::testing::Views<'_>) {
                let types = const { &[$(dahl::ElementType::of::<$element>()),*] };
                let instance = $kernel.instance(types).expect("the table has the types of the kernel");
                $crate::launch::run(&instance, ENTRIES, views);
            }
        )*

        pub(crate) static KERNELS: &[(&str, dahl::testing::Kernel)] =
            &[$((stringify!($name), dahl::testing::Kernel::new(stringify!($name), $name))),*];
    };
}

macro_rules! folder {
    ($name:ident) => {
        #[allow(unreachable_pub, reason = "the table is that of a crate that shows its kernels")]
        mod $name {
            use dahl::__private as dahl_private;
            #[allow(unused_imports)]
            use dahl::{bf16, f16};

            include!(concat!(env!("CUDA_KERNELS"), "/", stringify!($name), ".rs"));
        }
    };
}

folder!(operations);
folder!(generated);
folder!(mistakes);

/// The kernel of this name for these element types, such as `sum_axis` for `f32`.
///
/// # Panics
/// If there is none.
pub fn kernel(name: &str, types: &[&str]) -> &'static [Kernel] {
    let instance = [&[name], types].concat().join("_");
    let mut all = [operations::KERNELS, generated::KERNELS, mistakes::KERNELS].into_iter().flatten();
    let found = all.find(|(name, _)| *name == instance);
    std::slice::from_ref(&found.unwrap_or_else(|| panic!("there is no kernel {instance}")).1)
}
