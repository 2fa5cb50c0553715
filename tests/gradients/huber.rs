//! Losses that are quadratic near zero and linear far from it, by prediction and target.

use dahl::ops::{huber_init, smooth_l1_init};

gradients!(huber: [x: [4, 3], y: [4, 3]], |tape| huber_init(tape, x, y, 0.7));
gradients!(smooth_l1: [x: [4, 3], y: [4, 3]], |tape| smooth_l1_init(tape, x, y, 0.7));
gradients!(smooth_l1_without_a_bend: [x: [4, 3], y: [4, 3]], |tape| smooth_l1_init(tape, x, y, 0.0));
