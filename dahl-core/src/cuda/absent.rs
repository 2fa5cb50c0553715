//! Types without values, in the place of devices where the feature `cuda` is off.
#![allow(unsafe_code, reason = "has the methods of the types that it stands for")]

use std::convert::Infallible;
use std::fmt;
use std::sync::Arc;

use super::call::CudaLibrary;
use super::graph_counts::GraphCounts;
use super::kernel::CudaInstance;
use crate::clock::Clock;
use crate::codelet::Operand;
use crate::machine::Transfer;
use crate::memory::Reservation;

/// No device.
#[derive(Debug)]
pub(crate) struct CudaDevice(Infallible);

/// No memory of a device.
#[derive(Debug)]
pub(crate) struct Allocation(Infallible);

/// No elements on their way.
#[derive(Debug)]
pub(crate) struct HostFetch(Infallible);

/// No transfer.
#[derive(Clone, Debug)]
pub(crate) struct Moved(Infallible);

/// No place in a stream.
#[derive(Clone, Debug)]
pub(crate) struct Event(Infallible);

/// No error.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CudaError(Infallible);

/// What was found when devices were looked for.
#[derive(Debug)]
pub(crate) enum DeviceSearch {
    #[expect(dead_code, reason = "there are none")]
    Devices(Vec<Arc<CudaDevice>>),
    /// Why there are none.
    None(String),
}

/// Why kernels that were built without nvcc cannot be compiled here.
pub fn no_compiler() -> Option<String> {
    Some("dahl was built without its feature `cuda`".to_owned())
}

impl CudaDevice {
    pub(crate) fn find(_: usize, _: &Clock) -> DeviceSearch {
        DeviceSearch::None("dahl was built without its feature `cuda`".to_owned())
    }

    pub(crate) fn name(&self) -> &str {
        match self.0 {}
    }

    pub(crate) fn free_bytes(&self) -> usize {
        match self.0 {}
    }

    pub(crate) fn link(&self) -> (f64, f64) {
        match self.0 {}
    }

    pub(crate) fn may_load(&self, _: CudaInstance) -> bool {
        match self.0 {}
    }

    pub(crate) fn allow_tf32(&self, _: bool) {
        match self.0 {}
    }

    pub(crate) fn batch_launches(&self, _: bool) {
        match self.0 {}
    }

    pub(crate) fn batches_launches(&self) -> bool {
        match self.0 {}
    }

    pub(crate) fn graph_counts(&self) -> GraphCounts {
        match self.0 {}
    }

    pub(crate) fn has_library(&self, _: CudaLibrary) -> bool {
        match self.0 {}
    }

    pub(crate) fn allocate(self: &Arc<Self>, _: Reservation) -> Result<Allocation, CudaError> {
        match self.0 {}
    }

    pub(crate) fn allocate_for_copy(self: &Arc<Self>, _: Reservation) -> Result<Allocation, CudaError> {
        match self.0 {}
    }

    pub(crate) fn synchronize(&self) -> Result<(), CudaError> {
        match self.0 {}
    }

    pub(crate) fn transfer(&self, _: Transfer, _: Moved) {
        match self.0 {}
    }

    pub(crate) fn ended_transfers(&self, _: impl FnMut(Transfer, u64, u64)) {
        match self.0 {}
    }
}

impl Allocation {
    pub(crate) fn pointer(&self) -> *mut u8 {
        match self.0 {}
    }

    pub(crate) fn enter_compute(&mut self, _: bool) -> Result<(), CudaError> {
        match self.0 {}
    }

    pub(crate) fn leave_compute(&mut self, _: &Event, _: bool) {
        match self.0 {}
    }

    pub(crate) fn check(&self) -> Result<(), CudaError> {
        match self.0 {}
    }

    pub(crate) unsafe fn upload(&mut self, _: &Operand) -> Result<Moved, CudaError> {
        match self.0 {}
    }

    pub(crate) fn upload_fetched(&mut self, _: &Arc<HostFetch>) -> Result<Moved, CudaError> {
        match self.0 {}
    }

    pub(crate) fn download(&mut self, _: usize, _: bool) -> Result<(HostFetch, Moved), CudaError> {
        match self.0 {}
    }

    pub(crate) fn copy_from(&mut self, _: &mut Self, _: usize) -> Result<Moved, CudaError> {
        match self.0 {}
    }

    pub(crate) fn fill(&mut self, _: usize, _: impl FnOnce(&mut [u8])) -> Result<(), CudaError> {
        match self.0 {}
    }

    pub(crate) fn set(&mut self, _: usize, _: u32) -> Result<(), CudaError> {
        match self.0 {}
    }
}

impl HostFetch {
    pub(crate) fn device(&self) -> Option<usize> {
        match self.0 {}
    }

    pub(crate) fn wait(&self) -> Result<(), CudaError> {
        match self.0 {}
    }

    pub(crate) fn is_passed(&self) -> Result<bool, CudaError> {
        match self.0 {}
    }

    pub(crate) unsafe fn copy_to(&self, _: &Operand) {
        match self.0 {}
    }
}

impl CudaError {
    pub(crate) fn is_out_of_memory(&self) -> bool {
        match self.0 {}
    }

    pub(crate) fn is_loss(&self) -> bool {
        match self.0 {}
    }
}

impl fmt::Display for CudaError {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {}
    }
}
