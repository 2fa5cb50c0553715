//! The kernel takes a `uint32_t` where the codelet declares a pair.

use dahl::AccessMode::{R, W};
use dahl::__private::{CudaDeclared, DeclaredArgument};

// As `cuda = kernels::WEIGHTED_ADD` in the declaration of `Blend` would expand.
const DECLARED: CudaDeclared<'_> = CudaDeclared {
    modes: &[R, R, W],
    elements: &["T", "T", "T"],
    ranks: &[Some(2); 3],
    arguments: &[DeclaredArgument::named("T"), DeclaredArgument::of::<[usize; 2]>("[usize ; 2]")],
    types: &["T"],
};
const _: () = user_crate::WEIGHTED_ADD.check("Blend", DECLARED);

fn main() {}
