//! Every op's numbers: each element type, variant and kernel against the reference, on inputs of every distribution.

use dahl::ops;
use dahl::prelude::*;
use dahl::testing::numerics;

mod arithmetic;
