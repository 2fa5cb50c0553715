//! [`Engine`]: a runtime, as programs keep it.

use std::panic::Location;
use std::sync::Arc;

use crate::array::{Array, byte_len};
use crate::element::Element;
use crate::error::Result;
use crate::executor::Executor;
use crate::graph::{self, Content, Origin};
use crate::memory::Holder;
use crate::runtime::Runtime;
use crate::task::block_in_submission;

/// A runtime, as programs keep it.
#[derive(Clone, Debug)]
pub struct Engine(pub(super) Arc<Executor>);

impl Engine {
    /// That of a runtime.
    pub fn of(runtime: &Runtime) -> Self {
        Self(runtime.executor())
    }

    pub(super) fn executor(&self) -> &Executor {
        &self.0
    }

    /// Whether it has memory other than the main memory.
    pub fn has_devices(&self) -> bool {
        self.0.devices().is_some()
    }

    /// An array that a replay is about to write.
    ///
    /// # Errors
    /// If memory cannot be allocated.
    #[track_caller]
    pub fn output<T: Element, const N: usize>(&self, shape: [usize; N]) -> Result<Array<'static, T, N>> {
        let location = Location::caller();
        let block = block_in_submission(&*self.0, byte_len::<T>(&shape)?, Holder::new("array", location))
            .map_err(|shortage| shortage.at(location))?;
        let engine: Arc<dyn graph::Engine> = Arc::<Executor>::clone(&self.0);
        let pointer = block.pointer();
        Ok(Array::new(&engine, shape, pointer, Origin::Block(block), Content::Unset))
    }
}
