//! The kernel takes arrays of one type.

use dahl::AccessMode::{R, W};

const _: () = user_crate::RUNNING_SUM_C.check("RunningCount", &[R, W], &["T", "u32"], &[]);

fn main() {}
