//! [`Toolkit`]: finds and runs the compiler nvcc. It never asks for the machine's device.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::architectures::{self, Architectures};
use crate::error::Error;

/// The variables that name nvcc and its options. `DAHL_NVCC` is its path, or 0 for none.
pub(crate) const VARIABLES: [&str; 5] =
    ["DAHL_NVCC", "CUDA_HOME", "CUDA_PATH", CHECKED, architectures::VARIABLE];

/// 1 for kernels whose views check indices: they are slower, and stop with a message.
const CHECKED: &str = "DAHL_CUDA_CHECKED";

/// Options of every compilation. Products and sums are not contracted, so that results equal the CPU's as far as
/// possible.
const OPTIONS: [&str; 5] =
    ["-std=c++17", "-O3", "--fmad=false", "--expt-relaxed-constexpr", "-diag-suppress=177"];

/// A compiler for CUDA.
#[derive(Debug)]
pub(crate) struct Toolkit {
    nvcc: PathBuf,
    /// The version that it prints.
    version: String,
    /// Whether views check indices.
    checked: bool,
    architectures: Architectures,
}

impl Toolkit {
    /// The nvcc that the variables name, or that is in `PATH` or in `/usr/local/cuda`.
    pub(crate) fn find() -> Result<Option<Self>, Error> {
        match env::var_os("DAHL_NVCC") {
            Some(none) if none == "0" => return Ok(None),
            Some(path) if !path.is_empty() => {
                let nvcc = PathBuf::from(path);
                let version = version(&nvcc).ok_or_else(|| {
                    let fact = "named by DAHL_NVCC, it does not run as nvcc: expected its path, or 0 to build without it";
                    Error::about(nvcc.display(), fact)
                })?;
                return Self::new(nvcc, version).map(Some);
            }
            _ => {}
        }
        let homes = ["CUDA_HOME", "CUDA_PATH"].into_iter().filter_map(env::var_os).map(PathBuf::from);
        let binaries = homes.map(|home| home.join("bin/nvcc"));
        let others = ["nvcc", "/usr/local/cuda/bin/nvcc"].map(PathBuf::from);
        let found = binaries.chain(others).find_map(|nvcc| Some((version(&nvcc)?, nvcc)));
        found.map(|(version, nvcc)| Self::new(nvcc, version)).transpose()
    }

    fn new(nvcc: PathBuf, version: String) -> Result<Self, Error> {
        let checked = env::var_os(CHECKED).is_some_and(|value| value == "1");
        Ok(Self { nvcc, version, checked, architectures: Architectures::from_env()? })
    }

    /// The same, with views that check indices or not.
    #[cfg(test)]
    pub(crate) fn checked(self, checked: bool) -> Self {
        Self { checked, ..self }
    }

    /// The same, for other devices.
    #[cfg(test)]
    pub(crate) fn architectures(self, architectures: Architectures) -> Self {
        Self { architectures, ..self }
    }

    /// Everything except the source that determines the result of [`fatbin`](Self::fatbin).
    pub(crate) fn makes_fatbins_by(&self) -> String {
        format!("{}\n{} {}\n", self.version, OPTIONS.join(" "), self.fatbin_options().join(" "))
    }

    fn fatbin_options(&self) -> Vec<String> {
        let checked = self.checked.then_some("-DDAHL_CHECKED");
        let always = ["-fatbin", "-Xfatbin=-compress-all"].into_iter().chain(checked).map(str::to_owned);
        always.chain(self.architectures.options()).collect()
    }

    /// Compiles `file` to machine code and PTX for the architectures.
    pub(crate) fn fatbin(&self, file: &Path, includes: &[PathBuf], to: &Path) -> Result<(), Error> {
        self.run(file, includes, to, &self.fatbin_options())
    }

    /// Compiles `file` to PTX for every device from compute capability 7.5 on.
    pub(crate) fn ptx(&self, file: &Path, includes: &[PathBuf], to: &Path) -> Result<(), Error> {
        self.run(file, includes, to, &["-ptx", "-arch=compute_75"].map(str::to_owned))
    }

    fn run(&self, file: &Path, includes: &[PathBuf], to: &Path, options: &[String]) -> Result<(), Error> {
        let mut command = Command::new(&self.nvcc);
        command.args(OPTIONS).args(options).arg("-o").arg(to);
        for include in includes {
            command.arg("-I").arg(include);
        }
        let output = command.arg(file).output().map_err(|error| Error::file(&self.nvcc, &error))?;
        if output.status.success() {
            return Ok(());
        }
        let messages = String::from_utf8_lossy(&output.stderr);
        let others = if messages.contains("gpu architecture") {
            format!("; {} says for which devices it compiles", architectures::VARIABLE)
        } else {
            String::new()
        };
        let fact = format!(
            "{} did not compile it:\n{}\nDAHL_NVCC=0 builds without nvcc{others}",
            self.nvcc.display(),
            messages.trim_end()
        );
        Err(Error::about(file.display(), fact))
    }
}

/// The version that nvcc prints; none if it is not nvcc.
fn version(nvcc: &Path) -> Option<String> {
    let output =
        Command::new(nvcc).arg("--version").output().ok().filter(|output| output.status.success())?;
    let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    text.contains("release").then_some(text)
}
