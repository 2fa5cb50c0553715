//! The kernel takes a `DAHL_REAL` and a `uint32_t`.

use dahl::AccessMode::{R, W};
use dahl::__private::DeclaredArgument;

const ARGUMENTS: [DeclaredArgument<'_>; 2] = [DeclaredArgument::named("T"), DeclaredArgument::of::<usize>("usize")];
const _: () = user_crate::WEIGHTED_ADD_C.check("Blend", &[R, R, W], &["T", "T", "T"], &ARGUMENTS);

fn main() {}
