//! [`CudaKernel`]: a kernel in CUDA as `dahl-build` describes it to Rust, and [`CudaInstance`], for given element
//! types.
//!
//! The build script of a crate compiles `kernels/*.cu` and writes one constant for each `DAHL_KERNEL(..)` in them.
//! [`include_kernels!`](crate::include_kernels) includes these constants, and `cuda = kernels::CONV2D` names one.

use dahl_cuda::{CudaImage, ELEMENTS_PER_BLOCK, THREADS};

use super::element::{CudaArgument, CudaElement, CudaTypeParameter, CudaView, compute_type};
use super::mismatch::{self, Declared};
use super::step::CudaStep;
use crate::codelet::sentence::equal;
use crate::element::ElementType;

/// A kernel in CUDA. `dahl-build` writes constants of this type, named after the kernels: `kernels::CONV2D`.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct CudaKernel {
    /// Its name: `conv2d`.
    pub name: &'static str,
    /// Where it is defined: `kernels/conv2d.cu:31`.
    pub place: &'static str,
    /// Its type parameters.
    pub types: &'static [CudaTypeParameter],
    /// Type parameters that are the compute types of others, by the indices of both.
    pub compute_types: &'static [(usize, usize)],
    /// How it takes arrays, in order.
    pub views: &'static [CudaView],
    /// The plain arguments behind them.
    pub arguments: &'static [CudaArgument],
    /// Whether memory comes last that its passes share: a `Scratch`, or a `Task`.
    pub takes_scratch: bool,
    /// Whether it is a `Task`, by which the kernel can say that it failed.
    pub takes_task: bool,
    /// Bytes of device memory that its passes share; no steps for none.
    pub scratch_bytes: &'static [CudaStep],
    /// What is launched, one after the other.
    pub passes: &'static [CudaPass],
    /// The device code.
    pub image: &'static CudaImage,
    /// For a map, the text of its function of one element: with it, several maps become one kernel.
    pub element: Option<&'static str>,
}

/// One launch of a kernel.
#[derive(Clone, Copy, Debug)]
pub struct CudaPass {
    /// The function. Its entry point has the names of the types behind it.
    pub function: &'static str,
    /// Blocks.
    pub grid: [&'static [CudaStep]; 3],
    /// Threads of a block.
    pub block: [u32; 3],
    /// Dynamic shared memory of a block.
    pub shared_bytes: &'static [CudaStep],
}

/// How a map of arrays of one element type takes them: `ARRAYS` of them, the last of which it writes.
pub const fn views_of_map<const ARRAYS: usize>() -> [CudaView; ARRAYS] {
    views_of(CudaElement::Parameter(0))
}

/// The same, of elements of this type.
pub(crate) const fn views_of<const ARRAYS: usize>(element: CudaElement) -> [CudaView; ARRAYS] {
    let mut views = [CudaView { is_const: true, element, rank: None }; ARRAYS];
    views[ARRAYS - 1].is_const = false;
    views
}

/// The launch of a map that writes the array of index `OUTPUT`.
pub const fn pass_of_map<const OUTPUT: usize>(function: &'static str) -> CudaPass {
    CudaPass {
        function,
        grid: [
            const { &[CudaStep::Len(OUTPUT), CudaStep::Number(ELEMENTS_PER_BLOCK), CudaStep::Blocks] },
            &[CudaStep::Number(1)],
            &[CudaStep::Number(1)],
        ],
        block: [THREADS, 1, 1],
        shared_bytes: &[CudaStep::Number(0)],
    }
}

/// A kernel in CUDA for given element types.
#[derive(Clone, Copy, Debug)]
pub struct CudaInstance {
    /// The kernel.
    pub kernel: &'static CudaKernel,
    /// What its type parameters stand for.
    pub types: &'static [ElementType],
}

impl CudaKernel {
    /// A kernel called `name`, defined at `place` (`kernels/conv2d.cu:31`), that takes nothing yet.
    pub const fn new(name: &'static str, place: &'static str, image: &'static CudaImage) -> Self {
        const NONE: &[CudaStep] = &[CudaStep::Number(0)];
        Self {
            name,
            place,
            types: &[],
            compute_types: &[],
            views: &[],
            arguments: &[],
            takes_scratch: false,
            takes_task: false,
            scratch_bytes: NONE,
            passes: &[],
            image,
            element: None,
        }
    }

    /// Sets the type parameters.
    pub const fn types(mut self, types: &'static [CudaTypeParameter]) -> Self {
        self.types = types;
        self
    }

    /// Says which type parameters are the compute types of others: `(1, 0)` if the second is that of the first.
    pub const fn compute_types(mut self, compute_types: &'static [(usize, usize)]) -> Self {
        self.compute_types = compute_types;
        self
    }

    /// Sets what it takes.
    pub const fn takes(mut self, views: &'static [CudaView], arguments: &'static [CudaArgument]) -> Self {
        self.views = views;
        self.arguments = arguments;
        self
    }

    /// Says that a `Scratch` comes last, of so many bytes of device memory.
    pub const fn scratch(mut self, scratch_bytes: &'static [CudaStep]) -> Self {
        self.takes_scratch = true;
        self.scratch_bytes = scratch_bytes;
        self
    }

    /// Says that a `Task` comes last, with so many bytes of device memory.
    pub const fn task(self, scratch_bytes: &'static [CudaStep]) -> Self {
        Self { takes_task: true, ..self.scratch(scratch_bytes) }
    }

    /// Sets what is launched.
    pub const fn passes(mut self, passes: &'static [CudaPass]) -> Self {
        self.passes = passes;
        self
    }

    /// Sets the text of a map's function of one element.
    pub const fn element(mut self, element: &'static str) -> Self {
        self.element = Some(element);
        self
    }

    /// The kernel for these types in place of its type parameters; nothing if it does not exist for them.
    pub const fn instance(&'static self, types: &'static [ElementType]) -> Option<CudaInstance> {
        if types.len() != self.types.len() {
            return None;
        }
        let mut i = 0;
        while i < types.len() {
            let (known, mut j, mut is_known) = (self.types[i].types, 0, false);
            while j < known.len() {
                is_known |= equal(known[j].as_bytes(), types[i].name.as_bytes());
                j += 1;
            }
            if !is_known {
                return None;
            }
            i += 1;
        }
        let mut i = 0;
        while i < self.compute_types.len() {
            let (index, of) = self.compute_types[i];
            if !equal(types[index].name.as_bytes(), compute_type(types[of].name).as_bytes()) {
                return None;
            }
            i += 1;
        }
        Some(CudaInstance { kernel: self, types })
    }

    /// Stops compilation if the kernel does not fit a codelet. `#[codelet]` calls it.
    ///
    /// # Panics
    /// If it does not fit: at compile time, since it is called in a constant.
    #[track_caller]
    pub const fn check(&self, codelet: &str, declared: Declared<'_>) {
        mismatch::check(self, codelet, declared);
    }
}
