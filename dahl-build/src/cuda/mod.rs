//! Kernels in CUDA: from `kernels/*.cu` to images of device code and their Rust table.
//!
//! `source` finds files, `kernel` reads the `DAHL_KERNEL(..)`s in them and `parameters` the signatures, `entries` writes an
//! entry point for each instance, which `toolkit` compiles if there is nvcc, as it does what `maps` finds, for the devices that
//! `architectures` reads; else `ptx` says whether what is kept beside the sources fits; `table` writes the constants that
//! codelets name. `on_cpu` writes the same for g++, for tests. Not here: the form of a kernel (`kernels/include/README.md` of
//! dahl), and loading an image.

mod architectures;
mod cores;
mod element;
mod entries;
mod expression;
mod kernel;
mod maps;
mod on_cpu;
mod parameters;
mod ptx;
mod source;
mod table;
#[cfg(test)]
mod tests;
mod toolkit;

use std::fs;
use std::path::{Path, PathBuf};

use crate::Package;
use crate::error::Error;
use cores::on_all_cores;
pub use on_cpu::OnCpu;
pub(crate) use on_cpu::generate as on_cpu;
use ptx::Kept;
use source::Source;
use table::Image;
use toolkit::Toolkit;
pub(crate) use toolkit::VARIABLES;

/// What became of the CUDA files of a package.
#[derive(Debug, Default)]
pub(crate) struct Generated {
    /// The constants, for `kernels.rs`.
    pub(crate) table: String,
    /// What was left out, a sentence each.
    pub(crate) left_out: Vec<String>,
}

/// Compiles the kernels in `folder`, or takes the PTX that is kept there.
pub(crate) fn generate(package: &Package, folder: &str) -> Result<Generated, Error> {
    let path = Path::new(&package.folder);
    let kernels = path.join(folder);
    let sources = Source::find(path, folder)?;
    let mut generated = Generated::default();
    let toolkit = Toolkit::find()?;
    let out = Path::new(&package.out);
    let includes = includes(&kernels, out)?;
    if let Some(toolkit) = &toolkit {
        on_all_cores(sources.iter().collect(), |source| compile(toolkit, source, out, &includes))?;
    }
    for source in &sources {
        let image = match &toolkit {
            Some(_) => Image::Fatbin(fatbin(source)),
            None => kept(&kernels, folder, source, out)?,
        };
        if let Image::Missing(reason) = &image {
            generated.left_out.push(reason.clone());
        }
        generated.table += &table::table(source, &image);
    }
    match &toolkit {
        Some(toolkit) => {
            println!("cargo::rerun-if-changed=src");
            maps::compile(toolkit, path, out, &includes)?;
        }
        None => maps::forget(out)?,
    }
    Ok(generated)
}

/// Compiles the kernels in `folder` to PTX and keeps it there, for builds without nvcc.
pub(crate) fn keep_ptx(package: &Path, folder: &str, work: &Path) -> Result<usize, Error> {
    let kernels = package.join(folder);
    let sources = Source::find(package, folder)?;
    let Some(toolkit) = Toolkit::find()? else {
        let fact = "there is none in CUDA_HOME, CUDA_PATH, PATH or /usr/local/cuda: expected CUDA's compiler, or its path in DAHL_NVCC";
        return Err(Error::about("nvcc", fact));
    };
    let includes = includes(&kernels, work)?;
    ptx::keep(&toolkit, &kernels, &sources, work, &includes)?;
    Ok(sources.len())
}

fn compile(toolkit: &Toolkit, source: &Source, out: &Path, includes: &[PathBuf]) -> Result<(), Error> {
    let file = out.join(format!("{}_entries.cu", source.name));
    write(&file, &entries::for_device(source))?;
    toolkit.fatbin(&file, includes, &out.join(fatbin(source)))
}

fn fatbin(source: &Source) -> String {
    format!("{}.fatbin", source.name)
}

fn kept(kernels: &Path, folder: &str, source: &Source, out: &Path) -> Result<Image, Error> {
    let (shown, ptx) = (&source.shown, format!("{}/ptx/{}.ptx", folder.trim_end_matches('/'), source.name));
    Ok(match ptx::kept(kernels, source)? {
        Kept::Fits(path) => {
            let mut bytes = fs::read(&path).map_err(|error| Error::file(&path, &error))?;
            // The driver takes a text that ends in zero.
            bytes.push(0);
            let file = format!("{}.ptx", source.name);
            let to = out.join(&file);
            fs::write(&to, bytes).map_err(|error| Error::file(&to, &error))?;
            Image::Ptx(file)
        }
        Kept::Stale => Image::Missing(format!(
            "{shown}: left out: there is no nvcc, and {ptx} was made of another version of it; where there is nvcc, `dahl-ptx` makes it anew"
        )),
        Kept::Missing => Image::Missing(format!(
            "{shown}: left out: there is no nvcc (looked for in DAHL_NVCC, CUDA_HOME, CUDA_PATH, PATH and /usr/local/cuda), and no {ptx}"
        )),
    })
}

/// The folders of headers: dahl's own, laid out in `out`, and the package's.
fn includes(kernels: &Path, out: &Path) -> Result<Vec<PathBuf>, Error> {
    let include = out.join("include");
    fs::create_dir_all(&include).map_err(|error| Error::file(&include, &error))?;
    for (name, text) in dahl_cuda::HEADERS {
        write(&include.join(name), text)?;
    }
    Ok(vec![include, kernels.to_owned(), kernels.join("include")])
}

fn write(path: &Path, text: &str) -> Result<(), Error> {
    fs::write(path, text).map_err(|error| Error::file(path, &error))
}
