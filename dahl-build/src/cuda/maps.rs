//! The maps of a package: finds them in its Rust files, and compiles them where there is nvcc. `#[codelet]` looks up
//! the image of exactly its text, and embeds it; any other map is compiled at first use.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use dahl_cuda::map::{Map, declarations};

use super::cores::on_all_cores;
use super::source::files;
use super::toolkit::Toolkit;
use super::write;
use crate::error::Error;

/// The file beside the compiled maps with the version and the options of nvcc that compiled them.
const OPTIONS: &str = "options";

/// Compiles the maps in `src/` of the package into `out/maps/`. Reuses those that the same nvcc with the same options
/// compiled before.
pub(crate) fn compile(
    toolkit: &Toolkit,
    package: &Path,
    out: &Path,
    includes: &[PathBuf],
) -> Result<(), Error> {
    let folder = out.join("maps");
    fs::create_dir_all(&folder).map_err(|error| Error::file(&folder, &error))?;
    let mut texts = BTreeMap::new();
    find(&package.join("src"), &mut texts)?;
    let (options, kept) = (toolkit.makes_fatbins_by(), folder.join(OPTIONS));
    let is_same = fs::read_to_string(&kept).is_ok_and(|kept| kept == options);
    for old in files(&folder, "fatbin")? {
        let is_of_today =
            is_same && old.file_stem().is_some_and(|stem| texts.contains_key(&*stem.to_string_lossy()));
        if !is_of_today {
            fs::remove_file(&old).map_err(|error| Error::file(&old, &error))?;
        }
    }
    write(&kept, &options)?;
    texts.retain(|stem, _| !folder.join(format!("{stem}.fatbin")).is_file());
    on_all_cores(texts.into_iter().collect(), |(stem, text)| one(toolkit, &folder, &stem, &text, includes))
}

/// Removes the output of an nvcc that is no longer used, so that NVRTC compiles the maps.
pub(crate) fn forget(out: &Path) -> Result<(), Error> {
    for old in files(&out.join("maps"), "fatbin")? {
        fs::remove_file(&old).map_err(|error| Error::file(&old, &error))?;
    }
    Ok(())
}

/// Compiles one map. The file gets its name when it is complete.
fn one(toolkit: &Toolkit, folder: &Path, stem: &str, text: &str, includes: &[PathBuf]) -> Result<(), Error> {
    let [source, partial, whole] =
        ["cu", "partial", "fatbin"].map(|extension| folder.join(format!("{stem}.{extension}")));
    write(&source, text)?;
    toolkit.fatbin(&source, includes, &partial)?;
    fs::rename(&partial, &whole).map_err(|error| Error::file(&whole, &error))
}

/// The texts of the maps in a folder and the folders in it, by the stems of their files.
fn find(folder: &Path, texts: &mut BTreeMap<String, String>) -> Result<(), Error> {
    for file in files(folder, "rs")? {
        let source = fs::read_to_string(&file).map_err(|error| Error::file(&file, &error))?;
        // Invalid Rust is reported by the compiler.
        for declaration in declarations(&source).unwrap_or_default() {
            // A map without a kernel is not reported here: the codelet's error does that.
            if let Ok(map) = declaration.map {
                texts.insert(Map::file_stem(&map.source), map.source);
            }
        }
    }
    if let Ok(entries) = fs::read_dir(folder) {
        for entry in entries.flatten().filter(|entry| entry.path().is_dir()) {
            find(&entry.path(), texts)?;
        }
    }
    Ok(())
}
