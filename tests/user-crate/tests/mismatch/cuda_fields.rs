//! The kernel takes the fields of a struct as its arguments, and here the first is of another type.

use dahl::AccessMode::{R, W};
use dahl::__private::{CudaDeclared, DeclaredArgument};
use dahl::prelude::*;

#[derive(Clone, Copy, Debug, Argument)]
#[repr(C)]
struct Weights {
    weight: u8,
    exponent: u32,
}

// As `cuda = kernels::WEIGHTED_ADD` in the declaration of `Blend` would expand.
const DECLARED: CudaDeclared<'_> = CudaDeclared {
    modes: &[R, R, W],
    elements: &["T", "T", "T"],
    ranks: &[Some(2); 3],
    arguments: &[DeclaredArgument::of::<Weights>("Weights")],
    types: &["T"],
};
const _: () = user_crate::WEIGHTED_ADD.check("Blend", DECLARED);

fn main() {}
