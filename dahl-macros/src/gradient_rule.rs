//! [`GradientRule`]: how the gradient of a codelet is computed, as the macro has decided.

use proc_macro2::Ident;
use syn::Path;

use crate::gradient::{self, DerivedMap};
use crate::mode::Access;
use crate::model::{Codelet, Form, Parameter};
use crate::parse::GradientOption;

/// How a gradient is computed.
pub(crate) enum GradientRule {
    /// It is not: nothing flows, on purpose.
    Nothing,
    /// Nothing flows, since every derivative of the map is 0.
    Zero,
    /// By the adjoint of a linear operation.
    Adjoint(Path),
    /// As the data say that a function of the user's gives.
    Data(Path),
    /// By derived maps, one for each input.
    Maps(Vec<DerivedMap>),
    /// By a function of the user's, which reads these arrays, or all.
    Function { path: Path, reads: Option<Vec<Ident>> },
}

impl GradientRule {
    /// The rule that the option says.
    fn of_option(option: &GradientOption) -> Option<Self> {
        Some(match option {
            GradientOption::Derived(_) => return None,
            GradientOption::Nothing(_) => Self::Nothing,
            GradientOption::Adjoint(path) => Self::Adjoint(path.clone()),
            GradientOption::Data(path) => Self::Data(path.clone()),
            GradientOption::Function { path, reads } => {
                Self::Function { path: path.clone(), reads: reads.clone() }
            }
        })
    }

    /// The rule of a declaration: what its option says, or for a map the derived maps, if they can be written.
    pub(crate) fn of(codelet: &Codelet) -> Option<Self> {
        match &codelet.options.gradient {
            Some(GradientOption::Derived(_)) | None if codelet.form == Form::Map && codelet.has_init => {
                let maps = gradient::derive(codelet).ok()?;
                Some(if maps.is_empty() { Self::Zero } else { Self::Maps(maps) })
            }
            Some(option) => Self::of_option(option),
            None => None,
        }
    }

    /// Whether its code depends on the rank of arrays.
    pub(crate) fn is_ranked(&self) -> bool {
        matches!(self, Self::Function { .. })
    }

    /// Whether it reads the parameter's value.
    pub(crate) fn reads(&self, index: usize, parameter: &Parameter) -> bool {
        match self {
            Self::Nothing | Self::Zero | Self::Adjoint(_) | Self::Data(_) => false,
            Self::Maps(maps) => maps.iter().any(|map| map.inputs.contains(&index)),
            Self::Function { reads, .. } => {
                let can_be_read = parameter.access == Access::Read || parameter.access.is_made();
                can_be_read && reads.as_ref().is_none_or(|reads| reads.contains(&parameter.name))
            }
        }
    }
}
