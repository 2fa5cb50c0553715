//! An argument is a struct in C layout, of arguments.

use dahl::prelude::*;

#[derive(Clone, Copy, Debug, Argument)]
struct NoLayout {
    stride: usize,
}

#[derive(Clone, Copy, Debug, Argument)]
#[repr(u8)]
enum Choice {
    This,
    That,
}

#[derive(Clone, Copy, Debug, Argument)]
#[repr(C)]
struct Borrowed {
    stride: usize,
    name: &'static str,
}

fn main() {}
