//! [`CudaImage`]: device code as it is loaded into a device.

use std::fmt;

/// Device code of one source file, with all of its entry points.
#[derive(Clone, Copy)]
pub enum CudaImage {
    /// Machine code for several architectures, and PTX for all later ones, compressed: what `nvcc` made at build time.
    Fatbin(&'static [u8]),
    /// PTX, ending in a zero byte, which the driver compiles: what is kept with the sources.
    Ptx(&'static [u8]),
    /// The text in CUDA of a map, to be compiled where it is first used.
    Source(&'static str),
    /// None was made, for the reason that is given.
    Missing(&'static str),
}

impl CudaImage {
    /// The bytes that a device loads, if there are any.
    pub fn bytes(&self) -> Option<&'static [u8]> {
        match self {
            Self::Fatbin(bytes) | Self::Ptx(bytes) => Some(bytes),
            Self::Source(_) | Self::Missing(_) => None,
        }
    }
}

impl fmt::Debug for CudaImage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fatbin(bytes) => write!(f, "Fatbin({} bytes)", bytes.len()),
            Self::Ptx(bytes) => write!(f, "Ptx({} bytes)", bytes.len()),
            Self::Source(text) => write!(f, "Source({} bytes)", text.len()),
            Self::Missing(reason) => write!(f, "Missing({reason})"),
        }
    }
}
