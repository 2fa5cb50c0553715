//! NVRTC, CUDA's compiler as a library: for maps and kernels that were not compiled when their crate was built.
//!
//! It is loaded when it is first wanted, and needs neither a device nor a toolkit: the headers are this crate's. What it
//! made is kept on disk ([`Cache`]). Not here: loading the result into a device.
#![allow(unsafe_code, reason = "calls functions of a library in C")]

mod cache;
mod library;

use std::fmt;

pub use cache::{Cache, Compiled};
pub use library::Nvrtc;

/// What to compile: a text, and the headers that it includes beside dahl's.
#[derive(Clone, Copy, Debug)]
pub struct Program<'a> {
    /// What the compiler's messages call the text.
    pub name: &'a str,
    /// The text.
    pub source: &'a str,
    /// Headers with the names by which they are included. dahl's own need not be among them.
    pub headers: &'a [(&'a str, &'a str)],
}

impl<'a> From<&'a str> for Program<'a> {
    /// A text that includes dahl's headers and no others, as that of a map.
    fn from(source: &'a str) -> Self {
        Self { name: "map.cu", source, headers: &[] }
    }
}

impl<'a> From<&'a String> for Program<'a> {
    fn from(source: &'a String) -> Self {
        Self::from(&**source)
    }
}

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
