//! Compiles the C kernels in `kernels/`.

fn main() {
    dahl_build::kernels("kernels");
}
