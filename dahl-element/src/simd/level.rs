//! [`Level`]: which vector instructions the machine has, and [`dispatch`], which compiles a loop for each of them.

#![allow(
    unsafe_code,
    reason = "calling a function with target features that were detected at run time is unsafe"
)]

use std::env;
use std::fmt;
use std::sync::atomic::{AtomicU8, Ordering};

/// A set of vector instructions for which loops are compiled.
///
/// The x86-64 levels are those of the System V ABI (version 1.0, section 3.1.1). Levels of one architecture are
/// ordered: each has all instructions of the ones below it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
#[repr(u8)]
pub enum Level {
    /// The instructions that the binary was compiled for.
    Baseline = 1,
    /// aarch64 NEON (Advanced SIMD): 128-bit vectors.
    Neon,
    /// x86-64-v2: SSE4.2, 128-bit vectors.
    V2,
    /// x86-64-v3: AVX2, FMA and F16C, 256-bit vectors.
    V3,
    /// x86-64-v4: AVX-512 F, BW, CD, DQ and VL, 512-bit vectors.
    V4,
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Baseline => "baseline",
            Self::Neon => "neon",
            Self::V2 => "v2",
            Self::V3 => "v3",
            Self::V4 => "v4",
        })
    }
}

impl Level {
    /// All levels, in order.
    const ALL: [Self; 5] = [Self::Baseline, Self::Neon, Self::V2, Self::V3, Self::V4];

    /// Whether this build has loops for it: for all levels of its architecture, but in a debug build only for the
    /// baseline and for the best level of the machine that compiled it (`build.rs`).
    pub const fn is_compiled(self) -> bool {
        match self {
            Self::Baseline => true,
            Self::Neon => cfg!(target_arch = "aarch64"),
            Self::V2 => cfg!(dahl_level_v2),
            Self::V3 => cfg!(dahl_level_v3),
            Self::V4 => cfg!(dahl_level_v4),
        }
    }

    /// The levels that this build has loops for, in order.
    pub fn compiled() -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(|level| level.is_compiled())
    }
}

/// A computation that [`dispatch`] compiles for every [`Level`] that [is compiled](Level::is_compiled).
///
/// Mark [`run`](Vectorised::run) and what it calls in its loops `#[inline(always)]`: only inlined code is compiled for
/// the level. Other code is still correct, and as slow as without dispatch.
///
/// ```
/// use dahl_element::simd::{dispatch, Vectorised};
///
/// struct Scale<'a> {
///     values: &'a mut [f32],
///     factor: f32,
/// }
///
/// impl Vectorised for Scale<'_> {
///     type Output = ();
///
///     #[inline(always)]
///     fn run(self) {
///         for value in self.values {
///             *value *= self.factor;
///         }
///     }
/// }
///
/// let mut values = [1.0, 2.0, 3.0];
/// dispatch(Scale { values: &mut values, factor: 2.0 });
/// assert_eq!(values, [2.0, 4.0, 6.0]);
/// ```
pub trait Vectorised {
    /// The result of the computation.
    type Output;

    /// Runs the computation.
    fn run(self) -> Self::Output;
}

/// A computation that is compiled for every [`Level`], like [`Vectorised`], and receives the level: for loops that use
/// an instruction that the compiler does not select.
pub(crate) trait Loop {
    /// The result of the computation.
    type Output;

    /// Runs the computation. To be inlined, like [`Vectorised::run`].
    fn run<const LEVEL: u8>(self, at: At<LEVEL>) -> Self::Output;
}

/// A [`Vectorised`], which does not depend on the level.
struct Plain<V>(V);

impl<V: Vectorised> Loop for Plain<V> {
    type Output = V::Output;

    #[inline(always)]
    fn run<const LEVEL: u8>(self, _: At<LEVEL>) -> V::Output {
        self.0.run()
    }
}

/// Proof that this machine has the instructions of a [`Level`], given as a number that is known at compile time.
///
/// Invariant L2: only a function that requires a level's features makes one with that level, except for the baseline,
/// so it was reached on a machine that has them.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct At<const LEVEL: u8>(());

impl At<{ Level::Baseline as u8 }> {
    /// The level that every machine has.
    pub const BASELINE: Self = Self(());
}

impl<const LEVEL: u8> At<LEVEL> {
    /// [`Level::V3`].
    pub const HAS_V3: bool = cfg!(target_arch = "x86_64") && LEVEL >= Level::V3 as u8;
    /// [`Level::V4`].
    pub const HAS_V4: bool = cfg!(target_arch = "x86_64") && LEVEL >= Level::V4 as u8;
}

/// Runs `v.run()` with the vector instructions of this machine, those of [`level()`].
///
/// The cost beside the call is one relaxed atomic load and a jump, about a nanosecond.
#[inline]
pub fn dispatch<V: Vectorised>(v: V) -> V::Output {
    dispatch_loop(Plain(v))
}

/// As [`dispatch`].
#[inline]
pub(crate) fn dispatch_loop<L: Loop>(l: L) -> L::Output {
    match level() {
        // SAFETY: `run_v4` requires the features of V4, and `level` returns V4 only after `is_detected` has found each
        // of them on this machine (invariant L1).
        #[cfg(dahl_level_v4)]
        Level::V4 => unsafe { run_v4(l) },
        // SAFETY: as above, with V3.
        #[cfg(dahl_level_v3)]
        Level::V3 => unsafe { run_v3(l) },
        // SAFETY: as above, with V2.
        #[cfg(dahl_level_v2)]
        Level::V2 => unsafe { run_v2(l) },
        // SAFETY: as above, with NEON.
        #[cfg(target_arch = "aarch64")]
        Level::Neon => unsafe { run_neon(l) },
        _ => l.run(At::BASELINE),
    }
}

/// Lists the target features of a level once: for the compiled loop, and for the detection that guards it.
macro_rules! levels {
    ($(
        $compiled:meta, $level:ident, $run:ident, $has:ident, $detected:ident,
        [$($feature:tt),*]
    );* $(;)?) => {$(
        #[cfg($compiled)]
        $(#[target_feature(enable = $feature)])*
        fn $run<L: Loop>(l: L) -> L::Output {
            l.run(At::<{ Level::$level as u8 }>(()))
        }

        #[cfg($compiled)]
        fn $has() -> bool {
            true $(&& std::arch::$detected!($feature))*
        }
    )*};
}

levels! {
    dahl_level_v2, V2, run_v2, has_v2, is_x86_feature_detected,
        ["cmpxchg16b", "popcnt", "sse3", "sse4.1", "sse4.2", "ssse3"];
    dahl_level_v3, V3, run_v3, has_v3, is_x86_feature_detected,
        ["cmpxchg16b", "popcnt", "sse3", "sse4.1", "sse4.2", "ssse3",
         "avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "lzcnt", "movbe"];
    dahl_level_v4, V4, run_v4, has_v4, is_x86_feature_detected,
        ["cmpxchg16b", "popcnt", "sse3", "sse4.1", "sse4.2", "ssse3",
         "avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "lzcnt", "movbe",
         "avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"];
    target_arch = "aarch64", Neon, run_neon, has_neon, is_aarch64_feature_detected, ["neon"];
}

/// The level that [`dispatch`] uses: the best that the machine has and this build was compiled for, or the best of those up to
/// the one that the environment variable `DAHL_SIMD` names (`v4`, `v3`, `v2` or `baseline`).
///
/// It is found at the first call and then stays. A name that is unknown is ignored.
#[inline]
pub fn level() -> Level {
    match FOUND.load(Ordering::Relaxed) {
        level if level == Level::Baseline as u8 => Level::Baseline,
        level if level == Level::Neon as u8 => Level::Neon,
        level if level == Level::V2 as u8 => Level::V2,
        level if level == Level::V3 as u8 => Level::V3,
        level if level == Level::V4 as u8 => Level::V4,
        _ => initialise(),
    }
}

/// The detected [`Level`], or zero before the first call of [`level()`].
///
/// Invariant L1: it never holds a level but one that [`is_detected`]. Only [`initialise`] writes it. Relaxed
/// order is enough, because the number guards no other memory and every thread would write the same.
static FOUND: AtomicU8 = AtomicU8::new(0);

#[cold]
fn initialise() -> Level {
    let most = match env::var("DAHL_SIMD").as_deref() {
        Ok("baseline") => Level::Baseline,
        Ok("v2") if cfg!(target_arch = "x86_64") => Level::V2,
        Ok("v3") if cfg!(target_arch = "x86_64") => Level::V3,
        _ => Level::V4,
    };
    let level = detect(most);
    FOUND.store(level as u8, Ordering::Relaxed);
    level
}

/// The best compiled level up to `most` whose every feature this machine and its operating system have.
fn detect(most: Level) -> Level {
    Level::compiled()
        .filter(|&level| level <= most && is_detected(level))
        .last()
        .expect("every machine has the baseline")
}

/// Whether this machine and its operating system have every feature of a compiled level.
fn is_detected(level: Level) -> bool {
    match level {
        Level::Baseline => true,
        #[cfg(dahl_level_v4)]
        Level::V4 => has_v4(),
        #[cfg(dahl_level_v3)]
        Level::V3 => has_v3(),
        #[cfg(dahl_level_v2)]
        Level::V2 => has_v2(),
        #[cfg(target_arch = "aarch64")]
        Level::Neon => has_neon(),
        _ => false,
    }
}
