//! [`CudaImage`]: device code in the form that a device loads.

use std::fmt;

use super::program::CudaProgram;

/// Device code of one source file, with all of its entry points.
#[derive(Clone, Copy)]
pub enum CudaImage {
    /// Machine code for several architectures, and PTX for all later ones, compressed: what `nvcc` made at build time.
    Fatbin(&'static [u8]),
    /// PTX, packed, which the driver compiles kernel by kernel: what a release has beside the sources.
    Ptx(&'static [u8]),
    /// PTX as text, all of which the driver compiles.
    Text(&'static str),
    /// The texts of kernels, which NVRTC compiles kernel by kernel where they are first used.
    Program(CudaProgram),
    /// The text in CUDA of a map, to be compiled where it is first used.
    Source(&'static str),
    /// None was made, for the reason that is given.
    Missing(&'static str),
}

impl fmt::Debug for CudaImage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fatbin(bytes) => write!(f, "Fatbin({} bytes)", bytes.len()),
            Self::Ptx(bytes) => write!(f, "Ptx({} bytes)", bytes.len()),
            Self::Text(text) => write!(f, "Text({} bytes)", text.len()),
            Self::Program(program) => write!(f, "Program({:?})", program.files()),
            Self::Source(text) => write!(f, "Source({} bytes)", text.len()),
            Self::Missing(reason) => write!(f, "Missing({reason})"),
        }
    }
}
