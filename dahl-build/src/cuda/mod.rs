//! CUDA kernels: from `kernels/*.cu` to images of device code and the Rust table of these.
//!
//! - `source` finds files, `kernel` reads the `DAHL_KERNEL(..)`s in them, and `parameters` reads the signatures.
//! - `entries` writes an entry point for each instance.
//! - `toolkit` compiles these and the results of `maps` with nvcc, for the devices that `architectures` reads.
//! - Without nvcc, `embedded` compresses the sources, which NVRTC compiles at run time, unless `ptx` finds PTX of the
//!   same sources, as releases contain it.
//! - `table` writes the constants that codelets name. `on_cpu` writes the same for g++, for tests.
//!
//! Not here: the form of a kernel (`kernels/include/README.md` of dahl), and loading an image.

mod architectures;
mod cores;
mod element;
mod embedded;
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
use embedded::Texts;
use entries::for_each_entry;
pub use on_cpu::OnCpu;
pub(crate) use on_cpu::generate as on_cpu;
use ptx::Kept;
use source::Source;
use table::Image;
use toolkit::Toolkit;
pub(crate) use toolkit::VARIABLES;

/// The output for the CUDA files of a package.
#[derive(Debug, Default)]
pub(crate) struct Generated {
    /// The constants, for `kernels.rs`.
    pub(crate) table: String,
    /// Warnings for the person who builds the package, a sentence each.
    pub(crate) warnings: Vec<String>,
}

/// The input of NVRTC for one file of kernels, one entry point at a time.
#[derive(Clone, Debug)]
pub struct Program {
    /// The name of the file in messages: `kernels/conv2d.cu`.
    pub shown: String,
    /// The text of the entry points with its name, and those that it includes: that of the file, and headers.
    pub texts: Vec<(String, String)>,
    /// The names of the entry points: `conv2d_f32`.
    pub entries: Vec<String>,
}

/// The file of packed texts.
const TEXTS: &str = "cuda_texts.z";

/// Compiles the kernels in `folder`; without nvcc, uses the PTX that is kept there, or else the texts.
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
    let texts = Texts::read(&kernels, &sources)?;
    let mut embeds_texts = false;
    for source in &sources {
        let image = match &toolkit {
            Some(_) => Image::Fatbin(fatbin(source)),
            None => without_nvcc(&kernels, folder, source, &texts, out, &mut generated.warnings)?,
        };
        embeds_texts |= matches!(image, Image::Program(_));
        generated.table += &table::table(source, &image);
    }
    if embeds_texts {
        let path = out.join(TEXTS);
        fs::write(&path, texts.pack()?).map_err(|error| Error::file(&path, &error))?;
        generated.table += &table::texts(TEXTS);
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

/// The input of NVRTC for the kernels in `folder`.
pub(crate) fn programs(package: &Path, folder: &str) -> Result<Vec<Program>, Error> {
    let sources = Source::find(package, folder)?;
    let texts = Texts::read(&package.join(folder), &sources)?;
    let program = |source: &Source| {
        let mut entries = Vec::new();
        for_each_entry(source, |_, _, _, entry| entries.push(entry));
        let named = texts.of(source).into_iter().map(|name| (name.to_owned(), texts.get(name).to_owned()));
        Program { shown: source.shown.clone(), texts: named.collect(), entries }
    };
    Ok(sources.iter().map(program).collect())
}

/// Compiles the kernels in `folder` to PTX and keeps it there, for packages that are built without nvcc.
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

/// The kept PTX of a source, or its texts, and the reason why the PTX may be outdated.
fn without_nvcc(
    kernels: &Path,
    folder: &str,
    source: &Source,
    texts: &Texts,
    out: &Path,
    warnings: &mut Vec<String>,
) -> Result<Image, Error> {
    match ptx::kept(kernels, source)? {
        Kept::Fits(path) => {
            let file = format!("{}.ptx.z", source.name);
            let to = out.join(&file);
            fs::copy(&path, &to).map_err(|error| Error::file(&path, &error))?;
            return Ok(Image::Ptx(file));
        }
        Kept::Stale(path) => warnings.push(format!(
            "{}: {} was made of another version of it and is not used; `dahl-ptx` makes it anew where there is nvcc",
            source.shown,
            path.display()
        )),
        Kept::Missing => {}
    }
    for name in texts.not_found(source) {
        warnings.push(format!(
            "{}: it includes {name}, which NVRTC will not find: there is no nvcc, and without it kernels include dahl's headers \
             and those in `{folder}` and `{folder}/include`",
            source.shown
        ));
    }
    Ok(Image::Program(texts.of(source).into_iter().map(str::to_owned).collect()))
}

/// The folders of headers: dahl's own, written to `out`, and the package's.
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
