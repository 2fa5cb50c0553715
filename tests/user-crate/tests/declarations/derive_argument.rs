//! An argument is a struct in C layout, of arguments, or an enum without fields that is an integer.

use dahl::prelude::*;

#[derive(Clone, Copy, Debug, Argument)]
struct NoLayout {
    stride: usize,
}

#[derive(Clone, Copy, Debug, Argument)]
enum NoSize {
    This,
    That,
}

#[derive(Clone, Copy, Debug, Argument)]
#[repr(u8)]
enum WithFields {
    This(u32),
    That,
}

#[derive(Clone, Copy, Debug, Argument)]
#[repr(C)]
struct Borrowed {
    stride: usize,
    name: &'static str,
}

fn main() {}
