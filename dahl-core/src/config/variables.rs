//! The environment variables: their names, the valid values of each, and a warning for an unknown one.
//!
//! This is the only list. The settings use it, and a test compares `docs/debugging-and-performance.md` with it.

use std::env::{self, VarError};
use std::path::PathBuf;
use std::sync::Once;

use crate::error::{Error, ErrorKind, Result};

/// The prefix of the names.
const PREFIX: &str = "DAHL_";

/// A switch.
const SWITCH: &str = "0 or 1";
const WHOLE: &str = "a whole number";

/// The variables that users set, and what each may be.
pub const VARIABLES: [(&str, &str); 37] = [
    ("DAHL_NCPU", "a whole number from 1 to 4096"),
    ("DAHL_BIND", "`none`, `cores`, or processors as in `0-3,8`"),
    ("DAHL_SCHED", "the name of a scheduler"),
    ("DAHL_RAND_SEED", WHOLE),
    ("DAHL_ENERGY_WEIGHT", "a number of seconds from 0"),
    ("DAHL_PLAN", "a file"),
    ("DAHL_WRITE_PLAN", "a file"),
    ("DAHL_TASKS_IN_FLIGHT", "a whole number from 1 to 1048576"),
    ("DAHL_LIMIT_MB", "a whole number from 1 on"),
    ("DAHL_MACHINE", "a file"),
    ("DAHL_NCUDA", WHOLE),
    ("DAHL_CUDA_LIMIT_MB", "a number above 0"),
    ("DAHL_CUBLAS", "a file, a folder, or 0"),
    ("DAHL_CUDNN", "a file, a folder, or 0"),
    ("DAHL_CUDA_TF32", SWITCH),
    ("DAHL_CUDA_GRAPHS", SWITCH),
    ("DAHL_KERNELS", "equal, first, measured, or a table `FILE.toml`"),
    ("DAHL_TEAMS", "one of measured, always, never"),
    (SIMD, "one of baseline, neon, v2, v3, v4"),
    ("DAHL_CHECK", SWITCH),
    ("DAHL_CHECK_SEED", WHOLE),
    ("DAHL_STALL_SECONDS", "a whole number of seconds"),
    ("DAHL_STATS", "0, 1 or `FILE.json`"),
    ("DAHL_ENERGY_MS", "a whole number of milliseconds"),
    ("DAHL_TRACE", "a file `NAME.json`"),
    ("DAHL_PERF_DIR", "a folder"),
    ("DAHL_CALIBRATE", SWITCH),
    // What tests read:
    ("DAHL_TESTING_TIER", "fast or thorough"),
    ("DAHL_TESTING_SEED", WHOLE),
    ("DAHL_TESTING_DAY", WHOLE),
    ("DAHL_NUMERICS_REPORT", "a folder"),
    // What builds read, and CUDA's compiler at run time:
    ("DAHL_SIMD_LEVELS", "`all`, `native`, or levels as in `v3,v4`"),
    ("DAHL_NVCC", "a file, or 0"),
    ("DAHL_CUDA_ARCHITECTURES", "`90` or `80-real,75-virtual`"),
    ("DAHL_CUDA_CHECKED", "1"),
    ("DAHL_NVRTC", "a file or a folder"),
    ("DAHL_CUDA_CACHE", "a folder, or 0"),
];

/// The level of vector instructions, which `dahl-element` reads.
pub(super) const SIMD: &str = "DAHL_SIMD";
const LEVELS: [&str; 5] = ["baseline", "neon", "v2", "v3", "v4"];

/// The prefixes of names that dahl's own tests and builds use internally.
const OWN: [&str; 8] = [
    "DAHL_CHECK_ONLY",
    "DAHL_CUDA_KERNELS_",
    "DAHL_FUZZ_",
    "DAHL_OVERLOAD_",
    "DAHL_RANDOM_PROGRAMS",
    "DAHL_REAL",
    "DAHL_TEST_",
    "DAHL_TRACE_TEST",
];

/// The possible values of a variable.
pub(super) fn accepted(variable: &str) -> &'static str {
    let known = VARIABLES.iter().find(|(name, _)| *name == variable);
    known.expect("settings are read from variables of the list").1
}

/// The text of a variable, if it is set.
///
/// # Errors
/// If it is not valid text.
#[track_caller]
pub(super) fn text(variable: &'static str) -> Result<Option<String>> {
    match env::var(variable) {
        Ok(text) => Ok(Some(text)),
        Err(VarError::NotPresent) => Ok(None),
        Err(VarError::NotUnicode(value)) => {
            let expected = format!("{}, in UTF-8", accepted(variable));
            let value = value.to_string_lossy().into_owned();
            Err(Error::new(ErrorKind::Config { setting: variable, value, expected }))
        }
    }
}

/// The path that a variable names, if it is set and not empty.
pub(super) fn path(variable: &'static str) -> Option<PathBuf> {
    debug_assert!(VARIABLES.iter().any(|(name, _)| *name == variable));
    env::var_os(variable).filter(|path| !path.is_empty()).map(PathBuf::from)
}

/// Refuses a level of vector instructions that does not exist. One that this machine lacks is ignored.
#[track_caller]
pub(super) fn check_level() -> Result<()> {
    match text(SIMD)? {
        Some(value) if !LEVELS.contains(&value.as_str()) => {
            let expected = accepted(SIMD).to_owned();
            Err(Error::new(ErrorKind::Config { setting: SIMD, value, expected }))
        }
        _ => Ok(()),
    }
}

/// Warns of unknown variables, once per process: the first runtime does.
pub(super) fn warn_of_unknown() {
    static WARNED: Once = Once::new();
    WARNED.call_once(|| {
        let mut names: Vec<_> = env::vars_os().filter_map(|(name, _)| name.into_string().ok()).collect();
        names.sort();
        for warning in names.iter().filter_map(|name| unknown(name)) {
            eprintln!("dahl: warning: {warning}");
        }
    });
}

/// The warning about a variable that is not in the list.
fn unknown(name: &str) -> Option<String> {
    let is_known = |name: &str| VARIABLES.iter().any(|(known, _)| *known == name);
    if !name.starts_with(PREFIX) || is_known(name) || OWN.iter().any(|own| name.starts_with(own)) {
        return None;
    }
    let names = VARIABLES.iter().map(|(known, _)| *known);
    let nearest = names.min_by_key(|known| strsim::damerau_levenshtein(known, name))?;
    Some(format!("the variable {name} is set, which dahl does not know; the nearest name is {nearest}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_name_is_told_with_the_nearest_one() {
        let told = |name| unknown(name).unwrap_or_default();
        assert!(told("DAHL_NCPUS").ends_with("the nearest name is DAHL_NCPU"), "{}", told("DAHL_NCPUS"));
        assert!(told("DAHL_CHEKC").ends_with("the nearest name is DAHL_CHECK"), "{}", told("DAHL_CHEKC"));
        assert!(told("DAHL_MEOW").starts_with("the variable DAHL_MEOW is set"));
        assert_eq!(["DAHL_NCPU", "DAHL_TEST_IMAGES", "HOME"].map(unknown), [None, None, None]);
    }
}
