//! Generated code names everything by absolute path: without a prelude, and with the crate under another name. (That it has no
//! other name of the crate is said by `dahl-macros/tests/expansion`: here `::dahl` would be found as well.)

#![no_implicit_prelude]
#![allow(dead_code, reason = "it is there to compile")]

extern crate dahl as other_name;

/// Names that generated code must not pick up.
#[allow(unreachable_pub, reason = "they stand in for names of any crate")]
mod traps {
    pub struct Option;
    pub struct Result;
    pub struct Some;
    pub struct Ok;
    pub struct Views;
    pub struct Map;
    pub struct Call;
}
#[allow(unused_imports)]
use traps::*;

use other_name::{Argument, Element, Real, codelet};

#[derive(::core::clone::Clone, ::core::marker::Copy, ::core::fmt::Debug, Argument)]
#[repr(C)]
#[argument(crate = other_name)]
struct Window {
    rows: u8,
    cols: u32,
}

#[codelet(R, R, W, broadcast, parallel, reference = axpy_in_f64, error = ulp(2), crate = other_name)]
fn axpy<T: Real>(x: T, y: T, alpha: T) -> T {
    let scaled = alpha * x;
    if scaled > T::ZERO { scaled + y } else { (-scaled).sqrt() }
}

#[codelet(
    R, REDUX, SCRATCH, W,
    shape(total = []), shape(tmp = [x.len()]), shape(out = x),
    check(x.len() > 0), check(window.rows == 1), check(out.len() == x.len()),
    flops = 2 * x.len(), bytes = 8.0 * window.cols as f64,
    cpu_only, parallel, cpu = [equal parallel kernel_in_parts, parallel kernel_in_jobs],
    reference = kernel_in_f64, error = sum(n = x.len(), terms = kernel_in_f64),
    crate = other_name,
)]
fn kernel<T: Real, U: Element>(
    x: &[T],
    total: &mut [T::Compute],
    tmp: &mut [U],
    out: &mut [T],
    seed: U,
    window: Window,
) {
    let _ = (x, total, tmp, out, seed, window);
}

fn kernel_in_parts<T: Real, U: Element>(
    x: &[T],
    total: &mut [T::Compute],
    tmp: &mut [U],
    out: &mut [T],
    seed: U,
    window: Window,
) {
    let _ = (x, total, tmp, out, seed, window);
}

fn kernel_in_jobs<T: Real, U: Element>(
    x: &[T],
    total: &mut [T::Compute],
    tmp: &mut [U],
    out: &mut [T],
    seed: U,
    window: Window,
) {
    let _ = (x, total, tmp, out, seed, window);
}

#[codelet(R, W, shape(out = x), parallel = copy_in_parts, crate = other_name)]
fn copy<T: Element>(x: &[T], out: &mut [T]) {
    out.copy_from_slice(x);
}

fn copy_in_parts<T: Element>(x: &[T], out: &mut [T]) {
    out.copy_from_slice(x);
}

fn axpy_in_f64(x: f64, y: f64, alpha: f64) -> f64 {
    let scaled = alpha * x;
    if scaled > 0.0 { scaled + y } else { f64::sqrt(-scaled) }
}

fn kernel_in_f64(x: &[f64], total: &mut [f64], tmp: &mut [f64], out: &mut [f64], seed: f64, window: Window) {
    let _ = (x, total, tmp, out, seed, window);
}

fn main() {
    fn initialisers(arena: &other_name::Arena, x: &other_name::Array<'_, f32, 1>) {
        let _ = axpy_init(arena, x, x, 1.0);
    }
    let _ = initialisers;
    let _ = (Axpy, Kernel, Copy);
}
