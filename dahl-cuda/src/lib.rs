//! The parts of dahl that CUDA kernels use: the headers that they include, and the translation of maps.
//!
//! [`HEADER`] is `dahl.cuh`, which every kernel includes. [`ON_CPU`] replaces CUDA's headers where a kernel is compiled
//! for a CPU. With the feature `translate`, the module `map` translates the body of a map, in the language subset that
//! `#[codelet]` accepts, to CUDA. With the feature `nvrtc`, the module `nvrtc` compiles the result and the kernels of
//! `.cu` files. With the feature `texts`, the module `texts` compresses the files of such kernels, so that a crate
//! embeds them. [`CudaImage`] is the device code of a kernel, however it was compiled. With the feature `calls`, the
//! module `call` describes calls of cuBLAS and cuDNN. The macro and `dahl-build` both call the translation, so that they generate the same text.

#[cfg(feature = "calls")]
pub mod call;
mod fused;
mod image;
mod launch;
#[cfg(feature = "translate")]
pub mod map;
#[cfg(feature = "nvrtc")]
pub mod nvrtc;
mod program;
mod stored;
#[cfg(feature = "texts")]
pub mod texts;

pub use fused::{FusedMap, FusedMaps, FusedValue};
pub use image::CudaImage;
pub use launch::{ELEMENTS_PER_BLOCK, THREADS};
pub use program::{CudaProgram, CudaTexts};
pub use stored::Stored;

/// `dahl.cuh`: element types, views and how threads divide the work.
pub const HEADER: &str = include_str!("../include/dahl.cuh");

/// `on_cpu.h`: threads, blocks, shared memory and barriers for g++.
pub const ON_CPU: &str = include_str!("../include/on_cpu.h");

/// `fibers.h`: the implementation of those threads, which `on_cpu.h` includes.
pub const FIBERS: &str = include_str!("../include/fibers.h");

/// `tensor_core.h`: the instructions of tensor cores for g++, which `on_cpu.h` includes.
pub const TENSOR_CORE: &str = include_str!("../include/tensor_core.h");

/// `map.cuh`: the functions of `Real`, and the loop over elements.
pub const MAP_HEADER: &str = include_str!("../include/map.cuh");

/// The text `entries` of entry points, by `dahl-build`, so that only `entry` is compiled: tens of times as fast as all.
pub fn one_entry(entries: &str, entry: &str) -> String {
    format!("#define DAHL_ONE_ENTRY\n#define DAHL_ENTRY_{entry}\n{entries}")
}

/// All headers, with the names by which they include each other.
pub const HEADERS: [(&str, &str); 5] = [
    ("dahl.cuh", HEADER),
    ("map.cuh", MAP_HEADER),
    ("on_cpu.h", ON_CPU),
    ("fibers.h", FIBERS),
    ("tensor_core.h", TENSOR_CORE),
];
