//! The kernel takes matrices; the codelet declares vectors, and writes what the kernel reads.

use dahl::AccessMode::{R, W};
use dahl::__private::{CudaDeclared, DeclaredArgument};

// As `cuda = kernels::WEIGHTED_ADD` in the declaration of `Blend` would expand.
const DECLARED: CudaDeclared<'_> = CudaDeclared {
    modes: &[R, W, W],
    elements: &["T", "T", "T"],
    ranks: &[Some(2), Some(2), Some(1)],
    arguments: &[DeclaredArgument::named("T"), DeclaredArgument::of::<u32>("u32")],
    types: &["T"],
};
const _: () = user_crate::WEIGHTED_ADD.check("Blend", DECLARED);

fn main() {}
