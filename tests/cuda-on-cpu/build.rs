//! Passes on the path of the tables of the compiled kernels.

fn main() {
    let folder =
        std::env::var("DEP_DAHL_CUDA_KERNELS_FOLDER").expect("cuda-kernels says where its tables are");
    println!("cargo::rustc-env=CUDA_KERNELS={folder}");
}
