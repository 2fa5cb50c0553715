//! [`Array`]: data that the runtime manages, and the ways in which the host accesses them.
//!
//! An `Array` is a handle: it has an owner, a lifetime and a shape. Its `ArrayState` (`graph`) has what tasks need: the bytes
//! and the order of accesses. The state has no lifetime. It lives until the handle is dropped and the last task has
//! ended.
#![allow(unsafe_code, reason = "handles point to states that outlive them; guards read the arrays' memory")]

mod any;
mod approximate;
mod guard;
mod handle;
mod len;
mod reducing;
mod reshaped;
mod residence;
mod shared;
mod stand_ins;
mod zeros;

pub use any::AnyArray;
pub use guard::{ReadGuard, WriteGuard};
pub use handle::{Array, Block, Matrix, Scalar, Tensor, Vector};
pub(crate) use len::{byte_len, require_len};
pub use reshaped::{Reshaped, ReshapedMut};
pub(crate) use shared::Shared;
pub(crate) use stand_ins::{StandIns, is_recording, is_recording_over_ranks};
pub(crate) use zeros::block_for;
