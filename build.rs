//! Compiles the C kernels in `kernels/`: the same line that a user's crate has.

fn main() {
    dahl_build::kernels("kernels");
}
