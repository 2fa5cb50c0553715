//! Scopes and tapes: `op_init` under a [`Tape`] is remembered, so that gradients can be computed.
//!
//! The design, and why it is sound, is in `README.md` beside this file.
//!
//! Not here: what the gradient of an operation is. Its declaration says so.

mod addition;
mod checkpoint;
mod composite;
mod draft;
mod gradient;
mod ids;
mod maps;
mod memory;
mod numbers;
mod owned_array;
mod pass;
mod pins;
mod record;
mod repeat;
mod rule;
mod scope;
#[allow(clippy::module_inception, reason = "the room's main noun")]
mod tape;
mod wanted;

pub use composite::Composite;
pub use gradient::{Addition, DerivedMap, Gradient, Linear, Rule, no_gradient};
pub use owned_array::OwnedArray;
pub use pass::Pass;
pub use repeat::Repeat;
pub use rule::{By, REFUSED, RuleCall, RuleScope};
pub use scope::sealed::Sealed as SealedScope;
pub use scope::{Differentiable, Scope};
pub use tape::Tape;
pub use wanted::sealed::Sealed as SealedWanted;
pub use wanted::{Accumulated, GradientElement, Wanted};
