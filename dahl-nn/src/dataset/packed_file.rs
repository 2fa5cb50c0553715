//! Files of data sets, plain or gzipped.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use flate2::bufread::GzDecoder;

use crate::error::{Error, Result};

/// Bytes that an unpacked file may have; the largest known one, of CIFAR-10, has a tenth of this.
const LIMIT_BYTES: u64 = 1 << 30;

/// The path and the unpacked bytes of the file `name` or `name.gz`. The hint says where the file comes from.
pub(super) fn read(folder: &Path, name: &'static str, hint: &'static str) -> Result<(PathBuf, Vec<u8>)> {
    let (plain, packed) = (folder.join(name), folder.join(format!("{name}.gz")));
    // A folder that may not be searched is not one without the file.
    let is_there =
        |path: &Path| path.try_exists().map_err(|error| Error::Io { path: path.to_owned(), error });
    let (path, is_packed) = if is_there(&plain)? { (plain, false) } else { (packed, true) };
    if !is_there(&path)? {
        return Err(Error::MissingFile { folder: folder.to_owned(), name, hint });
    }
    let bytes = fs::read(&path).map_err(|error| Error::Io { path: path.clone(), error })?;
    let bytes = if is_packed { unpack(&path, &bytes)? } else { bytes };
    Ok((path, bytes))
}

/// The content of a gzipped file.
pub(super) fn unpack(path: &Path, packed: &[u8]) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let wrong = |offset: usize, expected: String, found: String| Error::Format {
        path: path.to_owned(),
        offset,
        expected,
        found,
    };
    let mut rest = packed;
    loop {
        let left = (LIMIT_BYTES + 1).saturating_sub(bytes.len() as u64);
        let mut decoder = GzDecoder::new(rest).take(left);
        let result = decoder.read_to_end(&mut bytes);
        result.map_err(|error| wrong(bytes.len(), "gzip data".to_owned(), error.to_string()))?;
        rest = decoder.into_inner().into_inner();
        // After a member may come another one, or zeros, as tapes and block devices leave them.
        if bytes.len() as u64 > LIMIT_BYTES || rest.iter().all(|byte| *byte == 0) {
            break;
        }
    }
    if bytes.len() as u64 > LIMIT_BYTES {
        return Err(wrong(bytes.len(), format!("the end within {LIMIT_BYTES} bytes"), "more".to_owned()));
    }
    Ok(bytes)
}
