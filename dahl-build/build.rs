//! Tells the tests for which platform they are compiled.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-env=DAHL_BUILD_TARGET={}", std::env::var("TARGET").unwrap_or_default());
}
