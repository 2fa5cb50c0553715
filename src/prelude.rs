//! What a program that declares or uses codelets needs: `use dahl::prelude::*`.

pub use crate::ndarray::Axis;
pub use crate::program::Passes;
pub use crate::{
    AccessMode, Arena, Argument, Array, Block, ControlFlow, Element, Matrix, Real, Recording, Runtime,
    Scalar, Scope, Tape, Tensor, Vector, bf16, codelet, f16, program,
};
