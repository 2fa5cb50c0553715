//! The error function.

use dahl::ops::erf_init;

function!(erf: Erf erf_init(), x in -3.0..3.0);
