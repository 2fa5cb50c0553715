//! NVRTC, CUDA's compiler as a library: for maps that were not compiled when the crate was built.
//!
//! It is loaded when it is first wanted, and needs neither a device nor a toolkit: the headers are this crate's. What it
//! made is kept on disk ([`Cache`]). Not here: loading the result into a device.
#![allow(unsafe_code, reason = "calls functions of a library in C")]

mod cache;
mod library;

use std::fmt;

pub use cache::{Cache, Compiled};
pub use library::Nvrtc;

/// What to compile for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// Machine code of one architecture: 90 for compute capability 9.0.
    Machine(u32),
    /// PTX for devices from a compute capability on. It ends in a zero byte, as drivers want it.
    Ptx(u32),
}

impl Target {
    /// The option of the compiler.
    fn option(self) -> String {
        match self {
            Self::Machine(capability) => format!("--gpu-architecture=sm_{capability}"),
            Self::Ptx(capability) => format!("--gpu-architecture=compute_{capability}"),
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Machine(capability) => write!(f, "sm_{capability}"),
            Self::Ptx(capability) => write!(f, "compute_{capability}"),
        }
    }
}

/// Why nothing was compiled.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// There is no library; where it was looked for.
    Absent(String),
    /// A library lacks a function.
    Incomplete(String),
    /// The compiler refuses the text; its messages.
    Refused(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Absent(places) => write!(
                f,
                "there is no NVRTC ({places}): install CUDA or the wheel nvidia-cuda-nvrtc, and name its folder in DAHL_NVRTC"
            ),
            Self::Incomplete(function) => {
                write!(f, "NVRTC has no function `{function}`: a version from 12 on is needed")
            }
            Self::Refused(messages) => write!(f, "NVRTC did not compile a kernel:\n{messages}"),
        }
    }
}

impl std::error::Error for Error {}
