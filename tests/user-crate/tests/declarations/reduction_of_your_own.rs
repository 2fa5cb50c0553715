//! A reduction of your own has an identity and a combining codelet, each once.

use dahl::prelude::*;

#[codelet(R, REDUX(identity = T::ONE))]
fn without_a_codelet<T: Real>(x: &[T], out: &mut [T]) {
    let _ = (x, out);
}

#[codelet(R, REDUX(combine = dahl::ops::mul))]
fn without_an_identity<T: Real>(x: &[T], out: &mut [T]) {
    let _ = (x, out);
}

#[codelet(R, REDUX(identity = T::ONE, identity = T::ZERO, combine = dahl::ops::mul))]
fn twice<T: Real>(x: &[T], out: &mut [T]) {
    let _ = (x, out);
}

#[codelet(R, REDUX(start = T::ONE, combine = dahl::ops::mul))]
fn another_name<T: Real>(x: &[T], out: &mut [T]) {
    let _ = (x, out);
}

#[codelet(R, REDUX(identity = T::ONE, combine = dahl::ops::mul::<T>))]
fn type_arguments<T: Real>(x: &[T], out: &mut [T]) {
    let _ = (x, out);
}

fn main() {}
