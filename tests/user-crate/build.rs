//! Compiles the kernels in C and CUDA in `kernels/`.

fn main() {
    dahl_build::kernels("kernels");
}
