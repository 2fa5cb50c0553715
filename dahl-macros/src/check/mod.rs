//! Rules between the parts of a declaration.

use crate::errors::Errors;
use crate::model::Codelet;

/// Reports everything in which the parts of a declaration do not fit.
pub(crate) fn check(_codelet: &Codelet, _errors: &mut Errors) {}
