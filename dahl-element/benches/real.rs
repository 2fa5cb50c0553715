//! Nanoseconds per element of the functions of `Real` in a loop through `simd::dispatch`, beside the standard library's.
//!
//! `cargo bench -p dahl-element --bench real`; `DAHL_SIMD=v3` (or `v2`, `baseline`) shows a lower level.

use std::hint::black_box;
use std::time::Instant;

use dahl_element::element::Real;
use dahl_element::simd::{self, Vectorised, dispatch, level};
use half::slice::HalfFloatSliceExt;
use half::{bf16, f16};

/// Fits the first-level cache, input and output, for every type.
const LENGTH: usize = 2048;

/// `to[i] = function(from[i])`.
struct Map<'a, T, F> {
    from: &'a [T],
    to: &'a mut [T],
    function: F,
}

impl<T: Copy, F: Fn(T) -> T> Vectorised for Map<'_, T, F> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for (to, from) in self.to.iter_mut().zip(self.from) {
            *to = (self.function)(*from);
        }
    }
}

/// The minimum over many repetitions of `pass`, in nanoseconds per element.
fn ns_per_element(mut pass: impl FnMut()) -> f64 {
    let passes = 50;
    let mut best = f64::INFINITY;
    for _ in 0..40 {
        let start = Instant::now();
        for _ in 0..passes {
            pass();
        }
        best = best.min(start.elapsed().as_nanos() as f64 / f64::from(passes) / LENGTH as f64);
    }
    best
}

/// Arguments from the ordinary range of every function: `0 < x < 1`, and above 1 for `acosh`.
fn arguments<T: Real>(name: &str) -> Vec<T> {
    let base = if name == "acosh" { 1.0 } else { 0.0 };
    (0..LENGTH).map(|i| T::from_f64(base + (i as f64 + 0.5) / LENGTH as f64)).collect()
}

fn ours<T: Real>(name: &str, function: impl Fn(T) -> T + Copy) -> f64 {
    let (from, mut to) = (arguments::<T>(name), vec![T::ZERO; LENGTH]);
    ns_per_element(|| {
        dispatch(Map { from: black_box(&from), to: &mut to, function });
        black_box(&to);
    })
}

fn plain<T: Real>(name: &str, function: impl Fn(T) -> T) -> f64 {
    let (from, mut to) = (arguments::<T>(name), vec![T::ZERO; LENGTH]);
    ns_per_element(|| {
        for (to, from) in to.iter_mut().zip(black_box(&from)) {
            *to = function(*from);
        }
        black_box(&to);
    })
}

macro_rules! functions {
    ($($function:ident),*) => {$({
        let name = stringify!($function);
        println!(
            "{name:16} {:8.3} {:8.3} {:8.3} {:8.3} | {:8.3} {:8.3}",
            ours::<f16>(name, #[inline(always)] |x| Real::$function(x)),
            ours::<bf16>(name, #[inline(always)] |x| Real::$function(x)),
            ours::<f32>(name, #[inline(always)] |x| Real::$function(x)),
            ours::<f64>(name, #[inline(always)] |x| Real::$function(x)),
            plain::<f32>(name, f32::$function),
            plain::<f64>(name, f64::$function),
        );
    })*};
}

fn main() {
    println!("level {}, ns per element\n", level());
    println!(
        "{:16} {:>8} {:>8} {:>8} {:>8} | {:>8} {:>8}",
        "", "f16", "bf16", "f32", "f64", "std f32", "std f64"
    );
    functions!(
        exp, exp2, exp_m1, ln, ln_1p, log2, log10, sqrt, cbrt, sin, cos, tan, asin, acos, atan, sinh, cosh,
        tanh, asinh, acosh, atanh, floor, round, trunc, fract, signum, abs, recip
    );
    two_arguments();
    conversions();
    reductions();
    println!("\ndispatch itself: {:.2} ns a call", LENGTH as f64 * ns_per_element(|| dispatch(Nothing)));
}

fn two_arguments() {
    println!();
    macro_rules! compare {
        ($($function:ident),*) => {$(
            println!(
                "{:16} {:>8} {:>8} {:8.3} {:8.3} | {:8.3} {:8.3}",
                stringify!($function), "", "",
                ours::<f32>("", #[inline(always)] |x| Real::$function(x, 1.7)),
                ours::<f64>("", #[inline(always)] |x| Real::$function(x, 1.7)),
                plain::<f32>("", |x| f32::$function(x, black_box(1.7))),
                plain::<f64>("", |x| f64::$function(x, black_box(1.7))),
            );
        )*};
    }
    compare!(powf, atan2, hypot, max);
}

fn conversions() {
    println!();
    let wide = arguments::<f32>("");
    let mut to = vec![0.0_f32; LENGTH];
    macro_rules! compare {
        ($half:ident) => {{
            let mut half = arguments::<$half>("");
            println!(
                "{:16} widen_slice {:.3}, half's {:.3}, its to_f32 in a loop {:.3}; narrow_slice {:.3}, half's {:.3}, its from_f32 in a loop {:.3}",
                stringify!($half),
                ns_per_element(|| Real::widen_slice(black_box(&half), &mut to)),
                ns_per_element(|| black_box(&half).convert_to_f32_slice(&mut to)),
                ns_per_element(|| black_box(&half).iter().zip(&mut to).for_each(|(half, to)| *to = half.to_f32())),
                ns_per_element(|| Real::narrow_slice(black_box(&wide), &mut half)),
                ns_per_element(|| half.convert_from_f32_slice(black_box(&wide))),
                ns_per_element(|| half.iter_mut().zip(black_box(&wide)).for_each(|(half, x)| *half = $half::from_f32(*x))),
            );
        }};
    }
    compare!(f16);
    compare!(bf16);
}

fn reductions() {
    println!();
    macro_rules! compare {
        ($($type:ident),*) => {$(
            let values = arguments::<$type>("");
            println!(
                "{:16} sum {:.3}, dot {:.3}, max {:.3}; one by one, sum {:.3}",
                stringify!($type),
                ns_per_element(|| { black_box(simd::sum(black_box(&values))); }),
                ns_per_element(|| { black_box(simd::dot(black_box(&values), &values)); }),
                ns_per_element(|| { black_box(simd::max(black_box(&values))); }),
                ns_per_element(|| { black_box(black_box(&values).iter().sum::<$type>()); }),
            );
        )*};
    }
    compare!(f16, bf16, f32, f64);
}

/// Measures the cost of dispatch.
struct Nothing;

impl Vectorised for Nothing {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        black_box(());
    }
}
