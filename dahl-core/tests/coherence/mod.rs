//! Arrays in several memories: every value is right, and nothing is copied that need not be.
//!
//! Transfers are asserted as (from, to, bytes). Memory node 0 is the main memory; an array has 128 bytes.

mod bed;
mod loss;
mod modes;
mod parts;
mod room;

use crate::random_programs::kernels;
