//! `dahl-ptx [FOLDER]`: compiles the CUDA kernels of the package in the current folder to PTX, which builds without
//! nvcc embed.
//!
//! FOLDER is the folder of the kernels, by default `kernels`. The PTX is written to `FOLDER/ptx/`: pack it into a
//! release, and do not commit it.

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().unwrap_or_else(|| "kernels".to_owned());
    if folder.starts_with('-') || arguments.next().is_some() {
        eprintln!("usage: dahl-ptx [FOLDER], the folder of the kernels (`kernels` unless it is given)");
        return ExitCode::from(2);
    }
    match dahl_build::keep_ptx(Path::new("."), &folder) {
        Ok(files) => {
            println!("{folder}/ptx: made of {files} files");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
