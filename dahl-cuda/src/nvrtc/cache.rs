//! [`Cache`]: the output of NVRTC, kept on disk.

use std::env;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::library::{Nvrtc, OPTIONS};
use super::{Error, Program, Target};
use crate::HEADERS;

/// A folder of compiled device code. Several processes may use it at the same time.
#[derive(Clone, Debug)]
pub struct Cache {
    folder: Option<PathBuf>,
}

/// Device code, and its origin.
#[derive(Debug)]
pub struct Compiled {
    /// The code that a device loads.
    pub bytes: Vec<u8>,
    /// Whether it was found in the cache.
    pub is_from_cache: bool,
    /// The reason if it could not be stored.
    pub not_kept: Option<io::Error>,
}

/// The first line of a file.
const MAGIC: &str = "dahl device code 2\n";

impl Cache {
    /// The folder that `DAHL_CUDA_CACHE` names (0 for none), or else `dahl/cuda` among the user's caches.
    pub fn of_user() -> Self {
        let variable = |name: &str| env::var_os(name).filter(|value| !value.is_empty());
        let folder = match variable("DAHL_CUDA_CACHE") {
            Some(none) if none == "0" => None,
            Some(folder) => Some(PathBuf::from(folder)),
            None => {
                let home = || variable("HOME").map(|home| Path::new(&home).join(".cache"));
                variable("XDG_CACHE_HOME")
                    .map(PathBuf::from)
                    .or_else(home)
                    .map(|caches| caches.join("dahl/cuda"))
            }
        };
        Self { folder }
    }

    /// The folder; none if nothing is cached.
    pub fn folder(&self) -> Option<&Path> {
        self.folder.as_deref()
    }

    /// The cache in `folder`.
    pub fn at(folder: impl Into<PathBuf>) -> Self {
        Self { folder: Some(folder.into()) }
    }

    /// Compiles a program, or finds it in the cache, compiled by the same compiler for the same target.
    ///
    /// # Errors
    /// If the compiler refuses it. It is not an error if the folder cannot be read or written: the program is then
    /// compiled each time.
    pub fn compile<'p>(
        &self,
        nvrtc: &Nvrtc,
        program: impl Into<Program<'p>>,
        target: Target,
    ) -> Result<Compiled, Error> {
        let program = program.into();
        let key = key(nvrtc.version(), program, target);
        let path = self.folder.as_ref().map(|folder| folder.join(file_name(&key, target)));
        if let Some(bytes) = path.as_ref().and_then(|path| kept(path, &key)) {
            return Ok(Compiled { bytes, is_from_cache: true, not_kept: None });
        }
        let bytes = nvrtc.compile(program, target)?;
        let not_kept = path.and_then(|path| keep(&path, &key, &bytes).err());
        Ok(Compiled { bytes, is_from_cache: false, not_kept })
    }
}

/// Everything that determines the result.
fn key((major, minor): (i32, i32), program: Program<'_>, target: Target) -> String {
    let mut key = format!("NVRTC {major}.{minor} {} {target}\n", OPTIONS.join(" "));
    for (name, content) in HEADERS.iter().chain(program.headers).chain([&(program.name, program.source)]) {
        // With its length, no text can be confused with the end of one and the start of the next.
        key += &format!("{name} {}\n{content}", content.len());
    }
    key
}

fn file_name(key: &str, target: Target) -> String {
    // Keys are compared in full, so two keys with the same hash only replace each other.
    format!("{:016x}.{target}", hash(key.as_bytes()))
}

/// FNV-1a; it need not be cryptographic.
fn hash(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// The device code in a file, if it is complete and has this key.
fn kept(path: &Path, key: &str) -> Option<Vec<u8>> {
    let content = fs::read(path).ok()?;
    let rest = content.strip_prefix(MAGIC.as_bytes())?;
    let (size, rest) = rest.split_first_chunk::<8>()?;
    let (sum, rest) = rest.split_first_chunk::<8>()?;
    let bytes = rest.strip_prefix(key.as_bytes())?;
    let is_whole = bytes.len() as u64 == u64::from_le_bytes(*size) && hash(bytes) == u64::from_le_bytes(*sum);
    is_whole.then(|| bytes.to_vec())
}

/// Writes the file, which gets its name when it is complete: of several concurrent writers, one wins.
fn keep(path: &Path, key: &str, bytes: &[u8]) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let numbers = [bytes.len() as u64, hash(bytes)].map(u64::to_le_bytes).concat();
    let content = [MAGIC.as_bytes(), &numbers, key.as_bytes(), bytes].concat();
    dahl_files::save(path, content)
}
