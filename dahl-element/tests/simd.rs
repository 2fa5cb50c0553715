//! `simd::dispatch`: every level computes the same bits, and `DAHL_SIMD` only lowers the level.

use std::env;
use std::process::Command;

use dahl_element::__private::{At, Body, map, narrow_block, narrows_in_blocks, widen};
use dahl_element::element::{Element, Real};
use dahl_element::simd::{self, Level, Vectorised, dispatch, level};
use half::{bf16, f16};

/// A digest of the bits of every function's results.
struct Digest<'a, T>(&'a [T]);

macro_rules! digest {
    ($values:expr, $($function:ident),*) => {{
        let mut digest = 0_u64;
        $(
            let results: Vec<f64> = $values.iter().map(|x| x.$function().to_f64()).collect();
            for result in results {
                let bits = if result.is_nan() { 0 } else { result.to_bits() };
                digest = digest.rotate_left(5) ^ bits.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            }
        )*
        digest
    }};
}

impl<T: Real> Vectorised for Digest<'_, T> {
    type Output = u64;

    #[inline(always)]
    fn run(self) -> u64 {
        let pairs: Vec<T> = self
            .0
            .windows(2)
            .flat_map(|pair| {
                [
                    pair[0].abs().powf(pair[1]),
                    pair[0].hypot(pair[1]),
                    pair[0].atan2(pair[1]),
                    pair[0].max(pair[1]),
                ]
            })
            .collect();
        let of_pairs = digest!(pairs, abs);
        let of_each = digest!(
            self.0,
            exp,
            exp2,
            exp_m1,
            ln,
            ln_1p,
            log2,
            log10,
            sqrt,
            cbrt,
            sin,
            cos,
            tan,
            asin,
            acos,
            atan,
            sinh,
            cosh,
            tanh,
            asinh,
            acosh,
            atanh,
            floor,
            ceil,
            round,
            round_ties_even,
            trunc,
            fract,
            abs,
            signum,
            recip
        );
        of_pairs.rotate_left(11) ^ of_each
    }
}

fn digest_of<T: Real>() -> u64 {
    let mut bits = 1_u64;
    let values: Vec<T> = (0..20_000)
        .map(|i| {
            bits = bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let size = 2.0_f64.powi(i % 60 - 40);
            T::from_f64((bits >> 11) as f64 / 2.0_f64.powi(52) * size - 0.5 * size)
        })
        .chain([T::ZERO, T::NEG_ZERO, T::INFINITY, T::NEG_INFINITY, T::NAN, T::MAX, T::MIN, T::MIN_POSITIVE])
        .collect();
    let finite = &values[..20_000];
    let mut wide = vec![T::Compute::ZERO; values.len()];
    T::widen_slice(&values, &mut wide);
    wide.reverse();
    let mut reversed = vec![T::ZERO; values.len()];
    T::narrow_slice(&wide, &mut reversed);
    let mut thirds = vec![T::ZERO; values.len()];
    map(&mut thirds, Thirds(&values));
    let results = [
        simd::sum(finite),
        simd::dot(finite, &reversed[8..]),
        simd::max(finite).widen(),
        simd::min(finite).widen(),
    ];
    wide.into_iter()
        .chain(reversed.iter().chain(&thirds).map(|x| x.widen()))
        .chain(results)
        .fold(dispatch(Digest(&values)), |digest, x| digest.rotate_left(7) ^ x.to_f64().to_bits())
}

/// A map: `x / 3`, as generated code writes it.
struct Thirds<'a, T>(&'a [T]);

impl<T: Real> Body<T> for Thirds<'_, T> {
    type Wide = T::Compute;

    #[inline(always)]
    fn narrows_in_blocks<const LEVEL: u8>(at: At<LEVEL>) -> bool {
        narrows_in_blocks::<T, LEVEL>(at)
    }

    #[inline(always)]
    fn compute<const LEVEL: u8>(
        &self,
        at: At<LEVEL>,
        begin: usize,
        output: &mut [T],
        wide: &mut [T::Compute],
    ) {
        let input = &self.0[begin..][..output.len()];
        let third = |x: T| widen(at, x) / T::Compute::from_f64(3.0);
        if narrows_in_blocks::<T, LEVEL>(at) {
            for (wide, x) in wide.iter_mut().zip(input) {
                *wide = third(*x);
            }
            narrow_block(at, wide, output);
        } else {
            for (output, x) in output.iter_mut().zip(input) {
                *output = T::narrow(third(*x));
            }
        }
    }
}

/// Not a test by itself: the tests below run it in other processes.
#[test]
fn report() {
    let digests = [digest_of::<f16>(), digest_of::<bf16>(), digest_of::<f32>(), digest_of::<f64>()];
    println!("REPORT {} {digests:x?}", level());
}

/// The level and the digests of a process with `DAHL_SIMD` set to `name`.
fn report_at(name: &str) -> (String, String) {
    let output = Command::new(env::current_exe().expect("a test has a path"))
        .args(["--exact", "simd::report", "--nocapture"])
        .env("DAHL_SIMD", name)
        .output()
        .expect("the test's own program starts");
    let output = String::from_utf8(output.stdout).expect("the report is text");
    // The harness may print the name of the test on the same line.
    let report = output.split("REPORT ").nth(1).expect("the report is printed");
    let report = report.lines().next().expect("the report is a line");
    let (level, digests) = report.split_once(' ').expect("a level and digests");
    (level.to_owned(), digests.to_owned())
}

#[test]
fn every_level_computes_the_same_bits() {
    let (_, best) = report_at("");
    for name in ["v4", "v3", "v2", "baseline"] {
        let (level, digests) = report_at(name);
        assert_eq!(digests, best, "DAHL_SIMD={name}, which ran at {level}");
    }
}

#[test]
fn the_variable_only_lowers_the_level() {
    let (best, _) = report_at("");
    assert_eq!(report_at("baseline").0, "baseline");
    assert_eq!(report_at("v9").0, best);
    assert_eq!(report_at("v4").0, best);
    if cfg!(target_arch = "x86_64") {
        // A build need not have loops for every level: then it is the next lower one that it has.
        for most in [Level::V2, Level::V3] {
            let levels = Level::compiled().map(|level| level.to_string()).collect::<Vec<_>>();
            let up_to_best = &levels[..=levels.iter().position(|level| *level == best).unwrap()];
            let up_to_most = Level::compiled().filter(|level| *level <= most).count();
            let expected = &up_to_best[..up_to_best.len().min(up_to_most)];
            assert_eq!(Some(&report_at(&most.to_string()).0), expected.last());
        }
    }
}

#[test]
fn the_level_is_what_the_machine_has() {
    let best = report_at("").0;
    #[cfg(target_arch = "x86_64")]
    assert_eq!(best == "v4", detected_v4() == 5 && Level::V4.is_compiled());
    #[cfg(target_arch = "aarch64")]
    assert_eq!(best, Level::Neon.to_string());
    assert_ne!(best, "");
}

/// The number of v4's features beyond v3 that this machine has, if it has those of v3.
#[cfg(target_arch = "x86_64")]
fn detected_v4() -> usize {
    let v3 = is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("fma")
        && is_x86_feature_detected!("f16c");
    [
        is_x86_feature_detected!("avx512f"),
        is_x86_feature_detected!("avx512bw"),
        is_x86_feature_detected!("avx512cd"),
        is_x86_feature_detected!("avx512dq"),
        is_x86_feature_detected!("avx512vl"),
    ]
    .into_iter()
    .filter(|has| *has && v3)
    .count()
}

#[test]
fn levels_are_ordered() {
    assert!(Level::Baseline < Level::V2 && Level::V2 < Level::V3 && Level::V3 < Level::V4);
}

#[test]
fn dispatch_returns_what_run_returns() {
    struct Owned(String);
    impl Vectorised for Owned {
        type Output = String;
        fn run(self) -> String {
            self.0 + "!"
        }
    }
    assert_eq!(dispatch(Owned("moved".to_owned())), "moved!");
}

#[test]
fn a_panic_passes_through() {
    struct Fails;
    impl Vectorised for Fails {
        type Output = ();
        fn run(self) {
            panic!("from inside")
        }
    }
    let payload = std::panic::catch_unwind(|| dispatch(Fails)).expect_err("it panics");
    assert_eq!(payload.downcast_ref(), Some(&"from inside"));
}
