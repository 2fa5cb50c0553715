//! Chooses the levels of vector instructions for which loops are compiled, `cfg(dahl_level_v2)` and so on.
//!
//! The variable `DAHL_SIMD_LEVELS` says which: `all`, `native` (the best of the machine that compiles), `baseline` alone, or levels such as
//! `v3,v4`. Without it a release build has all, since it may run elsewhere, and a debug build the native one: each level
//! takes as long to compile as the others. The baseline is always there.

use std::env;

const VARIABLE: &str = "DAHL_SIMD_LEVELS";
const LEVELS: [&str; 3] = ["v2", "v3", "v4"];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed={VARIABLE}");
    for level in LEVELS {
        println!("cargo::rustc-check-cfg=cfg(dahl_level_{level})");
    }
    if env::var("CARGO_CFG_TARGET_ARCH").as_deref() != Ok("x86_64") {
        return;
    }
    for level in chosen() {
        println!("cargo::rustc-cfg=dahl_level_{level}");
    }
}

fn chosen() -> Vec<&'static str> {
    let is_debug = env::var("PROFILE").as_deref() == Ok("debug");
    let is_native = env::var("HOST") == env::var("TARGET");
    let choice = env::var(VARIABLE).unwrap_or_default();
    match choice.trim() {
        "" if is_debug && is_native => native().into_iter().collect(),
        "" | "all" => LEVELS.to_vec(),
        "baseline" => Vec::new(),
        "native" => native().into_iter().collect(),
        named => named.split(',').map(|name| known(name.trim())).collect(),
    }
}

fn known(name: &str) -> &'static str {
    let level = LEVELS.into_iter().find(|level| *level == name);
    level.unwrap_or_else(|| panic!("{VARIABLE}: `{name}` is not all, native, baseline, v2, v3 or v4"))
}

/// The best level of this machine, if it has one above the baseline.
#[cfg(target_arch = "x86_64")]
fn native() -> Option<&'static str> {
    let v3 = is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("f16c")
        && is_x86_feature_detected!("fma")
        && is_x86_feature_detected!("lzcnt")
        && is_x86_feature_detected!("movbe");
    let v4 = v3
        && is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512cd")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vl");
    let v2 = is_x86_feature_detected!("sse4.2") && is_x86_feature_detected!("popcnt");
    [(v4, "v4"), (v3, "v3"), (v2, "v2")].into_iter().find_map(|(has, level)| has.then_some(level))
}

#[cfg(not(target_arch = "x86_64"))]
fn native() -> Option<&'static str> {
    None
}
