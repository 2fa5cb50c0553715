use dahl::testing::{typed, typed_output};

use super::*;

numerics!(cast: ops::codelets::Cast, ([31, 67], typed_output::<f64, 2>()), ());
numerics!(cast_from_f64: ops::codelets::Cast, (typed::<f64, 2>([31, 67]), typed_output::<T, 2>()), ());
