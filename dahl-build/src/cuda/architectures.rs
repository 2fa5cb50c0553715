//! [`Architectures`]: the devices for which nvcc compiles.

use std::env;

use crate::error::Error;

/// Compute capabilities as in CMake's `CUDA_ARCHITECTURES`, separated by commas or semicolons: `90` for machine code
/// and PTX, `90-real` for machine code only, `90-virtual` for PTX, which later devices also run (except that of `90a`).
pub(crate) const VARIABLE: &str = "DAHL_CUDA_ARCHITECTURES";

/// The default: machine code for A100, H100 and similar devices, and PTX for all from Turing on. The PTX for 8.0 has what
/// 7.5 lacks: tensor cores for both half-precision types.
const USUAL: &str = "80,90-real,75-virtual";

/// The devices that nvcc compiles for: at least one.
#[derive(Debug)]
pub(crate) struct Architectures(Vec<Architecture>);

#[derive(Debug)]
struct Architecture {
    /// `90`, `90a`.
    capability: String,
    real: bool,
    ptx: bool,
}

impl Architectures {
    /// The value of the variable.
    pub(crate) fn from_env() -> Result<Self, Error> {
        let text = env::var_os(VARIABLE).unwrap_or_default();
        let text = text.to_string_lossy();
        Self::parse(if text.trim().is_empty() { USUAL } else { &text })
    }

    /// The default architectures.
    #[cfg(test)]
    pub(crate) fn usual() -> Self {
        Self::parse(USUAL).expect("the text above")
    }

    pub(crate) fn parse(text: &str) -> Result<Self, Error> {
        let parts = text.split([',', ';']).map(str::trim).filter(|part| !part.is_empty());
        let all = parts.map(Architecture::parse).collect::<Option<Vec<_>>>().filter(|all| !all.is_empty());
        all.map(Self).ok_or_else(|| {
            let fact = format!("`{text}`: expected compute capabilities from 75 on, each alone or with `-real` or `-virtual`, as in `80-real,90`; `native` and `all` are not known");
            Error::about(VARIABLE, fact)
        })
    }

    /// The options of nvcc, without duplicates.
    pub(crate) fn options(&self) -> Vec<String> {
        let mut options = Vec::new();
        for Architecture { capability, real, ptx } in &self.0 {
            for code in [real.then_some("sm"), ptx.then_some("compute")].into_iter().flatten() {
                let option = format!("-gencode=arch=compute_{capability},code={code}_{capability}");
                if !options.contains(&option) {
                    options.push(option);
                }
            }
        }
        options
    }
}

impl Architecture {
    fn parse(text: &str) -> Option<Self> {
        let (capability, kind) = text.split_once('-').map_or((text, None), |(of, kind)| (of, Some(kind)));
        let (real, ptx) = match kind {
            None => (true, true),
            Some("real") => (true, false),
            Some("virtual") => (false, true),
            Some(_) => return None,
        };
        let digits = capability.trim_end_matches(['a', 'f']);
        let is_capability =
            capability.len() <= digits.len() + 1 && digits.starts_with(|first| ('1'..='9').contains(&first));
        let number: u32 = digits.parse().ok().filter(|_| is_capability)?;
        // The least that the kernels are compiled and tested for, as of current compilers. nvcc checks which
        // capabilities exist.
        (number >= 75).then(|| Self { capability: capability.to_owned(), real, ptx })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_becomes_its_options() {
        let options = |text| Architectures::parse(text).unwrap().options();
        assert_eq!(
            options(USUAL),
            [
                "-gencode=arch=compute_80,code=sm_80",
                "-gencode=arch=compute_80,code=compute_80",
                "-gencode=arch=compute_90,code=sm_90",
                "-gencode=arch=compute_75,code=compute_75",
            ]
        );
        let both = ["-gencode=arch=compute_90a,code=sm_90a", "-gencode=arch=compute_90a,code=compute_90a"];
        assert_eq!(options(" 90a ; "), both);
        assert_eq!(options("90a-virtual,90a-real,90a"), [both[1], both[0]]);
    }

    #[test]
    fn what_is_none_is_refused_with_what_is_expected() {
        for text in
            [",", "ninety", "70", "075", "+90", "90-", "90-sm", "90aa", "a", "sm_90", "native", "\u{fffd}"]
        {
            let error = Architectures::parse(text).unwrap_err().to_string();
            assert!(error.starts_with(&format!("DAHL_CUDA_ARCHITECTURES: `{text}`: expected ")), "{error}");
        }
    }
}
