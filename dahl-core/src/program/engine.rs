//! [`Engine`]: a runtime, as programs keep it.

use std::any::Any;
use std::panic::Location;
use std::sync::Arc;

use crate::arena::Arena;
use crate::array::{Array, byte_len};
use crate::element::Element;
use crate::error::Result;
use crate::executor::Executor;
use crate::graph::{self, Content, Origin};
use crate::memory::Holder;
use crate::runtime::{Runtime, Seeds};
use crate::task::block_in_submission;

/// A runtime, as programs keep it.
#[derive(Clone, Debug)]
pub struct Engine {
    executor: Arc<Executor>,
    seeds: Option<Arc<Seeds>>,
}

impl Engine {
    /// That of a runtime.
    pub fn of(runtime: &Runtime) -> Self {
        Self { executor: runtime.executor(), seeds: Some(runtime.seeds()) }
    }

    /// That of an arena's arrays. It has no seeds.
    pub fn of_arena(arena: &Arena) -> Self {
        let engine: Arc<dyn Any + Send + Sync> = arena.engine();
        Self { executor: engine.downcast().expect("every engine is an executor"), seeds: None }
    }

    pub(super) fn executor(&self) -> &Executor {
        &self.executor
    }

    /// The runtime, as arrays know it.
    pub(super) fn shared(&self) -> Arc<dyn graph::Engine> {
        Arc::<Executor>::clone(&self.executor)
    }

    /// The runtime's next seed.
    pub fn next_seed(&self) -> u64 {
        self.seeds.as_ref().map_or(0, |seeds| seeds.next())
    }

    /// Whether it has memory other than the main memory.
    pub fn has_devices(&self) -> bool {
        self.executor.devices().is_some()
    }

    /// Why tasks that are fused have no kernel on its devices: there is no NVRTC to compile it.
    pub fn no_fused_kernels(&self) -> Option<String> {
        self.executor.has_real_devices().then(crate::cuda::no_compiler).flatten()
    }

    /// The number of its workers.
    pub fn workers(&self) -> usize {
        self.shared().host().workers()
    }

    /// An array that a replay is about to write.
    ///
    /// # Errors
    /// If memory cannot be allocated.
    #[track_caller]
    pub fn output<T: Element, const N: usize>(&self, shape: [usize; N]) -> Result<Array<'static, T, N>> {
        let location = Location::caller();
        let block =
            block_in_submission(&*self.executor, byte_len::<T>(&shape)?, Holder::new("array", location))
                .map_err(|shortage| shortage.at(location))?;
        let engine = self.shared();
        let pointer = block.pointer();
        Ok(Array::new(&engine, shape, pointer, Origin::Block(block), Content::Unset))
    }
}
