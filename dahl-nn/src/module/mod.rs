//! Modules: structs of parameters, buffers and further modules. The trait [`Module`] finds what is inside;
//! `#[derive(Module)]` implements it.
//!
//! A module's `forward` is a method of its own signature, which takes a [`Step`]. Not here: the layers (`layer`), and the
//! updates of parameters (`optimizer`).

mod argument;
mod buffer;
mod duplicate;
mod fields;
mod file;
mod init;
mod initializer;
mod name;
mod named;
mod parameter;
mod summary;
mod visit;

use std::path::Path;

use dahl::prelude::*;

use crate::step::Step;

#[doc(hidden)]
pub use argument::{bind, bind_mut, name};
pub use buffer::Buffer;
pub use dahl_macros::Module;
pub use file::TensorName;
pub use init::Init;
pub use initializer::Initializer;
pub use name::Name;
pub use named::Named;
pub use parameter::Parameter;
pub use visit::{Member, MemberMut, Visit, VisitMut};

pub(crate) use file::{TensorFile, Tensors, Values, write};

/// A struct of parameters, buffers and modules, with the element type `T`.
///
/// `#[derive(Module)]` implements it. Each field is a module: a [`Parameter`], a [`Buffer`], a layer, a struct that derives
/// `Module`, an `Option`, `Vec`, `Box`, array or tuple of these, or a plain number or text, which has nothing inside.
/// `#[module(skip)]` leaves a field out; `#[module(flatten)]` gives what is inside of it no name of its own. Names are the
/// fields', joined by dots, and the indices of vectors: `blocks.1.norm.weight`, as PyTorch's.
///
/// ```
/// use dahl::ops::{mean_squared_error_init, tanh_init};
/// use dahl::prelude::*;
/// use dahl_nn::prelude::*;
///
/// #[derive(Module)]
/// struct Net<'m, T: Real> {
///     hidden: Linear<'m, T>,
///     output: Linear<'m, T>,
/// }
///
/// impl<'m, T: Real> Net<'m, T> {
///     fn forward<'s>(&self, step: &'s Step<'_>, x: &Matrix<'_, T>) -> dahl::Result<Matrix<'s, T>> {
///         let hidden = tanh_init(step, &self.hidden.forward(step, x)?)?;
///         self.output.forward(step, &hidden)
///     }
/// }
///
/// # fn main() -> dahl::Result<()> {
/// let rt = Runtime::new()?;
/// let arena = rt.arena();
/// let mut init = Init::new(&arena, 42);
/// let (hidden, output) = (Linear::new(&mut init, 1, 8)?, Linear::new(&mut init, 8, 1)?);
/// let mut net = Net::<f32> { hidden, output };
/// let x = rt.from_vec([4, 1], vec![-1.0, 0.0, 1.0, 2.0])?;
/// let y = rt.from_vec([4, 1], vec![1.0, 0.0, 1.0, 4.0])?;
/// let mut sgd = Sgd::new(0.1);
/// let mut losses = Vec::new();
/// for _ in 0..50 {
///     losses.push(net.learn(&rt, |step, net| mean_squared_error_init(step, &net.forward(step, &x)?, &y, 0.25))?);
///     sgd.step(&mut net)?;
/// }
/// assert!(losses[49] < 0.5 * losses[0]);
/// # Ok(())
/// # }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no module with elements of type `{T}`",
    label = "neither a module nor a plain number or text",
    note = "add `#[derive(Module)]` to its declaration, or leave the field out with `#[module(skip)]`"
)]
pub trait Module<T: Real> {
    /// Shows what is inside to `visit`, in the order of the fields: each parameter and buffer once.
    fn visit<'a>(&'a self, visit: &mut Visit<'_, 'a, T>);

    /// Shows what is inside to `visit`, in the same order, mutably.
    fn visit_mut(&mut self, visit: &mut VisitMut<'_, T>);

    /// The parameters with their names, in the order of the fields.
    fn parameters(&self) -> impl Iterator<Item = Named<'_, T>>
    where
        Self: Sized,
    {
        named::parameters(self).into_iter()
    }

    /// Calls `f` with every parameter and its name, in the order of the fields, until one call fails.
    ///
    /// # Errors
    /// The error of that call.
    fn for_each_parameter(
        &mut self,
        mut f: impl FnMut(&Name<'_>, &mut Parameter<'_, T>) -> dahl::Result<()>,
    ) -> dahl::Result<()>
    where
        Self: Sized,
    {
        visit::for_each_parameter(self, &mut f)
    }

    /// The number of learned elements.
    fn parameter_count(&self) -> usize {
        let mut count = 0;
        Visit::all(self, &mut |_, member| {
            if let Member::Parameter(parameter) = member {
                count += parameter.len();
            }
        });
        count
    }

    /// A table of the modules inside, with the shapes of their parameters, one line each.
    fn summary(&self) -> String {
        summary::summary(self)
    }

    /// Excludes a parameter, or all that are inside of the module of this name, from learning: `blocks.1`. Returns how many.
    fn freeze(&mut self, name: &str) -> usize {
        visit::set_frozen(self, name, true)
    }

    /// Includes a parameter, or all that are inside of the module of this name, in learning again. Returns how many.
    fn unfreeze(&mut self, name: &str) -> usize {
        visit::set_frozen(self, name, false)
    }

    /// Sets the gradients to zero: they cost no memory traffic until something is added.
    ///
    /// # Errors
    /// Inside a kernel.
    fn zero_gradients(&mut self) -> dahl::Result<()> {
        visit::for_each_parameter(self, &mut |_, parameter| parameter.gradient.invalidate())
    }

    /// Runs a step of training: computes the loss, and sets the gradient of each parameter that is not frozen to that of
    /// the loss. Returns the loss; waits for it, and not for the gradients.
    ///
    /// The random numbers of the step (dropout) are those of the runtime's next seed.
    ///
    /// # Errors
    /// If the loss does not depend on a parameter that is not frozen: the error names it, and no gradient has changed. And
    /// those of the operations; then gradients may have been added in part.
    #[track_caller]
    fn learn(
        &mut self,
        rt: &Runtime,
        loss: impl for<'s> FnOnce(&'s Step<'s>, &Self) -> dahl::Result<Scalar<'s, T>>,
    ) -> dahl::Result<f64>
    where
        Self: Sized,
    {
        self.zero_gradients()?;
        self.learn_more(rt, loss)
    }

    /// As [`learn`](Self::learn), but adds the gradients to those that are there: for a batch in parts.
    ///
    /// # Errors
    /// As [`learn`](Self::learn).
    #[track_caller]
    fn learn_more(
        &mut self,
        rt: &Runtime,
        loss: impl for<'s> FnOnce(&'s Step<'s>, &Self) -> dahl::Result<Scalar<'s, T>>,
    ) -> dahl::Result<f64>
    where
        Self: Sized,
    {
        let step = Step::learning(rt);
        let loss = loss(&step, self)?;
        step.accumulate(&loss, self)?;
        Ok(loss.read()?[[]].to_f64())
    }

    /// Runs a step of evaluation: nothing is remembered, and layers behave as in use.
    ///
    /// # Errors
    /// Those of `f`.
    #[track_caller]
    fn evaluate<R>(
        &self,
        rt: &Runtime,
        f: impl for<'s> FnOnce(&'s Step<'s>, &Self) -> dahl::Result<R>,
    ) -> dahl::Result<R>
    where
        Self: Sized,
    {
        f(&Step::evaluating(rt), self)
    }

    /// Writes the parameters and buffers to a safetensors file, by their names and with PyTorch's layouts.
    ///
    /// A reader finds either the old or the new file, complete, even if several threads or processes save. Links are
    /// followed, owner and mode are kept, and a file that is not regular is written to directly. A FIFO that no process
    /// reads is an error.
    ///
    /// # Errors
    /// If a task that a parameter depends on failed, or the file cannot be written.
    #[track_caller]
    fn save(&self, path: impl AsRef<Path>) -> dahl::Result<()>
    where
        Self: Sized,
    {
        let mut tensors = Tensors::default();
        tensors.add_module(self)?;
        Ok(tensors.save(path.as_ref())?)
    }

    /// Reads the parameters and buffers from a safetensors file. The file must have exactly the tensors of the model, with
    /// the model's element type and shapes; otherwise nothing is loaded. Opening a FIFO waits until a process writes to it.
    ///
    /// # Errors
    /// If the file cannot be read, or does not match the model: the error names the tensor and what was expected.
    fn load(&mut self, path: impl AsRef<Path>) -> dahl::Result<()>
    where
        Self: Sized,
    {
        let file = TensorFile::read(path.as_ref())?;
        let values = file.values_of(self)?;
        file.require_no_other(|name| values.contains(name))?;
        values.write_to(self)
    }

    /// Reads the parameters and buffers from a safetensors file that has other names for them. The file may have further
    /// tensors.
    ///
    /// # Errors
    /// As [`load`](Self::load), but for further tensors.
    fn load_as(&mut self, path: impl AsRef<Path>, name_of: impl FnMut(&str) -> TensorName) -> dahl::Result<()>
    where
        Self: Sized,
    {
        TensorFile::read(path.as_ref())?.values_as(self, name_of)?.write_to(self)
    }
}
