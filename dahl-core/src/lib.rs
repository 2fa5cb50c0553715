//! The core of dahl: arrays, tasks, and the runtime that orders them. It contains no operation: the crate `dahl` and
//! users' crates declare those with `#[codelet]`.
//!
//! A task waits for the earlier tasks whose arrays it needs. The rules follow from access modes alone. The modules:
//!
//! * [`element`], [`argument`], [`shape`], [`access`]: the vocabulary of a declaration, from the crate `dahl-element`,
//!   as are [`simd`], kernels compiled for several instruction sets, and [`mod@print`], arrays as text.
//! * [`codelet`]: a declared operation as immutable data, and the views that its kernels receive.
//! * `description`: a task as plain data.
//! * `memory`: where data are stored. `graph`: the states of arrays and the records of tasks, and the order between them.
//! * `array`, `submission`: the handles of arrays, and tasks before their submission. `task`: tasks after it.
//! * `platform`: which worker can run a task, and for how long. `scheduler`: which worker does. `worker`: the threads that
//!   run tasks. `engine`, `executor`: the state of these threads, and the host's part in running tasks.
//! * `autotune`: which kernel runs, and on how many cores. `explain`: why calls took different times.
//! * `statistics`: totals of a run.
//! * `check`: compares what kernels did with what they declare. `stall`: reports why a run makes no progress.
//! * `metering`: reads the energy counters of the machine, whose meters are in [`energy`].
//! * `trace`: records the events of a run in a file.
//! * `program`: recordings of what a function submits, and their replays.
//! * [`ranks`]: several ranks that run the same program.
//! * `tape`: the tasks that gradients are computed from. `expression`: interprets the derivatives of derived maps.
//! * `machine`: descriptions of machines. [`device`]: the devices of a runtime. `simulation`: the events of a simulated
//!   run.
//! * [`perf`]: measured and predicted durations. [`error`]: errors.

mod arena;
mod array;
mod array_id;
mod autotune;
mod check;
mod clock;
pub mod codelet;
mod config;
pub mod cuda;
mod description;
pub mod device;
mod engine;
pub mod error;
mod executor;
mod explain;
mod expression;
mod float_control;
mod footprint;
mod fork;
mod graph;
mod machine;
mod memory;
mod metering;
pub mod observer;
mod partition;
pub mod perf;
mod platform;
mod program;
pub mod ranks;
mod runtime;
mod scheduler;
pub mod shape;
mod simulation;
mod sleep;
mod stall;
mod statistics;
mod submission;
mod sync;
mod tape;
mod task;
mod testing;
mod topology;
mod trace;
mod variants;
mod worker;

#[doc(inline)]
pub use dahl_element::{access, argument, element, print, simd};

pub use access::{AccessMode, Reduction};
pub use arena::Arena;
pub use argument::{Argument, ArgumentLayout};
pub use array::{
    AnyArray, Array, Block, Matrix, ReadGuard, Reshaped, ReshapedMut, Scalar, Tensor, Vector, WriteGuard,
};
pub use autotune::{KernelChoice, KernelChoices, KernelTrial, Ruling, TeamPolicy};
pub use check::CheckNote;
pub use clock::Clock;
pub use codelet::{CKernel, Codelet};
pub use config::RuntimeBuilder;
pub use cuda::CudaKernel;
#[doc(inline)]
pub use dahl_energy as energy;
pub use element::{Element, ElementType, Real};
pub use error::{Error, ErrorKind, Failure, Result};
pub use explain::{Explanation, KernelExplanation, Spread, Under};
pub use graph::LEAF_LEN;
pub use half::{bf16, f16};
pub use machine::{
    Cluster, CodeletSpeed, Cpu, Machine, MeasuredTask, NetworkLevel, Speed, Submission, Transfer,
    TransferTotal, VirtualDevice, WorkerInfo,
};
pub use memory::{MemoryHolder, MemoryUse};
pub use ndarray;
pub use partition::{Parts, PartsMut};
pub use perf::{
    Basis, CodeletPredictionError, EnergyEstimate, Estimate, History, Measurement, PredictionError,
    PredictionErrors, TransferTime, WorkerHistory,
};
pub use program::{ControlFlow, Recording};
pub use rayon;
pub use runtime::Runtime;
pub use scheduler::{Eager, Scheduler, WorkStealing, Workers};
pub use shape::Extents;
pub use simulation::WorkerUse;
pub use statistics::{
    ArenaStatistics, CodeletStatistics, EnergyMark, EnergyStatistics, GraphStatistics, HostStatistics,
    KernelStatistics, MemoryStatistics, NodeEnergy, Statistics, TaskCounts, TransferStatistics,
    WorkerStatistics,
};
pub use submission::{Tag, Task};
pub use tape::{Accumulated, Differentiable, GradientElement, RuleScope, Scope, Tape, Wanted};
pub use task::ReadyTask;
pub use topology::{Binding, Processor, Topology};
pub use variants::Variants;

/// Items for the crate `dahl-testing`. Not for other use: they change without notice.
#[doc(hidden)]
pub mod __testing {
    pub use crate::tape::{DerivedMap, Gradient, OwnedArray, REFUSED, Rule};
    pub use crate::testing::*;
}

/// Items for the crate `dahl-program`: recordings and replays. Not for other use: they change without notice.
#[doc(hidden)]
pub mod __program {
    pub use crate::description::{ArrayId, TaskDesc};
    pub use crate::program::*;
}

/// Items for the crate `dahl-nn`: a scope of its own, and gradients by the parameters of a model. Not for other use: they
/// change without notice.
#[doc(hidden)]
pub mod __nn {
    pub use crate::statistics::EnergyMark;
    pub use crate::submission::Gate;
    pub use crate::tape::{Composite, Gradient, Pass, SealedScope, SealedWanted};
}

/// Items for code generated by `#[codelet]`. Not for other use: they change without notice.
#[doc(hidden)]
pub mod __private {
    pub use crate::arena::{map_shape, require};
    pub use crate::argument::{ANY_LEN, DeclaredArgument};
    pub use crate::codelet::{
        Accumulator, CArgument, CKernel, CView, Codelet, Combines, EncodedArguments, ErrorClass, InPlace,
        Kernel, Leaves, Moved, NoArguments, Numerics, Parameter, Pointwise, PointwiseArguments,
        PointwiseCuda, PointwiseMap, RawView, Rows, Run, Variants, Views, WorkInputs,
    };
    pub use crate::config::VARIABLES;
    pub use crate::cuda::{
        CudaArgument, CudaArray, CudaArrayMut, CudaCall, CudaCallError, CudaElement, CudaImage, CudaKernel,
        CudaLen, CudaLibrary, CudaPass, CudaProgram, CudaStep, CudaTexts, CudaTypeParameter, CudaView,
        Declared as CudaDeclared, pass_of_map, views_of_map,
    };
    pub use crate::expression::{Derivatives, no_leaves};
    pub use crate::shape::{DynExtents, Extents, IntoShape};
    pub use crate::simd::{Vectorised, dispatch};
    pub use crate::tape::{
        Addition, By, Composite, DerivedMap, Gradient, Linear, Repeat, Rule, RuleCall, no_gradient,
    };
    pub use dahl_element::__private::{At, Body, map, map_in_place, narrow_block, narrows_in_blocks, widen};
}
