//! Compiles the CUDA kernels for the CPU and writes their tables.

use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("Cargo sets OUT_DIR"));
    write_maps(Path::new("../../src/ops"), &out.join("maps"));
    let mut build = cc::Build::new();
    build
        .cpp(true)
        .std("c++17")
        .opt_level(1)
        .debug(false)
        .define("DAHL_ON_CPU", None)
        .define("DAHL_CHECKED", None)
        .include("../../dahl-cuda/include")
        .include("../../kernels/include")
        .flag("-ffp-contract=off")
        .flag("-fno-strict-aliasing")
        .flag("-Wno-unknown-pragmas")
        .flag("-Wno-unused-parameter")
        .file("src/switch.cpp");
    let folders = [("operations", Path::new("../.."), "kernels"), ("mistakes", Path::new("."), "kernels")];
    for (name, package, folder) in folders.into_iter().chain([("generated", &*out, "maps")]) {
        let on_cpu =
            dahl_build::on_cpu(package, folder, &out.join(name)).unwrap_or_else(|error| panic!("{error}"));
        build.files(&on_cpu.units);
        fs::write(out.join(format!("{name}.rs")), on_cpu.table).expect("OUT_DIR is writable");
    }
    for other in ["../../kernels", "kernels", "../../dahl-cuda/include", "src/switch.cpp"] {
        println!("cargo::rerun-if-changed={other}");
    }
    build.compile("cuda_on_cpu");
}

/// Writes the kernels of the maps that the files in `folder` declare: `map_NAME` for each, into files of the same names.
fn write_maps(folder: &Path, to: &Path) {
    println!("cargo::rerun-if-changed={}", folder.display());
    // What an earlier build wrote may be there no more.
    let _ = fs::remove_dir_all(to);
    fs::create_dir_all(to).expect("OUT_DIR is writable");
    for entry in fs::read_dir(folder).expect("the operations are there") {
        let path = entry.expect("an entry of the folder").path();
        let source = fs::read_to_string(&path).expect("a file of Rust is text");
        let declarations = dahl_cuda::map::declarations(&source).expect("it is Rust");
        let text: String =
            declarations.iter().filter_map(|found| found.map.as_ref().ok()).map(|map| map.marked()).collect();
        if !text.is_empty() {
            let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
            fs::write(to.join(name + ".cu"), text).expect("OUT_DIR is writable");
        }
    }
}
