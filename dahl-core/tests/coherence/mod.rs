//! Arrays in several memories: every value is right, and there are no unnecessary copies.
//!
//! Transfers are asserted as (from, to, bytes). Memory node 0 is the main memory; an array has 128 bytes.

mod bed;
mod loss;
mod modes;
mod parts;
mod room;

use crate::random_programs::kernels;
