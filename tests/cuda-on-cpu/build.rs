//! Says where the table of the compiled kernels is.

fn main() {
    let folder = std::env::var("DEP_DAHL_CUDA_KERNELS_FOLDER").expect("cuda-kernels says where its table is");
    println!("cargo::rustc-env=CUDA_KERNELS={folder}");
}
