//! NVRTC, CUDA's compiler as a library, for maps and kernels that were not compiled when their crate was built.
//!
//! It is loaded at first use, and needs neither a device nor a toolkit: this crate has the headers. Its output is kept
//! on disk ([`Cache`]). Not here: loading the output into a device.
#![allow(unsafe_code, reason = "calls functions of a library in C")]

mod cache;
mod library;

use std::fmt;

pub use cache::{Cache, Compiled};
pub use library::Nvrtc;

/// A program to compile: a text, and the headers that it includes in addition to dahl's.
#[derive(Clone, Copy, Debug)]
pub struct Program<'a> {
    /// The name of the text in the compiler's messages.
    pub name: &'a str,
    /// The text.
    pub source: &'a str,
    /// Headers with the names by which they are included; dahl's own are always found.
    pub headers: &'a [(&'a str, &'a str)],
}

impl<'a> From<&'a str> for Program<'a> {
    /// A text that includes only dahl's headers, such as that of a map.
    fn from(source: &'a str) -> Self {
        Self { name: "map.cu", source, headers: &[] }
    }
}

impl<'a> From<&'a String> for Program<'a> {
    fn from(source: &'a String) -> Self {
        Self::from(&**source)
    }
}

/// The target of a compilation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// Machine code of one architecture: 90 for compute capability 9.0.
    Machine(u32),
    /// PTX for devices from a compute capability on. It ends in a zero byte, as drivers require.
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

/// Why a compilation failed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The library was not found; the places that were searched.
    Absent(String),
    /// A library lacks a function.
    Incomplete(String),
    /// The compiler refused the text; its messages.
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
