//! The kernel takes matrices; the codelet declares vectors, and writes what the kernel reads.

use dahl::AccessMode::{R, W};
use dahl::__private::{CudaDeclared, DeclaredArgument};

// As `cuda = kernels::WEIGHTED_ADD` in the declaration of `Blend` would expand.

const _: () = user_crate::WEIGHTED_ADD.check("Blend", CudaDeclared { modes: &[R, W, W], elements: &["T", "T", "T"], ranks: &[Some(2), Some(2), Some(1)], arguments: &[DeclaredArgument::named("T"), DeclaredArgument::named("u32")], types: &["T"] });

fn main() {}
