//! The build-time generator of dahl: compiles a crate's kernels in C and CUDA and writes the table by which codelets name
//! them.
//!
//! A crate with kernels in C has them in a folder, one a file, and a build script of one line:
//!
//! ```no_run
//! // build.rs
//! dahl_build::kernels("kernels");
//! ```
//!
//! `dahl-build` is a build dependency. In the crate, `dahl::include_kernels!();` declares a module `kernels` with a
//! constant for each file, such as `kernels::DOT_C` for `kernels/dot.c`. `cpu = [kernels::DOT_C]` in a declaration
//! gives the codelet that kernel, for f32 and f64.
//!
//! # Kernels
//! `kernels/dot.c` defines `static void dot(..)`. The types of its parameters are those of the header `dahl.h`, which
//! this crate contains (`include/dahl.h`) and writes to a folder where `#include "dahl.h"` finds it:
//!
//! ```c
#![doc = include_str!("../include/dahl.h")]
//! ```
//!
//! `kernels/*.cu` contain CUDA kernels. Each has a constant, such as `kernels::CONV2D` for `DAHL_KERNEL(conv2d, ..)`,
//! for the option `cuda = kernels::CONV2D`. `docs/cuda.md` and `kernels/include/README.md` of dahl describe how to
//! write them, and how they are compiled with nvcc and without.
//!
//! # What happens
//! Each C file is compiled twice, with `DAHL_REAL` as `float` and as `double`, with optimisation in every profile and
//! for the target's baseline processor. The signature is read from the source. A codelet whose modes or arguments
//! differ does not compile, and the message names both sides. Headers beside the kernels, or in `include/` there, are
//! found. The crate [`cc`] chooses the compiler, which the variable `CC` overrides.
//!
//! # Errors
//! A missing folder, a missing C compiler, code that does not compile, and a signature that cannot be read stop the
//! build, and the message names the file. A missing nvcc does not: then NVRTC compiles CUDA kernels at first use.

mod compile;
mod cuda;
mod error;
mod shim;
mod signature;
mod source;
mod table;
mod token;

use std::path::Path;

pub use cuda::{OnCpu, Program};
use error::Error;
use source::Source;

/// Compiles the kernels in `folder`, a path in the crate, and writes their table. For build scripts.
///
/// An error stops the build with a message.
pub fn kernels(folder: &str) {
    if let Err(error) = generate(folder) {
        // Cargo shows each line as an error of the package, and fails the build when the script has ended.
        for line in error.to_string().lines() {
            println!("cargo::error={line}");
        }
    }
}

/// The input of NVRTC for the CUDA kernels in `folder` of the package in `package`; NVRTC compiles one entry point at a
/// time. For tests of that.
///
/// # Errors
/// An error in a kernel, with its file and line; a file that cannot be read.
pub fn programs(package: &Path, folder: &str) -> Result<Vec<Program>, String> {
    cuda::programs(package, folder).map_err(|error| error.to_string())
}

/// Compiles the CUDA kernels in `folder` of the package in `package` to PTX, and keeps it in `folder/ptx` for a
/// release: a package with it runs its kernels on machines with a driver and without a compiler. The program `dahl-ptx`
/// calls this.
///
/// # Errors
/// If there is no nvcc, or a kernel does not compile: a message that names the file.
pub fn keep_ptx(package: &Path, folder: &str) -> Result<usize, String> {
    let work = std::env::temp_dir().join(format!("dahl-ptx-{}", std::process::id()));
    let made = std::fs::create_dir_all(&work).map_err(|error| Error::file(&work, &error));
    let kept = made.and_then(|()| cuda::keep_ptx(package, folder, &work));
    // A remaining folder is harmless.
    let _ = std::fs::remove_dir_all(&work);
    kept.map_err(|error| error.to_string())
}

/// Writes the CUDA kernels in `folder` of the package in `package` as C++ into `out`, to run them on a CPU with the
/// threads of `on_cpu.h`: for tests without a device. `tests/cuda-kernels` shows how dahl calls it.
///
/// # Errors
/// An error in a kernel, with its file and line; a file that cannot be read or written.
pub fn on_cpu(package: &Path, folder: &str, out: &Path) -> Result<OnCpu, String> {
    cuda::on_cpu(package, folder, out).map_err(|error| error.to_string())
}

fn generate(folder: &str) -> Result<(), Error> {
    println!("cargo::rerun-if-changed={folder}");
    for variable in cuda::VARIABLES {
        println!("cargo::rerun-if-env-changed={variable}");
    }
    Package::from_cargo()?.generate(folder)
}

/// The values that Cargo passes to a build script.
#[derive(Debug)]
struct Package {
    /// The folder of its `Cargo.toml`.
    folder: String,
    /// The folder of generated files.
    out: String,
    /// The platforms that it is built for and on.
    target: String,
    host: String,
    /// The prefix of its C symbols: two packages may have kernels with the same name.
    prefix: String,
}

impl Package {
    fn from_cargo() -> Result<Self, Error> {
        let variable = |name: &str| {
            std::env::var(name).map_err(|_| {
                Error::about(
                    name,
                    "not set: dahl_build::kernels is to be called in a build script, which Cargo runs",
                )
            })
        };
        let (name, version) = (variable("CARGO_PKG_NAME")?, variable("CARGO_PKG_VERSION")?);
        let prefix = format!("dahl_kernel_{name}_{version}")
            .replace(|letter: char| !letter.is_ascii_alphanumeric(), "_");
        Ok(Self {
            folder: variable("CARGO_MANIFEST_DIR")?,
            out: variable("OUT_DIR")?,
            target: variable("TARGET")?,
            host: variable("HOST")?,
            prefix,
        })
    }

    fn generate(&self, folder: &str) -> Result<(), Error> {
        let sources = Source::find(Path::new(&self.folder), folder)?;
        let cuda = cuda::generate(self, folder)?;
        let table = Path::new(&self.out).join("kernels.rs");
        let text = table::table(self, &sources) + &cuda.table;
        std::fs::write(&table, text).map_err(|error| Error::file(&table, &error))?;
        for sentence in &cuda.warnings {
            println!("cargo::warning={sentence}");
        }
        compile::compile(self, folder, &sources)
    }
}

#[cfg(test)]
mod tests;
