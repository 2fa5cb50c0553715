//! [`Cache`]: what NVRTC made, kept on disk.

use std::env;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::library::{Nvrtc, OPTIONS};
use super::{Error, Target};
use crate::HEADERS;

/// A folder of what was compiled. Several processes may use it at once.
#[derive(Clone, Debug)]
pub struct Cache {
    folder: Option<PathBuf>,
}

/// Device code, and where it is from.
#[derive(Debug)]
pub struct Compiled {
    /// What a device loads.
    pub bytes: Vec<u8>,
    /// Whether it was kept from before.
    pub is_from_cache: bool,
    /// Why it could not be kept, if it could not.
    pub not_kept: Option<io::Error>,
}

/// The first words of a file.
const MAGIC: &str = "dahl device code 1\n";

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

    /// The cache in `folder`.
    pub fn at(folder: impl Into<PathBuf>) -> Self {
        Self { folder: Some(folder.into()) }
    }

    /// Compiles a text, or finds what was made of it by the same compiler for the same target.
    ///
    /// # Errors
    /// If the compiler refuses it. That the folder cannot be read or written is no error: then it is compiled each time.
    pub fn compile(&self, nvrtc: &Nvrtc, source: &str, target: Target) -> Result<Compiled, Error> {
        let key = key(nvrtc.version(), source, target);
        let path = self.folder.as_ref().map(|folder| folder.join(file_name(&key, target)));
        if let Some(bytes) = path.as_ref().and_then(|path| kept(path, &key)) {
            return Ok(Compiled { bytes, is_from_cache: true, not_kept: None });
        }
        let bytes = nvrtc.compile(source, target)?;
        let not_kept = path.and_then(|path| keep(&path, &key, &bytes).err());
        Ok(Compiled { bytes, is_from_cache: false, not_kept })
    }
}

/// Everything that decides what is made.
fn key((major, minor): (i32, i32), source: &str, target: Target) -> String {
    let headers: String = HEADERS.iter().map(|(_, content)| *content).collect();
    format!("NVRTC {major}.{minor} {} {target}\n{headers}{source}", OPTIONS.join(" "))
}

fn file_name(key: &str, target: Target) -> String {
    // FNV-1a: keys are compared whole, so that two of one hash only replace each other.
    let hash = key.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("{hash:016x}.{target}")
}

/// The device code in a file, if it is whole and of this key.
fn kept(path: &Path, key: &str) -> Option<Vec<u8>> {
    let content = fs::read(path).ok()?;
    let rest = content.strip_prefix(MAGIC.as_bytes())?;
    let (size, rest) = rest.split_first_chunk::<8>()?;
    let bytes = rest.strip_prefix(key.as_bytes())?;
    (bytes.len() as u64 == u64::from_le_bytes(*size)).then(|| bytes.to_vec())
}

/// Writes the file, which has its name only when it is whole.
fn keep(path: &Path, key: &str, bytes: &[u8]) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let content = [MAGIC.as_bytes(), &(bytes.len() as u64).to_le_bytes(), key.as_bytes(), bytes].concat();
    let partial = path.with_extension(format!("partial-{}", std::process::id()));
    fs::write(&partial, content)?;
    fs::rename(&partial, path)
}
