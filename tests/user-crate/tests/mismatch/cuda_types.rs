//! The kernel is a template over one type; the codelet has two.

use dahl::AccessMode::{R, W};
use dahl::__private::{CudaDeclared, DeclaredArgument};

// As `cuda = kernels::WEIGHTED_ADD` in the declaration of `Blend` would expand.
const DECLARED: CudaDeclared<'_> = CudaDeclared {
    modes: &[R, R, W],
    elements: &["T", "U", "T"],
    ranks: &[Some(2); 3],
    arguments: &[DeclaredArgument::named("T"), DeclaredArgument::of::<u32>("u32")],
    types: &["T", "U"],
};
const _: () = user_crate::WEIGHTED_ADD.check("Blend", DECLARED);

fn main() {}
