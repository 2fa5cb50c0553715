//! Compiles the CUDA kernels in `kernels/`.

fn main() {
    dahl_build::kernels("kernels");
}
