//! What one core can compute at most: multiply-adds in registers, in GFLOP/s, as a line of JSON.
//!
//! `cargo bench -p dahl-benches --bench peak`. It is the limit that `benches/pytorch/compare.py` measures kernels against. (Products of bf16
//! that add up in f32, `vdpbf16ps`, have twice that of f32, where the processor has them.)

use std::hint::black_box;
use std::time::{Duration, Instant};

use pulp::{Arch, Simd, WithSimd};

/// Vectors that are worked on at once: more than a multiply-add takes cycles, times those that begin in one,
const CHAINS: usize = 16;
/// and of 16 registers as many as leave room for the factor and the summand.
const FEW_CHAINS: usize = 12;

/// Multiply-adds of each chain between two looks at the clock.
const STEPS: usize = 100_000;

const ROUNDS: usize = 9;

/// How long each round works before the clock counts, so that the core has its full speed.
const WARM_UP: Duration = Duration::from_millis(20);

/// Multiply-adds of `N` vectors: how many.
struct Single<const N: usize>;

impl<const N: usize> WithSimd for Single<N> {
    type Output = usize;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> usize {
        let (factor, summand) = (simd.splat_f32s(black_box(0.5)), simd.splat_f32s(black_box(1.0)));
        let mut chains = [simd.splat_f32s(black_box(1.0)); N];
        for _ in 0..STEPS {
            for chain in &mut chains {
                *chain = simd.mul_add_f32s(*chain, factor, summand);
            }
        }
        let sum = chains.into_iter().reduce(|sum, chain| simd.add_f32s(sum, chain));
        black_box(sum.map(|sum| simd.reduce_sum_f32s(sum)));
        S::F32_LANES * N * STEPS
    }
}

/// The same in f64.
struct Double<const N: usize>;

impl<const N: usize> WithSimd for Double<N> {
    type Output = usize;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> usize {
        let (factor, summand) = (simd.splat_f64s(black_box(0.5)), simd.splat_f64s(black_box(1.0)));
        let mut chains = [simd.splat_f64s(black_box(1.0)); N];
        for _ in 0..STEPS {
            for chain in &mut chains {
                *chain = simd.mul_add_f64s(*chain, factor, summand);
            }
        }
        let sum = chains.into_iter().reduce(|sum, chain| simd.add_f64s(sum, chain));
        black_box(sum.map(|sum| simd.reduce_sum_f64s(sum)));
        S::F64_LANES * N * STEPS
    }
}

/// Billions of operations per second in the best round: what disturbs a round only adds to its time.
fn gflops(work: impl Fn() -> usize) -> f64 {
    let mut best = 0.0_f64;
    for _ in 0..ROUNDS {
        let begin = Instant::now();
        while begin.elapsed() < WARM_UP {
            work();
        }
        let begin = Instant::now();
        let flops = 2.0 * work() as f64;
        best = best.max(flops / begin.elapsed().as_secs_f64() / 1e9);
    }
    best
}

struct Registers;

impl WithSimd for Registers {
    type Output = usize;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) -> usize {
        S::REGISTER_COUNT
    }
}

fn speeds<const N: usize>(arch: Arch) -> [f64; 2] {
    [gflops(|| arch.dispatch(Single::<N>)), gflops(|| arch.dispatch(Double::<N>))]
}

fn main() {
    let arch = Arch::new();
    let has_few = arch.dispatch(Registers) < 32;
    let [f32, f64] = if has_few { speeds::<FEW_CHAINS>(arch) } else { speeds::<CHAINS>(arch) };
    println!("{}", serde_json::json!({ "f32": f32, "f64": f64 }));
}
