//! The kernel reads both arrays, the codelet writes the second and has a third.

use dahl::AccessMode::{R, REDUX};
use dahl::Reduction;

// As `cpu = [kernels::RUNNING_SUM_C]` in the declaration of `Dot` would expand.

const _: () = user_crate::RUNNING_SUM_C.check("Dot", &[R, R, REDUX(Reduction::Sum)], &["T", "T", "T :: Compute"], &[]);

fn main() {}
