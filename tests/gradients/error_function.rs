//! The error function.

use dahl::ops::{erf_backward_init, erf_init};

function!(erf: erf_init, erf_backward_init(x), x in -3.0..3.0);
