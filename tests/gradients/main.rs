//! Every backward operation against differences of its forward, in f64; and that the check itself bites.

mod checker;
