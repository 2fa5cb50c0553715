//! [`Array`]: data known to the runtime, and the ways in which the host touches it.
//!
//! An `Array` is a handle: who owns what, how long it may live, its shape. What tasks need, its bytes and the order of
//! accesses, is its [`ArrayState`], which has no lifetime and lives until the handle is gone and the last task is done.
#![allow(unsafe_code, reason = "handles point to states that outlive them; guards read the arrays' memory")]

mod any;
mod approximate;
mod guard;
mod handle;
mod len;
mod reducing;
mod reshaped;
mod zeros;

pub use any::AnyArray;
pub use guard::{ReadGuard, WriteGuard};
pub use handle::{Array, Block, Matrix, Scalar, Tensor, Vector};
pub(crate) use len::{byte_len, require_len};
pub use reshaped::{Reshaped, ReshapedMut};
pub(crate) use zeros::block_for;
