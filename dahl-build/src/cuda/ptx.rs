//! PTX that a release contains in `kernels/ptx/`, for machines without a CUDA compiler. This module checks whether it
//! was compiled from the present sources.
//!
//! `kernels/ptx/SOURCES` has a line for each file: its name, and the hash of all of its inputs. The PTX itself is
//! compressed.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use super::embedded::headers;
use super::entries::for_device;
use super::source::{Source, files};
use super::toolkit::Toolkit;
use crate::error::Error;

/// The folder of kept PTX, for kernels in this folder.
pub(crate) fn folder(kernels: &Path) -> PathBuf {
    kernels.join("ptx")
}

/// The state of the kept PTX of one file.
pub(crate) enum Kept {
    /// It was compiled from the source.
    Fits(PathBuf),
    /// It was compiled from another version of the source.
    Stale(PathBuf),
    Missing,
}

/// Looks for the PTX of `source`.
pub(crate) fn kept(kernels: &Path, source: &Source) -> Result<Kept, Error> {
    let path = folder(kernels).join(format!("{}.ptx.z", source.name));
    if !path.is_file() {
        return Ok(Kept::Missing);
    }
    let list = folder(kernels).join("SOURCES");
    let list = fs::read_to_string(&list).map_err(|error| Error::file(&list, &error))?;
    let line = line(kernels, source)?;
    Ok(if list.lines().any(|kept| kept == line) { Kept::Fits(path) } else { Kept::Stale(path) })
}

/// Compiles every source and keeps the PTX.
pub(crate) fn keep(
    toolkit: &Toolkit,
    kernels: &Path,
    sources: &[Source],
    work: &Path,
    includes: &[PathBuf],
) -> Result<(), Error> {
    let folder = folder(kernels);
    fs::create_dir_all(&folder).map_err(|error| Error::file(&folder, &error))?;
    for old in files(&folder, "z")? {
        fs::remove_file(&old).map_err(|error| Error::file(&old, &error))?;
    }
    let mut list = String::new();
    for source in sources {
        let file = work.join(format!("{}_entries.cu", source.name));
        fs::write(&file, for_device(source)).map_err(|error| Error::file(&file, &error))?;
        let ptx = work.join(format!("{}.ptx", source.name));
        toolkit.ptx(&file, includes, &ptx)?;
        // Removes the path at which it was compiled.
        let text = fs::read_to_string(&ptx).map_err(|error| Error::file(&ptx, &error))?;
        let kept: Vec<_> = text.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
        let text = kept.join("\n").trim_start().to_owned() + "\n";
        let packed = dahl_cuda::texts::pack([("", &*text)]);
        let packed = packed.map_err(|_| Error::about(ptx.display(), "nvcc wrote a zero byte"))?;
        let to = folder.join(format!("{}.ptx.z", source.name));
        fs::write(&to, packed).map_err(|error| Error::file(&to, &error))?;
        let _ = writeln!(list, "{}", line(kernels, source)?);
    }
    let path = folder.join("SOURCES");
    fs::write(&path, list).map_err(|error| Error::file(&path, &error))
}

/// `conv2d.cu 0123456789abcdef`.
fn line(kernels: &Path, source: &Source) -> Result<String, Error> {
    let mut hash = Hash::new();
    hash.feed(dahl_cuda::HEADER);
    hash.feed(&for_device(source));
    hash.feed(&source.text);
    for (_, path) in headers(kernels)? {
        hash.feed(&fs::read_to_string(&path).map_err(|error| Error::file(&path, &error))?);
    }
    Ok(format!("{}.cu {:016x}", source.name, hash.0))
}

/// FNV-1a; it need not be cryptographic.
struct Hash(u64);

impl Hash {
    fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    /// Adds a text, with any line endings.
    fn feed(&mut self, text: &str) {
        for byte in text.bytes().filter(|byte| *byte != b'\r').chain([0]) {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}
