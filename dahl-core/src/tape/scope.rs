//! [`Scope`]: where `op_init` makes its outputs, and who learns of the task.

use super::composite::Composite;
use super::gradient::Gradient;
use super::rule::RuleScope;
use super::tape::Tape;
use crate::arena::{Arena, output};
use crate::array::Array;
use crate::element::Element;
use crate::error::Result;
use crate::submission::Task;

pub(super) mod sealed {
    /// Implemented by the scopes of dahl, `dahl_nn::Step` among them.
    pub trait Sealed {}
    impl Sealed for crate::arena::Arena {}
    impl Sealed for super::Tape<'_> {}
    impl Sealed for super::RuleScope<'_> {}
}

/// Where `op_init` makes its outputs: an [`Arena`], which runs the task, or a [`Tape`], which also remembers it.
///
/// The codelet `C` is a parameter of the trait because a tape takes only operations that have a gradient.
///
/// ```ignore
/// fn residual<'s, T: Real>(
///     scope: &'s (impl Scope<Add> + Scope<Tanh>),
///     x: &Matrix<'_, T>,
/// ) -> dahl::Result<Matrix<'s, T>> {
///     add_init(scope, x, &tanh_init(scope, x)?)
/// }
/// ```
pub trait Scope<C>: sealed::Sealed {
    /// An arena beside it.
    #[doc(hidden)]
    fn arena(&self) -> &Arena;

    /// A new output, which the task writes, or reduces into.
    #[doc(hidden)]
    #[track_caller]
    fn output<T: Element, const N: usize>(
        &self,
        shape: [usize; N],
        reduces: bool,
    ) -> Result<Array<'_, T, N>> {
        output(Scope::<C>::arena(self), shape, reduces)
    }

    /// Submits the task of an operation whose outputs were just made. `gradient` is called only by a scope that remembers
    /// it.
    #[doc(hidden)]
    fn submit(&self, task: Task<'_>, gradient: impl FnOnce() -> &'static Gradient) -> Result<()>;

    /// Remembers an operation that consists of several tasks, which have been submitted.
    #[doc(hidden)]
    fn remember<'a>(&self, call: impl FnOnce() -> Result<Composite<'a>>) -> Result<()>;
}

/// A codelet whose declaration says what its gradient is.
///
/// `#[codelet]` implements it for every map whose derivatives it can write, and for a declaration with the option
/// `gradient`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no gradient",
    label = "called under a tape, which must be able to differentiate it",
    note = "declare one (`gradient = ..`), or leave the tape on purpose with `tape.detached()`"
)]
pub trait Differentiable {}

impl<C> Scope<C> for Arena {
    #[inline]
    fn arena(&self) -> &Arena {
        self
    }

    #[inline]
    fn submit(&self, task: Task<'_>, _: impl FnOnce() -> &'static Gradient) -> Result<()> {
        task.submit()
    }

    #[inline]
    fn remember<'a>(&self, _: impl FnOnce() -> Result<Composite<'a>>) -> Result<()> {
        Ok(())
    }
}

impl<C: Differentiable> Scope<C> for Tape<'_> {
    #[inline]
    fn arena(&self) -> &Arena {
        self.detached()
    }

    fn submit(&self, task: Task<'_>, gradient: impl FnOnce() -> &'static Gradient) -> Result<()> {
        self.run(task, gradient())
    }

    fn remember<'a>(&self, call: impl FnOnce() -> Result<Composite<'a>>) -> Result<()> {
        self.add(&call()?)
    }
}

impl<C: Differentiable> Scope<C> for RuleScope<'_> {
    fn arena(&self) -> &Arena {
        self.detached()
    }

    fn output<T: Element, const N: usize>(
        &self,
        shape: [usize; N],
        reduces: bool,
    ) -> Result<Array<'_, T, N>> {
        self.make(shape, reduces)
    }

    fn submit(&self, task: Task<'_>, gradient: impl FnOnce() -> &'static Gradient) -> Result<()> {
        self.run(task, gradient())
    }

    fn remember<'a>(&self, call: impl FnOnce() -> Result<Composite<'a>>) -> Result<()> {
        self.add(&call()?)
    }
}
