//! [`Subject`]: a codelet with its arguments, callable on buffers whose types are not known at compile time.

use super::arrays::{Arrays, Held, Placement};
use super::buffer::Buffer;
use super::double_double::DoubleDouble;
use super::dual::Dual;
use dahl_core::__testing::{self, Gradient, OwnedArray, TaskDesc};
use dahl_core::codelet::{Codelet, Kernel, Numerics, Variants};
use dahl_core::element::ElementType;
use dahl_core::error::Result;
use dahl_core::{Runtime, Tape, Task};

/// A codelet and the arguments of its tasks.
pub(super) trait Subject {
    fn codelet(&self) -> &'static Codelet;

    fn numerics(&self) -> Numerics;

    /// The declared body in double-double.
    fn declaration(&self) -> Option<Kernel>;

    /// The kernels that are compared instead of the codelet's own.
    fn foreign(&self) -> Option<&'static [Kernel]>;

    /// The element types of the arrays.
    fn elements(&self) -> Vec<ElementType>;

    /// The ranks of the arrays.
    fn ranks(&self) -> Vec<usize>;

    /// Calls `op_init`. Returns the outputs that it created, by their index among the arrays.
    fn init(&self, runtime: &Runtime, data: &[Buffer]) -> Result<Option<Vec<(usize, Buffer)>>>;

    /// Calls `op`. Returns the contents of the arrays.
    fn given(
        &self,
        runtime: &Runtime,
        data: &[Buffer],
        placement: Placement,
        kernel: Option<&str>,
    ) -> Result<After>;

    /// Calls `op_self`, if there is one.
    fn in_place(
        &self,
        runtime: &Runtime,
        data: &[Buffer],
        placement: Placement,
        kernel: Option<&str>,
    ) -> Result<Option<After>>;

    /// How the gradient is computed, if the declaration says it.
    fn gradient(&self) -> Option<&'static Gradient>;

    /// The declared body in dual numbers.
    fn tangent(&self) -> Option<Kernel>;

    /// Calls `op` under a tape. Returns the arrays.
    fn under_tape(
        &self,
        runtime: &Runtime,
        tape: &Tape<'_>,
        gradient: &'static Gradient,
        data: &[Buffer],
    ) -> Result<Vec<Option<OwnedArray>>>;

    /// The task of `op` on these arrays, as submitted.
    fn description(&self, runtime: &Runtime, data: &[Buffer]) -> Result<TaskDesc>;
}

impl dyn Subject + '_ {
    /// The kernels that are compared.
    pub(super) fn kernels(&self) -> Vec<&'static Kernel> {
        match self.foreign() {
            Some(foreign) => foreign.iter().collect(),
            None => self.codelet().kernels.iter().flatten().collect(),
        }
    }
}

/// The arrays after a task.
pub(super) struct After {
    pub(super) arrays: Vec<Buffer>,
    /// Whether it wrote outside its arrays.
    pub(super) wrote_around: bool,
}

impl From<(Vec<Buffer>, bool)> for After {
    fn from((arrays, wrote_around): (Vec<Buffer>, bool)) -> Self {
        Self { arrays, wrote_around }
    }
}

/// A codelet `C` for given types.
pub(super) struct Typed<C, A, G> {
    arguments: G,
    /// The kernels that are compared instead of the codelet's own.
    foreign: Option<&'static [Kernel]>,
    types: std::marker::PhantomData<fn(C, A)>,
}

impl<C, A, G> Typed<C, A, G> {
    pub(super) fn new(arguments: G, foreign: Option<&'static [Kernel]>) -> Self {
        Self { arguments, foreign, types: std::marker::PhantomData }
    }
}

// Not methods, since a method of `Typed` that calls something with a closure is compiled once for each codelet and its
// types.

/// Submits the task, with the kernel of this name.
fn submit(task: Task<'_>, foreign: Option<&'static [Kernel]>, kernel: Option<&str>) -> Result<()> {
    let Some(name) = kernel else { return task.submit() };
    match foreign.into_iter().flatten().find(|kernel| kernel.name() == name) {
        Some(kernel) => __testing::foreign_kernel(task, kernel).submit(),
        None => task.kernel(name).submit(),
    }
}

/// The outputs, if all of them could be read.
fn all_read(outputs: Vec<(usize, Result<Buffer>)>) -> Result<Vec<(usize, Buffer)>> {
    outputs.into_iter().map(|(place, buffer)| Ok((place, buffer?))).collect()
}

impl<C: Variants<A, G>, A: Arrays, G: Copy> Subject for Typed<C, A, G> {
    fn codelet(&self) -> &'static Codelet {
        C::descriptor()
    }

    fn numerics(&self) -> Numerics {
        C::numerics()
    }

    fn declaration(&self) -> Option<Kernel> {
        C::declaration::<DoubleDouble>()
    }

    fn foreign(&self) -> Option<&'static [Kernel]> {
        self.foreign
    }

    fn elements(&self) -> Vec<ElementType> {
        A::elements()
    }

    fn ranks(&self) -> Vec<usize> {
        A::ranks()
    }

    fn init(&self, runtime: &Runtime, data: &[Buffer]) -> Result<Option<Vec<(usize, Buffer)>>> {
        let arena = runtime.arena();
        let held = Held::<A>::new(runtime, C::descriptor(), data, Placement::Whole)?;
        let mut made = Vec::new();
        let called = C::init(&arena, &held.arrays, self.arguments, &mut |place, array| {
            made.push((place, Buffer::from_array(array)))
        });
        let Some(called) = called else { return Ok(None) };
        called?;
        all_read(made).map(Some)
    }

    fn given(
        &self,
        runtime: &Runtime,
        data: &[Buffer],
        placement: Placement,
        kernel: Option<&str>,
    ) -> Result<After> {
        let mut held = Held::<A>::new(runtime, C::descriptor(), data, placement)?;
        submit(C::task(&mut held.arrays, self.arguments), self.foreign, kernel)?;
        held.into_buffers().map(After::from)
    }

    fn in_place(
        &self,
        runtime: &Runtime,
        data: &[Buffer],
        placement: Placement,
        kernel: Option<&str>,
    ) -> Result<Option<After>> {
        let mut held = Held::<A>::new(runtime, C::descriptor(), data, placement)?;
        let Some(task) = C::task_self(&mut held.arrays, self.arguments) else { return Ok(None) };
        submit(task, self.foreign, kernel)?;
        held.into_buffers().map(|after| Some(After::from(after)))
    }

    fn gradient(&self) -> Option<&'static Gradient> {
        C::gradient()
    }

    fn tangent(&self) -> Option<Kernel> {
        C::declaration::<Dual>()
    }

    fn under_tape(
        &self,
        runtime: &Runtime,
        tape: &Tape<'_>,
        gradient: &'static Gradient,
        data: &[Buffer],
    ) -> Result<Vec<Option<OwnedArray>>> {
        let mut held = Held::<A>::new(runtime, C::descriptor(), data, Placement::Whole)?;
        OwnedArray::remember(tape, C::task(&mut held.arrays, self.arguments), gradient)?;
        Ok(held.arrays.wholes())
    }

    fn description(&self, runtime: &Runtime, data: &[Buffer]) -> Result<TaskDesc> {
        let mut held = Held::<A>::new(runtime, C::descriptor(), data, Placement::Whole)?;
        __testing::description(C::task(&mut held.arrays, self.arguments))
    }
}
