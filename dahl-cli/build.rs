//! Records which compiler the command was built with, for the results of studies.

use std::env;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=RUSTC");
    let compiler = env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    let version = Command::new(compiler).arg("--version").output().ok();
    let version = version.and_then(|output| String::from_utf8(output.stdout).ok());
    let version = version.filter(|text| !text.trim().is_empty()).unwrap_or_else(|| "absent".to_owned());
    println!("cargo::rustc-env=STUDY_RUSTC={}", version.trim());
}
