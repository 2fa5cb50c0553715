//! How close results are to PyTorch's, by case and element type: [`Table`].
//!
//! Results in f32 and f64 meet the tolerances of `torch.testing.assert_close`. A half-precision result that is rounded once is within
//! one unit in the last place, 2^-10 of an element in f16 and 2^-7 in bf16. Layers of several operations round between these:
//! where PyTorch's own results are farther off, elements may also differ by the largest difference of PyTorch's, as a share of
//! the result's largest element. The script says which layers these are.

use std::collections::{BTreeMap, BTreeSet};

use dahl::prelude::*;
use safetensors::SafeTensors;

use crate::page;

/// The results of PyTorch in a file beside the scripts that make them.
pub(crate) fn reference(file: &str) -> SafeTensors<'static> {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/reference").join(file);
    let bytes = std::fs::read(path).expect("the reference is part of the repository");
    SafeTensors::deserialize(bytes.leak()).expect("a safetensors file")
}

/// The largest differences from PyTorch, by case and element type.
#[derive(Default)]
pub(crate) struct Table {
    rows: BTreeMap<&'static str, BTreeMap<&'static str, Worst>>,
}

/// The largest differences of a case in an element type.
#[derive(Clone, Default)]
pub(crate) struct Worst {
    /// As a share of what is allowed.
    share: f64,
    /// Where that is.
    place: String,
    /// As a share of the largest element of the result.
    relative: f64,
}

impl Table {
    /// The differences of a case in a type.
    pub(crate) fn worst<T: Real>(&mut self, case: &'static str) -> &mut Worst {
        self.rows.entry(case).or_default().entry(T::NAME).or_default()
    }

    /// Compares the table with its section of the page.
    ///
    /// # Panics
    /// If a difference is larger than what is allowed, the cases are not those of PyTorch's file, or the page has others.
    pub(crate) fn assert(&self, section: &str, file: &SafeTensors<'_>) {
        let cases: BTreeSet<_> =
            file.names().iter().filter_map(|name| Some(name.split_once('/')?.0)).collect();
        assert_eq!(self.rows.keys().copied().collect::<BTreeSet<_>>(), cases);
        let wrong: Vec<_> = (self.rows.iter())
            .flat_map(|(name, worst)| worst.iter().map(move |(element, worst)| (name, element, worst)))
            .filter(|(.., worst)| worst.share.is_nan() || worst.share > 1.0)
            .map(|(name, element, worst)| format!("{name}/{element}/{}: {:.2}", worst.place, worst.share))
            .collect();
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        let row = |(name, worst): (&&str, &BTreeMap<_, Worst>)| {
            let cells = ["f16", "bf16", "f32", "f64"].map(|element| {
                let relative = worst[element].relative;
                if relative == 0.0 { "0".to_owned() } else { format!("{relative:.1e}") }
            });
            (format!("`{name}`"), cells.to_vec())
        };
        page::check(section, &self.rows.iter().map(row).collect::<Vec<_>>());
    }
}

impl Worst {
    /// Compares a result with PyTorch's. `own` is the largest difference of PyTorch's own results, as a share of the largest
    /// element, if it is more than the tolerances allow, else 0.
    pub(crate) fn see<T: Real>(&mut self, role: &str, results: &[T], expected: &[T], own: f64) {
        let (relative, absolute) = match T::NAME {
            "f16" => (2.0_f64.powi(-10), 1e-5),
            "bf16" => (2.0_f64.powi(-7), 1e-5),
            "f32" => (1.3e-6, 1e-5),
            _ => (1e-7, 1e-7),
        };
        assert_eq!(results.len(), expected.len(), "{role}");
        let finite = expected.iter().map(|value| value.to_f64().abs()).filter(|size| size.is_finite());
        let largest = finite.fold(0.0, f64::max);
        for (index, (result, expected)) in results.iter().zip(expected).enumerate() {
            let (result, expected) = (result.to_f64(), expected.to_f64());
            let difference = if result == expected { 0.0 } else { (result - expected).abs() };
            let share = difference / (absolute + relative * expected.abs() + own * largest);
            if share.is_nan() || share > self.share {
                self.share = share;
                self.place = format!("{role}, element {index}: {result}, not {expected}");
            }
            if difference > 0.0 {
                self.relative = self.relative.max(difference / largest);
            }
        }
    }
}
