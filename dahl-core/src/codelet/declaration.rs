//! [`Codelet`]: a declared operation: its parameters and its kernels.

use super::accumulator::Accumulator;
use super::kernel::{CUDA, Kernel};
use super::moved::Moved;
use super::rows::Rows;
use super::work_inputs::WorkInputs;
use crate::access::AccessMode;
use crate::cuda::CudaInstance;
use crate::element::ElementType;

/// A declared operation for given element types: its name, parameters and kernels.
///
/// One exists for each instance of a generic declaration: `Axpy::codelet::<f32>()`.
#[derive(Debug)]
#[non_exhaustive]
pub struct Codelet {
    /// The name of the function, for display.
    pub name: &'static str,
    /// The module of the declaration; together with the name it identifies the codelet.
    pub module: &'static str,
    /// A hash of the declaration: if the declaration changes, its performance models are measured again.
    pub declaration: u64,
    /// Its data parameters, in order.
    pub parameters: &'static [Parameter],
    /// The names of its plain arguments, in order.
    pub arguments: &'static [&'static str],
    /// Its CPU kernels. The first one that exists for these element types is used.
    pub kernels: &'static [Option<Kernel>],
    /// Its kernel in CUDA, if it names one that exists for these element types.
    pub cuda: Option<CudaInstance>,
    /// Kernels for CUDA devices that call libraries.
    pub cuda_calls: &'static [Kernel],
    /// For a map: why its body has no translation to CUDA.
    pub no_cuda: Option<&'static str>,
    /// How it overwrites one of its inputs (`_self`).
    pub in_place: Option<InPlace>,
    /// Whether an input's extent of 1 is broadcast.
    pub broadcasts: bool,
    /// Whether it is a map: each element of its output depends on one element of each input.
    pub is_map: bool,
    /// For a reduction whose order is a tree of [blocks](Self::blocks): the elements of a block.
    pub blocks: Option<usize>,
    /// For a kernel that computes [rows](Rows) apart from each other: how its arrays are cut into them.
    pub rows: Option<Rows>,
    /// For a kernel that only moves elements: from where, for given shapes and arguments.
    pub moves: Option<fn(&mut WorkInputs<'_>) -> Moved>,
    /// Floating-point operations of one task, if declared.
    pub flops: Option<fn(&mut WorkInputs<'_>) -> f64>,
    /// Bytes that one task moves, if declared; otherwise those of its arrays.
    pub bytes: Option<fn(&mut WorkInputs<'_>) -> f64>,
}

impl Codelet {
    /// A codelet without parameters or kernels yet.
    pub const fn new(name: &'static str, module: &'static str, declaration: u64) -> Self {
        Self {
            name,
            module,
            declaration,
            parameters: &[],
            arguments: &[],
            kernels: &[],
            cuda: None,
            cuda_calls: &[],
            no_cuda: None,
            in_place: None,
            broadcasts: false,
            is_map: false,
            blocks: None,
            rows: None,
            moves: None,
            flops: None,
            bytes: None,
        }
    }

    /// Sets the data parameters.
    pub const fn parameters(mut self, parameters: &'static [Parameter]) -> Self {
        self.parameters = parameters;
        self
    }

    /// Sets the names of the plain arguments.
    pub const fn arguments(mut self, arguments: &'static [&'static str]) -> Self {
        self.arguments = arguments;
        self
    }

    /// Sets the CPU kernels; `None` where one does not exist for these element types.
    pub const fn kernels(mut self, kernels: &'static [Option<Kernel>]) -> Self {
        self.kernels = kernels;
        self
    }

    /// Sets its kernel in CUDA; `None` where it does not exist for these element types.
    pub const fn cuda(mut self, cuda: Option<CudaInstance>) -> Self {
        self.cuda = cuda;
        self
    }

    /// Sets its kernels for CUDA devices that call libraries.
    pub const fn cuda_calls(mut self, calls: &'static [Kernel]) -> Self {
        self.cuda_calls = calls;
        self
    }

    /// Sets why a map has no kernel in CUDA.
    pub const fn no_cuda(mut self, reason: &'static str) -> Self {
        self.no_cuda = Some(reason);
        self
    }

    /// Sets how it overwrites one of its inputs.
    pub const fn in_place(mut self, in_place: InPlace) -> Self {
        self.in_place = Some(in_place);
        self
    }

    /// Broadcasts an input's extent of 1.
    pub const fn broadcasts(mut self) -> Self {
        self.broadcasts = true;
        self
    }

    /// Declares that each element of the output depends on one element of each input.
    pub const fn map(mut self) -> Self {
        self.is_map = true;
        self
    }

    /// Declares the order in which its kernel reduces its one input, an array of any shape, in row-major order.
    ///
    /// The kernel cuts the elements into blocks of `elements`, reduces each, and combines the results as a binary counter
    /// carries: two results of equally many blocks become one, and at the end what is left is combined from the last and
    /// smallest, which may be of a short block, to the first and largest. It combines that with the output.
    pub const fn blocks(mut self, elements: usize) -> Self {
        assert!(elements > 0, "a block has elements");
        self.blocks = Some(elements);
        self
    }

    /// Declares that its kernel computes rows apart from each other.
    pub const fn rows(mut self, rows: Rows) -> Self {
        self.rows = Some(rows);
        self
    }

    /// Declares that its kernel only moves the elements of its one input to its output, and from where.
    pub const fn moves(mut self, moves: fn(&mut WorkInputs<'_>) -> Moved) -> Self {
        self.moves = Some(moves);
        self
    }

    /// Sets the count of floating-point operations.
    pub const fn flops(mut self, flops: fn(&mut WorkInputs<'_>) -> f64) -> Self {
        self.flops = Some(flops);
        self
    }

    /// Sets the count of bytes moved.
    pub const fn bytes(mut self, bytes: fn(&mut WorkInputs<'_>) -> f64) -> Self {
        self.bytes = Some(bytes);
        self
    }

    /// The kernel that CPU workers run.
    pub(crate) fn cpu_kernel(&self) -> Option<&Kernel> {
        self.kernels.iter().flatten().next()
    }

    /// The kernels for CUDA devices, in order of precedence: those that call libraries, which may be missing, its own,
    /// and those marked as last.
    pub(crate) fn on_cuda(&self) -> impl Iterator<Item = &'static Kernel> + Clone + use<> {
        let calls: &'static [Kernel] = self.cuda_calls;
        let calls = move |last| calls.iter().filter(move |call| call.comes_last() == last);
        calls(false).chain(self.cuda.map(|_| &CUDA)).chain(calls(true))
    }

    /// The kernel of that name, of any kind of worker.
    pub(crate) fn named(&self, name: &str) -> Option<&'static Kernel> {
        let kernels: &'static [Option<Kernel>] = self.kernels;
        kernels.iter().flatten().chain(self.on_cuda()).find(|kernel| kernel.name() == name)
    }

    /// The index of the output that `_self` replaces.
    pub(crate) fn output(&self) -> Option<usize> {
        self.parameters.iter().position(|parameter| parameter.mode == AccessMode::W)
    }
}

/// A data parameter of a codelet.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Parameter {
    /// Its name in the declaration.
    pub name: &'static str,
    /// Its access mode.
    pub mode: AccessMode,
    /// The element type of the array.
    pub element: ElementType,
    /// For `REDUX`: how the private buffers combine.
    pub(crate) accumulator: Option<Accumulator>,
}

impl Parameter {
    /// A parameter.
    pub const fn new(name: &'static str, mode: AccessMode, element: ElementType) -> Self {
        Self { name, mode, element, accumulator: None }
    }

    /// Sets the accumulator of a `REDUX` parameter.
    pub const fn accumulates_in(mut self, accumulator: Accumulator) -> Self {
        self.accumulator = Some(accumulator);
        self
    }

    /// The element type that the kernel sees.
    pub(crate) fn kernel_element(&self) -> ElementType {
        self.accumulator.as_ref().map_or(self.element, |accumulator| accumulator.element)
    }
}

/// How a codelet overwrites one of its inputs.
#[derive(Debug, Clone, Copy)]
pub struct InPlace {
    pub(crate) target: usize,
    pub(crate) kernel: Option<Kernel>,
}

impl InPlace {
    /// `kernel` overwrites the parameter of index `target`. It has the declaration's parameters without the output.
    pub const fn kernel(target: usize, kernel: Kernel) -> Self {
        Self { target, kernel: Some(kernel) }
    }

    /// The ordinary kernel writes to a recycled buffer, which then replaces the target's.
    pub const fn rename(target: usize) -> Self {
        Self { target, kernel: None }
    }
}
