//! What kernels in CUDA see of dahl: the headers that they include, and the translation of maps. And what the runtime sees
//! of them: their device code.
//!
//! [`HEADER`] is `dahl.cuh`, which every kernel includes; [`ON_CPU`] is what it includes in place of CUDA where a kernel
//! is compiled for a CPU. With the feature `translate`, the module `map` turns the body of a map, the small language that
//! `#[codelet]` accepts, into CUDA; with the feature `nvrtc`, the module `nvrtc` compiles it and the kernels of `.cu` files;
//! with the feature `texts`, the module `texts` packs the files of such kernels, so that a crate embeds them. [`CudaImage`] is
//! what becomes of a kernel by any of these ways. With the feature `calls`, the module `call` says what kernels tell cuBLAS
//! and cuDNN.
//! The macro and `dahl-build` both call the translation, so that they write the same text.

#[cfg(feature = "calls")]
pub mod call;
mod image;
#[cfg(feature = "translate")]
pub mod map;
#[cfg(feature = "nvrtc")]
pub mod nvrtc;
mod program;
#[cfg(feature = "texts")]
pub mod texts;

pub use image::CudaImage;
pub use program::{CudaProgram, CudaTexts};

/// `dahl.cuh`: element types, views and how threads divide the work.
pub const HEADER: &str = include_str!("../include/dahl.cuh");

/// `on_cpu.h`: threads, blocks, shared memory and barriers for g++.
pub const ON_CPU: &str = include_str!("../include/on_cpu.h");

/// `fibers.h`: how those threads run, which `on_cpu.h` includes.
pub const FIBERS: &str = include_str!("../include/fibers.h");

/// `map.cuh`: the functions of `Real`, and the loop over elements.
pub const MAP_HEADER: &str = include_str!("../include/map.cuh");

/// The text `entries` of entry points, as `dahl-build` writes it, of which only `entry` is compiled: tens of times as fast as all.
pub fn one_entry(entries: &str, entry: &str) -> String {
    format!("#define DAHL_ONE_ENTRY\n#define DAHL_ENTRY_{entry}\n{entries}")
}

/// All headers, with the names by which they include each other.
pub const HEADERS: [(&str, &str); 4] =
    [("dahl.cuh", HEADER), ("map.cuh", MAP_HEADER), ("on_cpu.h", ON_CPU), ("fibers.h", FIBERS)];
