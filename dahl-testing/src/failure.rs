//! [`Failure`]: a failed comparison, with a message that shows the error and how to run it again.

use std::fmt;

use super::arrays::Placement;
use super::digits::Digits;
use super::distribution::Distribution;

/// A check of a comparison. Each finds different mistakes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Check {
    /// The task is accepted, and neither panics nor fails.
    Runs,
    /// Errors stay within the bound of the error class.
    Bound,
    /// NaN, infinities and signs of zeros are where the reference has them.
    SpecialValues,
    /// Every element of a `W` output is written.
    Writes,
    /// `op`, `op_self` and `op_init` give bitwise the same results.
    Variants,
    /// The task changes nothing that is not its output: inputs, and memory around a part.
    Untouched,
    /// The error, in units of the roundoff, is about the same for all element types.
    ElementTypes,
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Runs => "runs",
            Self::Bound => "bound",
            Self::SpecialValues => "special values",
            Self::Writes => "writes",
            Self::Variants => "variants",
            Self::Untouched => "untouched",
            Self::ElementTypes => "element types",
        })
    }
}

/// The variant of a codelet that ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variant {
    /// `op`, into a given output.
    Op,
    /// `op_self`, in place of an input.
    OpSelf,
    /// `op_init`, which creates its output.
    OpInit,
}

impl fmt::Display for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Op => "op",
            Self::OpSelf => "op_self",
            Self::OpInit => "op_init",
        })
    }
}

/// A variant, a kernel and a placement.
#[derive(Clone, Debug)]
pub(super) struct Way {
    pub(super) variant: Variant,
    pub(super) kernel: &'static str,
    pub(super) placement: Placement,
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let placement = match self.placement {
            Placement::Whole => "whole arrays",
            Placement::Parts => "strided parts",
            Placement::InputParts => "inputs in strided parts",
            Placement::OutputParts => "outputs in strided parts",
        };
        write!(f, "{}, kernel `{}`, {placement}", self.variant, self.kernel)
    }
}

/// The error that a comparison found.
#[derive(Clone, Debug)]
pub struct Failure {
    pub(super) op: String,
    pub(super) element: &'static str,
    pub(super) check: Check,
    pub(super) way: Option<Way>,
    /// The distribution of the inputs, and the variables that reproduce them.
    pub(super) drawn: Option<(Distribution, String)>,
    /// The error, in a sentence.
    pub(super) fact: String,
    pub(super) worst: Option<Worst>,
    /// The number of results by their error, if the bound failed.
    pub(super) histogram: Option<Histogram>,
    /// The smallest inputs found that fail, printed.
    pub(super) smallest: Option<String>,
}

/// The result with the largest error.
#[derive(Clone, Debug)]
pub(super) struct Worst {
    /// `out[3, 5]`.
    pub(super) element: String,
    /// The inputs of the same index, if any: `x[3, 5] = 0.5`.
    pub(super) inputs: Vec<String>,
    pub(super) digits: Digits,
    pub(super) distance: String,
}

impl Failure {
    /// The check that failed.
    pub fn check(&self) -> Check {
        self.check
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} in {}", self.op, self.element)?;
        if let Some(way) = &self.way {
            write!(f, ", {way}")?;
        }
        writeln!(f, ": {} (check: {})", self.fact, self.check)?;
        if let Some(worst) = &self.worst {
            writeln!(f, "\nworst element: {}", worst.element)?;
            for input in &worst.inputs {
                writeln!(f, "  {input}")?;
            }
            writeln!(f, "{}", worst.digits)?;
            writeln!(f, "  {}", worst.distance)?;
        }
        if let Some(histogram) = &self.histogram {
            write!(f, "\nerrors in ULP:\n{histogram}")?;
        }
        if let Some(smallest) = &self.smallest {
            write!(f, "\nsmallest case found:\n{smallest}")?;
        }
        if let Some((distribution, variables)) = &self.drawn {
            writeln!(f, "\ninputs: {distribution}; again with {variables}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Failure {}

/// The number of results by the size of their errors.
#[derive(Clone, Debug, Default)]
pub(super) struct Histogram {
    counts: [u64; Self::LIMITS.len() + 1],
    special: u64,
}

impl Histogram {
    /// Upper limits of the classes, in ULP.
    const LIMITS: [f64; 8] = [0.0, 0.5, 1.0, 2.0, 4.0, 16.0, 256.0, 65536.0];
    const BAR: u64 = 40;

    /// Counts an error; without a number, one of a special value.
    pub(super) fn count(&mut self, ulps: Option<f64>) {
        match ulps {
            None => self.special += 1,
            Some(ulps) => {
                let class = Self::LIMITS.iter().position(|&limit| ulps <= limit);
                self.counts[class.unwrap_or(Self::LIMITS.len())] += 1;
            }
        }
    }
}

impl fmt::Display for Histogram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let most = self.counts.iter().chain([&self.special]).copied().max().unwrap_or(0).max(1);
        let mut line = |name: String, count: u64| {
            let bar = "#".repeat((count * Self::BAR).div_ceil(most) as usize);
            if count == 0 { Ok(()) } else { writeln!(f, "  {name:>12} | {count:>8} {bar}") }
        };
        line("exact".to_owned(), self.counts[0])?;
        for (class, limits) in Self::LIMITS.windows(2).enumerate() {
            line(format!("<= {}", limits[1]), self.counts[class + 1])?;
        }
        let last = Self::LIMITS.len();
        line(format!("> {}", Self::LIMITS[last - 1]), self.counts[last])?;
        line("special".to_owned(), self.special)
    }
}
