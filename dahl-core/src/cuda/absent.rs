//! Types without values, in the place of devices where the feature `cuda` is off.

use std::convert::Infallible;
use std::fmt;
use std::sync::Arc;

use dahl_cuda::CudaImage;
use dahl_cuda::call::CudaLibrary;

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

/// What time it is, in nanoseconds.
pub(crate) type Now = Arc<dyn Fn() -> u64 + Send + Sync>;

/// What graphs have come to.
pub(crate) struct GraphCounts {
    pub(crate) instantiated: u64,
    pub(crate) refused: u64,
    pub(crate) replayed: u64,
    pub(crate) kernels: u64,
    pub(crate) updated: u64,
    pub(crate) kept: u64,
}

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
    pub(crate) fn find(_: usize, _: &Now) -> DeviceSearch {
        DeviceSearch::None("dahl was built without its feature `cuda`".to_owned())
    }

    pub(crate) fn name(&self) -> &str {
        match self.0 {}
    }

    pub(crate) fn pci_address(&self) -> &str {
        match self.0 {}
    }

    pub(crate) fn free_bytes(&self) -> usize {
        match self.0 {}
    }

    pub(crate) fn link(&self) -> (f64, f64) {
        match self.0 {}
    }

    pub(crate) fn may_load(&self, _: &'static CudaImage, _: impl Iterator<Item = String>) -> bool {
        match self.0 {}
    }

    pub(crate) fn allow_tf32(&self, _: bool) {
        match self.0 {}
    }

    pub(crate) fn run_graphs(&self, _: bool) {
        match self.0 {}
    }

    pub(crate) fn runs_graphs(&self) -> bool {
        match self.0 {}
    }

    pub(crate) fn conditional_nodes(&self) -> Result<(), String> {
        match self.0 {}
    }

    pub(crate) fn graph_counts(&self) -> GraphCounts {
        match self.0 {}
    }

    pub(crate) fn has_library(&self, _: CudaLibrary) -> bool {
        match self.0 {}
    }

    pub(crate) fn allocate(self: &Arc<Self>, _: usize, _: Reservation) -> Result<Allocation, CudaError> {
        match self.0 {}
    }

    pub(crate) fn allocate_for_copy(
        self: &Arc<Self>,
        _: usize,
        _: Reservation,
    ) -> Result<Allocation, CudaError> {
        match self.0 {}
    }

    pub(crate) fn synchronize(&self) -> Result<(), CudaError> {
        match self.0 {}
    }

    pub(crate) fn moved_ns(&self, _: &Moved) -> Result<Option<(u64, u64)>, CudaError> {
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

    pub(crate) fn upload(
        &mut self,
        _: usize,
        _: bool,
        _: impl FnMut(usize, &mut [u8]),
    ) -> Result<Moved, CudaError> {
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

    pub(crate) fn read(&self, _: impl FnMut(usize, &[u8])) -> Result<(), CudaError> {
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
