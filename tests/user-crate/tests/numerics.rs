//! The numbers of this crate's ops, in every element type, variant and kernel: one line each.

use dahl::prelude::*;
use dahl::testing::{numerics, within};
use user_crate::{RunningSum, WeightedAdd};

numerics!(weighted_add: WeightedAdd, ([5, 7], [5, 7], _), (T::from_f64(0.25), 2));
numerics!(running_sum: RunningSum, (within(-1e3, 1e3, [31, 7]), _), ());
