//! Brings in the kernels in CUDA in `kernels/`.

fn main() {
    dahl_build::kernels("kernels");
}
