//! The kernel takes a `DAHL_REAL` and a `uint32_t`.

use dahl::AccessMode::{R, W};

const _: () = user_crate::WEIGHTED_ADD_C.check("Blend", &[R, R, W], &["T", "T", "T"], &[DeclaredArgument::named("T"), DeclaredArgument::of::<usize>("usize")]);

fn main() {}
