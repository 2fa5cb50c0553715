//! [`Codelet`]: a declared operation with its kernels, as immutable data. `#[codelet]` generates it.
//!
//! Not here: submitting (`task`) and running it (`worker`).

mod accumulator;
mod c_kernel;
mod combination;
mod declaration;
mod division;
mod encoded_arguments;
mod fused;
mod fused_cuda;
mod fused_parts;
mod kernel;
pub(crate) mod kernel_memory;
mod moved;
mod numerics;
mod operand;
mod packs;
mod pointwise;
mod reducer;
mod rows;
mod run;
mod running;
pub(crate) mod sentence;
mod tile_run;
mod views;
mod work_inputs;

pub use accumulator::Accumulator;
pub use c_kernel::{CArgument, CFunction, CKernel, CView, RawView};
pub use combination::Combines;
pub use declaration::{Codelet, InPlace, Parameter};
pub(crate) use division::{can_be_divided, run_with_team};
pub use encoded_arguments::EncodedArguments;
pub use fused::{FusedOperand, TILE_BYTES, stretched};
pub(crate) use fused::{FusedRows, FusedStep, fuse};
pub(crate) use fused_cuda::joins_in_cuda;
pub(crate) use fused_parts::{FusedPart, PartOperand};
#[cfg(all(feature = "cuda", not(dahl_fuzz)))]
pub(crate) use kernel::CUDA;
pub use kernel::Kernel;
#[doc(hidden)]
pub use kernel_memory::KernelMemory;
pub use moved::Moved;
pub use numerics::{ErrorClass, Numerics};
pub(crate) use operand::Operand;
pub(crate) use packs::Packs;
pub(crate) use pointwise::pointwise_codelet;
pub use pointwise::{Leaves, NoArguments, Pointwise, PointwiseArguments, PointwiseCuda, PointwiseMap};
pub(crate) use reducer::FusedReduction;
pub use rows::Rows;
pub use run::Run;
pub(crate) use run::{gather, scatter};
pub(crate) use running::{as_kernel, in_kernel};
pub use views::{Line, RawOperand, Views};
pub(crate) use work_inputs::ShapeOf;
pub use work_inputs::WorkInputs;

#[doc(inline)]
pub use crate::variants::Variants;
