//! Compiles the generated C files, each of which includes one kernel, into a library that the crate links.

use std::fs;
use std::path::{Path, PathBuf};

use crate::Package;
use crate::error::Error;
use crate::shim::{REALS, shim};
use crate::source::Source;

/// The header that kernels include. It is written to the output folder, so that it is found wherever this crate was
/// unpacked.
const HEADER: &str = include_str!("../include/dahl.h");

/// Compiles the kernels and tells Cargo to link them.
pub(crate) fn compile(package: &Package, folder: &str, sources: &[Source]) -> Result<(), Error> {
    if sources.is_empty() {
        return Ok(());
    }
    let out = Path::new(&package.out);
    let include = out.join("include");
    fs::create_dir_all(&include).map_err(|error| Error::file(&include, &error))?;
    write(&include.join("dahl.h"), HEADER)?;

    let kernels = Path::new(&package.folder).join(folder);
    let mut build = cc::Build::new();
    build.target(&package.target).host(&package.host).out_dir(out);
    build.std("c11").opt_level(3).warnings(true).include(&include).include(kernels.join("include"));
    for source in sources {
        for real in REALS {
            let file: PathBuf = out.join(format!("{}_{}.c", source.signature.name, real.0));
            write(&file, &shim(package, source, real))?;
            build.file(file);
        }
    }
    // The compiler's messages are passed to Cargo as warnings, line by line, before this returns.
    build.try_compile(&package.prefix).map_err(|error| {
        let files = sources.iter().map(|source| source.shown.as_str()).collect::<Vec<_>>().join(", ");
        let error = error.to_string();
        let remedy = if error.contains("failed to find tool") || error.contains("not found") {
            "\na C compiler is needed: install gcc or clang, or name one in the variable CC"
        } else {
            "\nthe compiler's messages are the warnings of this package"
        };
        Error::about(format!("{files}: the C kernels were not compiled"), error + remedy)
    })
}

fn write(path: &Path, text: &str) -> Result<(), Error> {
    fs::write(path, text).map_err(|error| Error::file(path, &error))
}
