//! Builds `libcuda.so.1`, the sources in `driver` with the kernels that `cuda-kernels` compiled, `libnvrtc.so.13`,
//! `libcublas.so.13` and `libcudnn.so.9`.

use std::path::{Path, PathBuf};
use std::{env, fs};

/// As in `cuda-kernels`.
const CHECK_ONLY: &str = "DAHL_CHECK_ONLY";

/// The kernel that `driver/condition.cpp` includes.
const CONDITION: &str = "../../dahl-driver/src/driver/condition.cu";

fn main() {
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("Cargo sets OUT_DIR"));
    let kernels = env::var("DEP_DAHL_CUDA_KERNELS_FOLDER").expect("cuda-kernels says where its archive is");
    for folder in
        ["driver", "nvrtc", "cublas", "cudnn", "../cuda-kernels/src", "../../dahl-cuda/include", CONDITION]
    {
        println!("cargo::rerun-if-changed={folder}");
    }
    let folder = out.join("lib");
    println!("cargo::rustc-env=FAKE_CUDA={}", folder.display());
    println!("cargo::rerun-if-env-changed={CHECK_ONLY}");
    // Existing files may be of other kernels.
    let _ = fs::remove_dir_all(&folder);
    if env::var_os(CHECK_ONLY).is_some() {
        return;
    }
    let mut build = cc::Build::new();
    build
        .cpp(true)
        .std("c++17")
        .opt_level(1)
        .debug(false)
        .pic(true)
        .define("DAHL_ON_CPU", None)
        .define("DAHL_CHECKED", None)
        .include("driver")
        .include("../cuda-kernels/src")
        .include("../../dahl-cuda/include")
        .flag("-fvisibility=hidden")
        .flag("-Wno-unknown-pragmas")
        .flag("-Wno-unused-parameter")
        .files(sources(Path::new("driver")));
    let objects = build.compile_intermediates();
    fs::create_dir_all(&folder).expect("OUT_DIR is writable");
    let library = folder.join("libcuda.so.1");
    let mut link = build.get_compiler().to_command();
    link.args(["-shared", "-Wl,-soname,libcuda.so.1", "-Wl,-z,defs", "-o"])
        .arg(&library)
        .args(objects)
        .args(["-Wl,--whole-archive", &format!("{kernels}/libdahl_cuda_kernels.a"), "-Wl,--no-whole-archive"])
        .args(["-pthread", "-ldl"]);
    let status = link.status().expect("the compiler runs");
    assert!(status.success(), "libcuda.so.1 does not link");
    // Programs look for this name first. It is a library that only links to the other, so that a library that is
    // already loaded is found by either name.
    let mut link = build.get_compiler().to_command();
    link.args(["-shared", "-Wl,-soname,libcuda.so", "-Wl,--no-as-needed", "-Wl,-rpath,$ORIGIN", "-o"])
        .arg(folder.join("libcuda.so"))
        .arg(&library);
    assert!(link.status().expect("the compiler runs").success(), "libcuda.so does not link");
    // The fakes of cuBLAS and cuDNN, which submit their work to streams of the fake driver.
    for (source, name) in [("cublas/cublas.cpp", "libcublas.so.13"), ("cudnn/cudnn.cpp", "libcudnn.so.9")] {
        let mut link = build.get_compiler().to_command();
        link.args(["-shared", &format!("-Wl,-soname,{name}"), "-Wl,-rpath,$ORIGIN", source, "-o"])
            .arg(folder.join(name))
            .arg(&library);
        assert!(link.status().expect("the compiler runs").success(), "{name} does not build");
    }
    // The fake of NVRTC: one file, which finds the headers of kernels in their present folder.
    let sources = fs::canonicalize("../cuda-kernels/src").expect("the folder is there");
    let mut compile = build.get_compiler().to_command();
    compile
        .args(["-shared", "-Wl,-soname,libnvrtc.so.13", "nvrtc/nvrtc.cpp", "-o"])
        .arg(folder.join("libnvrtc.so.13"))
        .args([format!("-DKERNELS=\"{}\"", sources.display()), format!("-I{kernels}")]);
    assert!(compile.status().expect("the compiler runs").success(), "libnvrtc.so.13 does not build");
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries =
        fs::read_dir(folder).expect("the sources are there").map(|entry| entry.expect("a file").path());
    let mut sources: Vec<_> =
        entries.filter(|path| path.extension().is_some_and(|extension| extension == "cpp")).collect();
    sources.sort();
    sources
}
